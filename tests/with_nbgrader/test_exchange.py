"""A class of honest and hostile students in nbgrader's exchange, through every step.

One class is collected, graded and given feedback by the stock commands; each test looks at one kind
of student. What each step writes about a student stays on its own lines.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from support.formgrader import formgrader_api
from support.small_course import LAB
from support.small_exchange import EARLY, LATE, ExchangeCourse

#: Five starts of nbgrader before the first test.

FULL = {"cost": 4.0, "step": 1.5, "report": None}
HONEST = ("ada", "grace", "o'brien", "josé.b@c.example", "zoe")
STEPS = ("collect", "autograde", "generate_feedback", "release_feedback")
#: A person gives points between the page and its release.
REGRADED = "regraded"
Case = Callable[[ExchangeCourse], None]
CASES: list[Case] = []


def case(make: Case) -> Case:
    CASES.append(make)
    return make


@case
def honest(course: ExchangeCourse) -> None:
    for student in HONEST:
        course.hand_in(student)


@case
def entry_is_a_link(course: ExchangeCourse) -> None:
    target = course.name_of("ada")
    (course.inbound / course.name_of("linker")).symlink_to(target, target_is_directory=True)
    (course.inbound / course.name_of("looper")).symlink_to(course.name_of("looper"))


@case
def entry_is_no_folder(course: ExchangeCourse) -> None:
    (course.inbound / course.name_of("filer")).write_text("x")
    os.mkfifo(course.inbound / course.name_of("piper"))


@case
def folder_in_submitted_is_a_link(course: ExchangeCourse) -> None:
    for student in ("linked-lab", "linked-student"):
        (course.folder / "submitted" / student).parent.mkdir(exist_ok=True)
    (course.folder / "submitted" / "linked-student").symlink_to("ada", target_is_directory=True)
    lab = course.folder / "submitted" / "linked-lab" / LAB
    lab.parent.mkdir()
    lab.symlink_to(f"../ada/{LAB}", target_is_directory=True)


@case
def strange_names(course: ExchangeCourse) -> None:
    for student in (
        "eve\nx",
        "esc\x1b[2J",
        "<img src=x>",
        "*",
        "a,b",
        " blank",
        "ev\u202ee",
        "=1-2",
    ):
        course.hand_in(student)
    raw = os.fsencode(course.inbound) + b"/\xff\xfe" + course.name_of("").encode()
    Path(os.fsdecode(raw)).mkdir()
    (course.inbound / course.name_of("..")).mkdir()
    (course.inbound / course.name_of("mallory", "never")).mkdir()
    (course.inbound / course.name_of("mallory", "0001-01-01 00:00:00 UTC")).mkdir()
    # Not as nbgrader names a folder: nobody looks at these.
    (course.inbound / f"mallory+{LAB}").mkdir()


@case
def strange_names_in_submitted(course: ExchangeCourse) -> None:
    """As an archive that was unpacked by hand may leave them."""
    for name in (b"\xff\xfe", b"end\nof-line"):
        folder = Path(os.fsdecode(os.fsencode(course.folder / "submitted") + b"/" + name)) / LAB
        folder.mkdir(parents=True)
        (folder / "figures.json").write_text("{}")


@case
def strange_times(course: ExchangeCourse) -> None:
    def timed(student: str) -> Path:
        path = course.hand_in(student) / "timestamp.txt"
        path.unlink()
        return path

    timed("time-text").write_text("yesterday, I think")
    timed("time-huge").write_text("2025 " * 1_000_000)
    timed("time-folder").mkdir()
    timed("time-missing")


@case
def strange_secrets(course: ExchangeCourse) -> None:
    def secret(student: str) -> Path:
        path = course.hand_in(student) / "submission_secret.txt"
        path.unlink()
        return path

    secret("secret-missing")
    course.hand_in(REGRADED)
    secret("secret-bytes").write_bytes(b"\xff\xfe\x00")
    secret("secret-empty").write_text("")
    for student in ("secret-twin-1", "secret-twin-2"):
        secret(student).write_text("the same")


@case
def strange_files(course: ExchangeCourse) -> None:
    folder = os.fsencode(course.hand_in("file-names"))
    for name in (b"\xff\xfe.ipynb", b"a\nb.ipynb", b"recordings/\xff\x1b[2J.csv"):
        Path(os.fsdecode(folder + b"/" + name)).write_text("{}")
    (course.hand_in("own-page") / f"{LAB}.html").write_text("a page of mine")
    (course.hand_in("own-record") / ".ticklab-collected.json").write_text('{"owner": 7}')
    folder_of_links = course.hand_in("inner-link")
    (folder_of_links / "recordings" / "endless.csv").symlink_to("/dev/zero")
    os.mkfifo(folder_of_links / "recordings" / "pipe.csv")
    notebook = course.hand_in("pipe-notebook") / f"{LAB}.ipynb"
    notebook.unlink()
    os.mkfifo(notebook)
    (folder_of_links / "theirs").symlink_to(course.inbound / course.name_of("ada"))


@case
def impostor_of_grace(course: ExchangeCourse) -> None:
    """An empty folder, dated later, in somebody else's name."""
    (course.inbound / course.name_of("grace", LATE)).mkdir()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> ExchangeCourse:
    made = ExchangeCourse(tmp_path_factory.mktemp("exchange"))
    made.generate()
    (made.folder / "submitted").mkdir()
    for each in CASES:
        each(made)
    made.steps = {step: made.run(step, LAB) for step in STEPS[:-1]}
    with Gradebook(f"sqlite:///{made.folder / 'gradebook.db'}") as gradebook:
        gradebook.find_grade("report", LAB, LAB, REGRADED).manual_score = 2.0
        gradebook.db.commit()
    made.steps[STEPS[-1]] = made.run(STEPS[-1], LAB)
    made.steps["list"] = made.run("list", LAB, "--inbound")
    return made


