"""Who hands in again loses nothing without a word, and the notebook with the answers is read."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from nbgrader.coursedir import CourseDirectory

from grader.class_grading import class_roster, collect_class
from grader.class_grading.collect_class import NEWEST, STAYS, Collect, Did, Report
from grader.class_grading.uploaded_archives import NotTaken
from labs.course import lab_names
from support.platform_archives import Files, Upload, canvas_zip, handed_in, moodle_zip, zipped
from support.small_course import cell

LAB = "01-small"
OWN, COPY = f"{LAB}.ipynb", f"{LAB}-Copy1.ipynb"
EARLY, LATE = "20260304T050607Z", "20260305T050607Z"
DUE = datetime.datetime(2026, 3, 5)


def notebook(report: str = "stub", code: str = "...") -> bytes:
    cells = [
        cell("r", "markdown", report, "report", solution=True, grade=True, points=5),
        cell("c", "code", code, "code", solution=True),
    ]
    made: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made).encode()


def figures(recording: str | None = "recordings/own.csv", *names: str) -> bytes:
    entry = {"value": 1.0, "unit": "ns", "recording": recording}
    return json.dumps(dict.fromkeys(names or ("cost",), entry)).encode()


#: A whole submission.
WHOLE: dict[str, bytes] = {
    OWN: notebook("It costs 2 ns.", "k = 64"),
    "figures.json": figures(),
    "recordings/own.csv": b"samples",
    "recordings/own.c": b"int x;",
    "notes.txt": b"mine",
}


def with_(**changed: bytes | None) -> dict[str, bytes]:
    """The whole submission with other files: another report, and what is named by its first word.

    None removes a file.
    """
    names = {"nb": OWN, "figures": "figures.json", "csv": "recordings/own.csv",
             "c": "recordings/own.c", "notes": "notes.txt"}  # fmt: skip
    files: dict[str, bytes | None] = {**WHOLE, OWN: notebook("It costs 3 ns.", "k = 64")}
    files |= {names.get(name, name): content for name, content in changed.items()}
    return {name: content for name, content in files.items() if content is not None}


class Class:
    """A course whose lab is released, and its collects."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.downloads = folder / "course", folder
        released = self.folder / "release" / LAB / OWN
        released.parent.mkdir(parents=True)
        released.write_bytes(notebook())

    def collect(
        self, path: Path, words: Mapping[str, str] | None = None, *, dry: bool = False
    ) -> Report:
        course = CourseDirectory(root=str(self.folder))
        with class_roster.opened_source(path) as items:
            report = Collect(course, LAB, [LAB], DUE, dry, words).run(path.name, items)
        if not dry:
            collect_class.write_receipts(course, LAB, report.not_collected)
        return report

    def moodle(self, files: Files, when: str) -> Path:
        """A download in which one student has handed in an archive of these files."""
        path = self.downloads / f"{when}.zip"
        return moodle_zip(path, [Upload("Ada", 1, handed_in(LAB, files, when))])

    def files(self, place: str = "submitted/ada-1/01-small") -> dict[str, bytes]:
        top = self.folder / place
        return {
            str(path.relative_to(top)): path.read_bytes()
            for path in sorted(top.rglob("*.*"))
            if path.is_file()
        }

    def counts(self) -> dict[str, bytes]:
        """The student's files in the submission that counts."""
        ours = {"timestamp.txt", ".ticklab-collected.json"}
        return {name: each for name, each in self.files().items() if name not in ours}

    def kept(self) -> int:
        return len(list(self.folder.glob(f"submitted/.earlier/ada-1/{LAB}/*")))

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.files()[".ticklab-collected.json"])
        return found


@pytest.fixture
def course(tmp_path: Path) -> Class:
    return Class(tmp_path)


def asked(report: Report) -> list[str]:
    return [each.why for each in report.to_choose]