def done(course: ExchangeCourse, step: str) -> subprocess.CompletedProcess[str]:
    return course.steps[step]


def lines_on(course: ExchangeCourse, step: str, name: str) -> str:
    """The lines of a step that name a student's folder and are more than information."""
    said = [line for line in done(course, step).stderr.splitlines() if "| INFO]" not in line]
    return "\n".join(line for line in said if name in line)


def released(course: ExchangeCourse) -> str:
    """All pages in the exchange as one text."""
    folder = course.exchange / "ticklab" / "feedback"
    return "\n".join(page.read_text() for page in sorted(folder.iterdir()))


@pytest.mark.parametrize("student", HONEST)
def test_honest_students_get_their_points_and_pages(course: ExchangeCourse, student: str) -> None:
    assert course.scores(student) == FULL
    page = course.folder / "feedback" / student / LAB / f"{LAB}.html"
    assert "cost passed" in page.read_text()
    assert page.read_text() in released(course)


def test_exit_status_says_that_something_was_refused(course: ExchangeCourse) -> None:
    for step in ("collect", "autograde", "release_feedback"):
        assert done(course, step).returncode == 1
        assert "Traceback" not in done(course, step).stderr
        assert re.search(r"[Rr]efused.*all others are", done(course, step).stderr)


def test_feedback_of_those_who_were_graded_is_made(course: ExchangeCourse) -> None:
    assert done(course, "generate_feedback").returncode == 0
    graded = {path.parent.name for path in course.folder.glob(f"autograded/*/{LAB}")}
    made = {path.parent.name for path in course.folder.glob(f"feedback/*/{LAB}")}
    assert graded == made == set(course.gradebook())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("linker", "a link; links are not followed"),
        ("looper", "a link; links are not followed"),
        ("filer", "not a folder"),
        ("piper", "not a folder"),
        ("eve?x", "line end, an escape"),
        ("esc?[2J", "line end, an escape"),
        ("ev?e", "control character"),
        ("<img src=x>", "holds < >"),
        ("*", r"holds \*"),
        ("a,b", "holds ,"),
        ("=1-2", "begins with =.*spreadsheet"),
        (" blank", "begins with a dot, or with or ends in a blank"),
        ("..", ""),
        ("\\udcff\\udcfe", "not UTF-8"),
        ("mallory+01-small+never", "no time: never"),
        ("mallory+01-small+0001", "the year 1 cannot be"),
        ("grace+01-small+2025-02-03", "no timestamp.txt.*neither a notebook"),
    ],
)
def test_each_strange_entry_is_named_with_its_reason(
    course: ExchangeCourse, name: str, why: str
) -> None:
    if name == "..":  # hidden folders are not submissions for nbgrader either
        assert not list(course.folder.parent.glob(LAB))
        return
    said = [line for line in lines_on(course, "collect", name).splitlines() if "Not coll" in line]
    assert any(re.search(f": .*{why}", line) for line in said), said


def test_no_control_characters_reach_the_terminal(course: ExchangeCourse) -> None:
    for step in course.steps:
        text = done(course, step).stderr + done(course, step).stdout
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("linker", "a link; links are not followed"),
        ("piper", "not a folder"),
        ("esc?[2J", "line end, an escape"),
        ("\\udcff\\udcfe", "not UTF-8"),
        ("mallory+01-small+never", "no time: never"),
        ("secret-bytes", "submission_secret.txt is not UTF-8 text"),
        ("secret-empty", "submission_secret.txt is empty"),
        ("pipe-notebook", r"01-small.ipynb cannot be read: not a regular file"),
        ("file-names", "of a notebook cannot be printed"),
    ],
)
def test_the_list_of_the_exchange_names_what_it_leaves_out(
    course: ExchangeCourse, name: str, why: str
) -> None:
    said = [each for each in lines_on(course, "list", name).splitlines() if "Not listed" in each]
    assert any(re.search(f": .*{why}", line) for line in said), said