FILES = "the files `recordings/own.c` and `recordings/own.csv`"
#: What was handed in again, and what the question says of it.
POORER: dict[str, tuple[Mapping[str, bytes], str]] = {
    "the notebook alone": (
        {OWN: notebook("It costs 3 ns.", "k = 64")},
        f"the figure `cost`; {FILES}",
    ),
    "no recordings": (with_(csv=None, c=None), FILES),
    "no figures": (with_(figures=None), f"the figure `cost`; {FILES}"),
    "damaged figures": (with_(figures=b"{"), "the figure `cost`"),
    "figures in another form": (with_(figures=b'{"format": 9}'), "the figure `cost`"),
    "an empty recording": (with_(csv=b""), "the file `recordings/own.csv`"),
    "no C": (with_(c=None), "the file `recordings/own.c`"),
    "no notebook": (with_(nb=None, notes=b"new"), "the answers `report` and `code`; the notebook"),
    "the notebook as released": (with_(nb=notebook()), "the answers `report` and `code`"),
    "an answer less": (with_(nb=notebook("New.")), "the answer `code`"),
    "a damaged notebook": (with_(nb=b"{"), "the answers `report` and `code`"),
}  # fmt: skip


@pytest.mark.parametrize("name", POORER)
def test_what_is_lost_is_said_and_nothing_is_lost(name: str, course: Class) -> None:
    files, lost = POORER[name]
    course.collect(course.moodle(WHOLE, EARLY))
    before, again = course.files(), course.moodle(files, LATE)
    dry = course.collect(again, dry=True)
    for report in (course.collect(again), course.collect(again)):
        (question,) = asked(report)
        assert (report.complete, question) == (False, asked(dry)[0])
        when = "(2026-03-05 05:06:07) lacks what the earlier one (2026-03-04 05:06:07) has: "
        assert when + lost in question
        assert report.lines[0].late is course.record()["late"] is False
        text = " ".join(collect_class.as_text(report).split())
        assert f"A person must choose: ada-1: {' '.join(question.split())}" in text
        assert (course.files(), course.kept()) == (before, 1)


@pytest.mark.parametrize("name", ["the notebook alone", "no C", "an answer less"])
def test_a_person_lets_the_newest_count(name: str, course: Class) -> None:
    files, _ = POORER[name]
    first, again = course.moodle(WHOLE, EARLY), course.moodle(files, LATE)
    course.collect(first)
    course.collect(again)
    report = course.collect(again, {"ada-1": NEWEST})
    assert ([line.did for line in report.lines], report.complete) == ([Did.NEWER], True)
    assert (course.counts(), course.record()["late"]) == (files, True)
    before = course.files(".")
    for path in (first, again, first):
        assert course.collect(path).complete
    assert course.files(".") == before
    assert course.kept() == 1


@pytest.mark.parametrize("name", ["the notebook alone", "no C", "an answer less"])
def test_a_person_lets_the_earlier_one_count_and_is_not_asked_again(
    name: str, course: Class
) -> None:
    first, again = course.moodle(WHOLE, EARLY), course.moodle(POORER[name][0], LATE)
    course.collect(first)
    assert course.collect(again, {"ada-1": STAYS}).complete
    before = course.files(".")
    for path in (first, again, first):
        assert course.collect(path).complete
    assert (course.files("."), course.counts()) == (before, WHOLE)


@pytest.mark.parametrize("name", ["the notebook alone", "no C", "an answer less"])
@pytest.mark.parametrize("source", [EARLY, LATE])
def test_a_choice_is_undone_by_the_other_one(name: str, source: str, course: Class) -> None:
    """Also where a platform gives the last submission only, or an old download is collected."""
    first, again = course.moodle(WHOLE, EARLY), course.moodle(POORER[name][0], LATE)
    course.collect(first)
    for _ in range(2):
        course.collect(again, {"ada-1": NEWEST})
        assert course.counts() == POORER[name][0]
        path = first if source == EARLY else again
        before = course.files(".")
        assert course.collect(path, {"ada-1": STAYS}, dry=True).lines[0].did is Did.UNDONE
        assert course.files(".") == before
        report = course.collect(path, {"ada-1": STAYS})
        assert ([each.did for each in report.lines], report.complete) == ([Did.UNDONE], True)
        assert "earlier submission counts again  1" in collect_class.as_text(report)
        assert (course.counts(), course.record()["late"], course.kept()) == (WHOLE, False, 1)
        before = course.files(".")
        for each in (first, again, first):
            assert course.collect(each, {"ada-1": STAYS}).lines[0].did is Did.SAME
            assert course.collect(each).complete
        assert course.files(".") == before


def test_it_is_the_same_whichever_is_collected_first(course: Class) -> None:
    course.collect(course.moodle(POORER["no C"][0], LATE))
    report = course.collect(course.moodle(WHOLE, EARLY))
    assert "the file `recordings/own.c`" in asked(report)[0]
    assert (course.counts(), course.kept()) == (WHOLE, 1)
    report = course.collect(course.moodle(POORER["no C"][0], LATE), {"ada-1": NEWEST})
    assert (report.complete, course.counts()) == (True, POORER["no C"][0])


def test_without_times_a_person_is_asked_until_there_is_an_answer(course: Class) -> None:
    bare = moodle_zip(course.downloads / "bare.zip", [Upload("Ada", 1, {OWN: notebook("3 ns.")})])
    course.collect(course.moodle(WHOLE, EARLY))
    for _ in range(2):
        assert "(its time is not known) lacks" in asked(course.collect(bare))[0]
    assert course.collect(bare, {"ada-1": NEWEST}).complete
    assert course.counts() == {OWN: notebook("3 ns.")}


@pytest.mark.parametrize("at_once", [False, True])
def test_a_later_whole_one_counts_and_nobody_is_asked(at_once: bool, course: Class) -> None:
    whole = with_(notes=b"last")
    archives = [
        handed_in(LAB, files, when)
        for files, when in ((WHOLE, EARLY), (POORER["no C"][0], LATE), (whole, "20260306T000000Z"))
    ]
    given = [archives] if at_once else [[each] for each in archives]
    for number, some in enumerate(given):
        files = {name: each for one in some for name, each in one.items()}
        path = moodle_zip(course.downloads / f"{number}.zip", [Upload("Ada", 1, files)])
        report = course.collect(path)
    assert (asked(report), course.counts(), course.kept()) == ([], whole, 2)


#: What was handed in again and lacks nothing that is graded.
AS_GOOD: dict[str, Mapping[str, bytes]] = {
    "another recording": with_(
        figures=figures("recordings/kit.csv"), csv=None, c=None, **{"recordings/kit.csv": b"x"}
    ),
    "one figure more": with_(figures=figures("recordings/own.csv", "cost", "step")),
    "other answers": with_(nb=notebook("Another.", "k = 1")),
    "no notes": with_(notes=None),
    "the notebook renamed": {
        **{name: each for name, each in WHOLE.items() if name != OWN},
        COPY: notebook("It costs 3 ns.", "k = 64"),
    },
    "an earlier copy": with_(**{COPY: notebook("It costs 3 ns.")}),
}


@pytest.mark.parametrize("name", AS_GOOD)
def test_one_that_lacks_nothing_counts(name: str, course: Class) -> None:
    course.collect(course.moodle(WHOLE, EARLY))
    report = course.collect(course.moodle(AS_GOOD[name], LATE))
    assert (asked(report), report.complete, course.counts()) == ([], True, AS_GOOD[name])


def test_a_part_of_the_earlier_one_is_no_question(course: Class) -> None:
    """A student uploads the notebook once more, as it was: its time is not that of the work."""
    course.collect(course.moodle(WHOLE, EARLY))
    report = course.collect(course.moodle({OWN: WHOLE[OWN]}, LATE))
    assert (report.complete, course.counts(), course.record()["late"]) == (True, WHOLE, False)
    assert report.lines[0].remarks == (
        "the newest submission (2026-03-05 05:06:07) has only files that the earlier one "
        "(2026-03-04 05:06:07) has too; the earlier one counts",
    )