def test_the_list_of_the_exchange_has_everybody_else(course: ExchangeCourse) -> None:
    assert done(course, "list").returncode == 0
    for student in (*HONEST, "secret-missing", "time-text"):
        assert f"ticklab {student} {LAB} {EARLY} (" in done(course, "list").stderr


def test_a_link_at_the_top_gets_nobodys_files(course: ExchangeCourse) -> None:
    for student in ("linker", "looper", "linked-lab", "linked-student"):
        assert student not in course.gradebook()
        for step in ("autograded", "feedback"):
            assert not (course.folder / step / student).exists()
        secret = (course.submitted("ada") / "submission_secret.txt").read_text()
        holders = [path for path, text in course.files().items() if text == secret]
        assert {path.split("/")[1] for path in holders} == {"ada"}, student


def test_autograde_says_what_it_refuses(course: ExchangeCourse) -> None:
    for name in ("linked-lab", "linked-student", "end?of-line", "\\udcff"):
        assert "is refused: " in lines_on(course, "autograde", name)


TIMES = "text huge folder missing"


@pytest.mark.parametrize("student", TIMES.split())
def test_a_strange_time_costs_nothing(course: ExchangeCourse, student: str) -> None:
    assert course.scores(f"time-{student}") == FULL
    assert "timestamp.txt" in lines_on(course, "collect", f"time-{student}")
    # The name in the exchange says when it was handed in: no late penalty can be avoided so.
    assert course.gradebook()[f"time-{student}"][0] == EARLY.removesuffix(" UTC")


def test_a_strange_secret_costs_its_own_student_the_release(course: ExchangeCourse) -> None:
    for student, why in (
        ("secret-missing", "handed in no submission_secret.txt"),
        ("secret-bytes", "not UTF-8"),
        ("secret-empty", "is empty"),
        ("secret-twin-1", "the same submission_secret.txt"),
        ("secret-twin-2", "the same submission_secret.txt"),
    ):
        assert course.scores(student) == FULL
        assert why in lines_on(course, "release_feedback", student)
        page = course.folder / "feedback" / student / LAB / f"{LAB}.html"
        assert f"evidence of '{student}'" not in released(course) and page.is_file()


def test_a_page_that_is_older_than_its_points_is_not_released(course: ExchangeCourse) -> None:
    said = lines_on(course, "release_feedback", REGRADED)
    assert f"{LAB}.html is older than its points or comments: run `grader feedback {LAB}`" in said
    assert f"evidence of '{REGRADED}'" not in released(course)


def test_every_student_with_a_secret_has_one_page_in_the_exchange(course: ExchangeCourse) -> None:
    pages = [path for path in course.files() if re.fullmatch("feedback/[0-9a-f]{32}.html", path)]
    secretless = [student for student in course.gradebook() if student.startswith("secret-")]
    assert len(pages) == len(course.gradebook()) - len({*secretless, REGRADED})


def test_strange_files_cost_nothing(course: ExchangeCourse) -> None:
    for student in ("file-names", "own-page", "own-record", "inner-link"):
        assert course.scores(student) == FULL
        page = (course.folder / "feedback" / student / LAB / f"{LAB}.html").read_text()
        assert "cost passed" in page and "a page of mine" not in page, student


def test_links_and_pipes_inside_are_left_out_and_named(course: ExchangeCourse) -> None:
    names = {path.name for path in course.submitted("inner-link").rglob("*")}
    assert not names & {"endless.csv", "pipe.csv", "theirs"}
    assert "left out recordings/pipe.csv: a pipe" in lines_on(course, "collect", "inner-link")


def test_an_impostors_folder_is_not_collected_and_a_person_is_asked(
    course: ExchangeCourse,
) -> None:
    assert (course.submitted("grace") / "timestamp.txt").read_text() == EARLY
    assert "A person must look. If grace handed in" in done(course, "collect").stderr


def test_hidden_folders_of_ours_are_gone_at_the_end(course: ExchangeCourse) -> None:
    for step in ("submitted", "autograded", "feedback"):
        assert not [path.name for path in (course.folder / step).iterdir() if path.name[0] == "."]


def test_the_formgraders_lists_answer(
    course: ExchangeCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with formgrader_api(course.folder, monkeypatch) as api:
        rows = {row["student"]: row for row in api.get_submissions(LAB)}
        assert all(rows[student]["autograded"] for student in (*HONEST, "time-text", "time-huge"))
        assert "linked-lab" in rows and not rows["linked-lab"]["autograded"]
        json.dumps([api.get_assignments(), api.get_students(), list(rows.values())])
        json.dumps(api.parent.config)  # the formgrader shows it
        refused = api.autograde(LAB, "linked-lab")
        assert not refused["success"] and "links are not followed" in refused["log"]
        assert api.autograde(LAB, "time-text")["success"]


def test_collecting_again_changes_nothing(
    course: ExchangeCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = course.files()
    with formgrader_api(course.folder, monkeypatch) as api:
        again = api.collect(LAB)
    assert "A person must look. If grace" in again["log"]
    assert course.files() == before