def test_files_of_one_upload_are_compared_too(course: Class) -> None:
    """In Canvas, a notebook next to the archive has a time of its own."""
    files = {**handed_in(LAB, WHOLE, EARLY), OWN: notebook("It costs 3 ns.", "k = 64")}
    path = canvas_zip(course.downloads / "c.zip", [Upload("Ada", 1, files)])
    (question,) = asked(course.collect(path))
    assert "the figure `cost`" in question
    kept = course.folder / "submitted" / "1" / LAB / OWN
    assert kept.read_bytes() == WHOLE[OWN]


def test_a_choice_for_somebody_else_is_refused(course: Class) -> None:
    path = course.moodle(WHOLE, EARLY)
    why = "you chose for ada, of whom the source has nothing: did you mean ada-1"
    with pytest.raises(NotTaken, match=why):
        course.collect(path, {"ada": NEWEST})
    assert not (course.folder / "submitted").exists()


#: Notebooks in one hand-in, and words of the question.
NOTEBOOKS: dict[str, tuple[Files, list[str]]] = {
    "two in one archive": (
        handed_in(LAB, {**WHOLE, COPY: notebook("Other.")}),
        [f"`{OWN}` and `{COPY}` have different answers; those of `{OWN}` are graded"],
    ),
    "two one by one": (
        {"figures.json": figures(None), OWN: notebook("One."), f"{LAB}-1.ipynb": notebook("Two.")},
        [f"`{OWN}` and `{LAB}-1.ipynb` have different answers"],
    ),
    "one next to the archive": (
        {**handed_in(LAB, WHOLE), OWN: notebook("Other.", "k = 64")},
        ["a notebook next to the archive has other answers than the one in it, which is graded"],
    ),
    "the same next to the archive": ({**handed_in(LAB, WHOLE), OWN: WHOLE[OWN]}, []),
    "as released next to the archive": ({**handed_in(LAB, WHOLE), OWN: notebook()}, []),
    "as released in the archive": (
        handed_in(LAB, {**WHOLE, OWN: notebook(), COPY: WHOLE[OWN]}),
        [],
    ),
    "as released, and one with a number": (
        {"figures.json": figures(None), OWN: notebook(), f"{LAB}-1.ipynb": notebook("Two.")},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_of_two_notebooks_a_person_chooses(name: str, course: Class) -> None:
    files, words = NOTEBOOKS[name]
    report = course.collect(moodle_zip(course.downloads / "m.zip", [Upload("Ada", 1, files)]))
    assert len(asked(report)) == len(words)
    for question, said in zip(asked(report), words, strict=True):
        assert said in question and "Ask the student which one counts" in question
    assert report.complete == (not words)
    assert len(course.counts()) >= 2


def test_a_notebook_that_lost_is_not_asked_about_again(course: Class) -> None:
    """Until it is another one, or a person has put one into the place of the other."""
    losing, own = notebook("Other."), f"submitted/ada-1/{LAB}/{OWN}"

    def collected(day: int, files: Mapping[str, bytes]) -> int:
        return len(asked(course.collect(course.moodle(files, f"2026030{day}T050607Z"))))

    assert collected(1, {**WHOLE, COPY: losing}) == 1
    assert collected(2, {**with_(), COPY: losing}) == 0
    (course.folder / own).with_name(COPY).unlink()  # somebody has moved it away
    assert collected(3, {**with_(nb=notebook("5 ns.", "k")), COPY: losing}) == 0
    assert collected(4, {**WHOLE, COPY: notebook("New.")}) == 1
    assert collected(5, {**WHOLE, "notes.txt": b"", COPY: notebook("New.")}) == 0
    (course.folder / own).write_bytes(notebook("New."))
    assert collected(6, {**WHOLE, COPY: notebook("New.")}) == 1


def test_one_without_a_time_that_lost_is_not_asked_about_again(course: Class) -> None:
    poor = moodle_zip(course.downloads / "p.zip", [Upload("Ada", 1, {OWN: notebook("3 ns.")})])
    rich = {"figures.json": figures(None), OWN: notebook("4 ns.", "k")}
    later = moodle_zip(course.downloads / "r.zip", [Upload("Ada", 1, rich)])
    course.collect(course.moodle(WHOLE, EARLY))
    assert course.collect(poor, {"ada-1": STAYS}).complete
    for path in (later, poor, later):
        report = course.collect(path)
        if path is later and report.to_choose:
            report = course.collect(path, {"ada-1": NEWEST})
        assert report.complete


def test_a_first_submission_that_may_be_a_part_is_named(course: Class) -> None:
    """The course has nothing to compare it with."""
    for number, files in enumerate(({OWN: WHOLE[OWN]}, with_(nb=None), WHOLE)):
        path = course.downloads / f"{number}.zip"
        text = collect_class.as_text(course.collect(moodle_zip(path, [Upload("Ada", 1, files)])))
        is_named = "Without a notebook or without a figure" in text and ": ada-1" in text
        assert is_named == (files != WHOLE)
        shutil.rmtree(course.folder / "submitted")


#: As long as the whole one.
OTHER = with_()


@pytest.mark.parametrize(
    ("second", "other", "is_asked"),
    [
        (f"{LAB} (1)", OTHER, True),
        (f"{LAB}/old", OTHER, True),
        ("backup", with_(nb=WHOLE[OWN], figures=figures(None)), True),
        (f"{LAB} (1)", WHOLE, False),
        (f"{LAB}/.ipynb_checkpoints", OTHER, False),
        ("backup", {"notes.txt": b"other"}, False),
        (lab_names.labs()[2], OTHER, False),
    ],
)
def test_of_two_folders_of_the_lab_a_person_chooses(
    second: str, other: Mapping[str, bytes], is_asked: bool, course: Class
) -> None:
    files = {f"{place}/{name}": each for place, some in ((LAB, WHOLE), (second, other))
             for name, each in some.items()}  # fmt: skip
    for given in (files, {"work.zip": zipped(files)}):
        folder = course.downloads / "class" / "ada-1"
        for name, content in given.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        (folder.parent / "bob").mkdir(exist_ok=True)
        (folder.parent / "bob" / "figures.json").write_bytes(b"{}")
        found = asked(course.collect(folder.parent))
        said = f" differs from that in {LAB}, and {LAB} is graded. Ask the student which folder"
        assert [said in each for each in found] == [True] * is_asked
        assert course.counts()[OWN] == WHOLE[OWN]
        shutil.rmtree(folder.parent)
        shutil.rmtree(course.folder / "submitted")


def test_figures_in_another_folder_than_the_notebook_are_asked_for(course: Class) -> None:
    files = {f"{LAB}/{OWN}": WHOLE[OWN], f"{LAB} (1)/figures.json": figures(None)}
    path = moodle_zip(course.downloads / "m.zip", [Upload("Ada", 1, {"a.zip": zipped(files)})])
    (question,) = asked(course.collect(path))
    assert f"{LAB} (1)/figures.json lies outside of {LAB}, and {LAB} is graded" in question


@pytest.mark.parametrize("latest", [OWN, f"{LAB}-1.ipynb"])
def test_both_notebooks_of_one_name_are_kept(latest: str, course: Class) -> None:
    """Canvas adds a number to a name that is taken; the later one gets the name without it."""
    older = {OWN, f"{LAB}-1.ipynb"} - {latest}
    files = {"figures.json": b"{}", older.pop(): notebook("One."), latest: notebook("Two.")}
    course.collect(canvas_zip(course.downloads / "c.zip", [Upload("Ada", 1, files)]))
    there = course.folder / "submitted" / "1" / LAB
    assert (there / OWN).read_bytes() == notebook("Two.")
    assert (there / f"{LAB}-1.ipynb").read_bytes() == notebook("One.")


def test_a_zip_file_next_to_files_of_the_lab_is_not_passed_over_in_silence(course: Class) -> None:
    files = {OWN: notebook("One."), "work.zip": b"PK"}
    report = course.collect(moodle_zip(course.downloads / "m.zip", [Upload("Ada", 1, files)]))
    assert report.lines[0].remarks == (
        "work.zip: it was not read, because files of the lab lie next to it; if the zip file "
        "counts, move those away, and collect again",
    )
