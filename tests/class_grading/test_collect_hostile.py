"""Each hostile hand-in is refused with its sentence, and everybody else is collected."""

from __future__ import annotations

import io
import os
import random
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

from grader.class_grading import class_roster, collect_class
from grader.class_grading.collect_class import Collect, Did, Report
from grader.class_grading.uploaded_archives import NotTaken, Version, written
from labs import limits
from support.platform_archives import Files, Upload, canvas_zip, handed_in, moodle_zip, zipped

LAB, OTHER = "01-small", "02-other"
GOOD: dict[str, bytes] = {f"{LAB}/{LAB}.ipynb": b"{}", f"{LAB}/figures.json": b"{}"}
NAME = f"{LAB}-20260304T050607Z.zip"
Made = Callable[[], Files]
CASES: dict[str, tuple[Made, str]] = {}


def case(sentence: str) -> Callable[[Made], Made]:
    """A hand-in that is refused with this sentence."""

    def add(make: Made) -> Made:
        CASES[make.__name__] = (make, sentence)
        return make

    return add


def with_entry(name: str, content: bytes = b"x", mode: int = 0) -> Files:
    """An archive with one more entry, of a kind that `mode` gives."""
    packed = io.BytesIO(zipped(GOOD))
    with zipfile.ZipFile(packed, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.filename = name  # ZipInfo itself ends a name at a NUL
        info.external_attr = mode << 16
        archive.writestr(info, content)
    return {NAME: packed.getvalue()}


@case(f"{NAME}: two files have the name {LAB}/figures.json")
def twice() -> Files:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return with_entry(f"{LAB}/figures.json", b"[]")


@case(f"{NAME}: {LAB}/{LAB}.ipynb: it is encrypted")
def encrypted() -> Files:
    packed = bytearray(zipped(GOOD))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(mark) + offset] |= 1
    return {NAME: bytes(packed)}


@case(f"{NAME}: it is no whole zip file: File is not a zip file")
def truncated() -> Files:
    packed = zipped(GOOD)
    return {NAME: packed[: len(packed) // 2]}


@case(f"{LAB}/{LAB}.ipynb is damaged: Bad CRC-32 for file '{LAB}/{LAB}.ipynb'")
def other_bytes() -> Files:
    packed = bytearray(zipped(GOOD, zipfile.ZIP_STORED))
    packed[packed.index(b"{}")] ^= 1
    return {NAME: bytes(packed)}


@case(f"{NAME}: the name of a file in it is not valid text")
def name_that_is_no_text() -> Files:
    packed = zipped({**GOOD, f"{LAB}/é": b""})
    return {NAME: packed.replace("é".encode(), b"\xff\xfe")}


@case(f"{NAME}: the list of its files has 6,077,780 bytes; at most 500,000 are read")
def a_hundred_thousand_files() -> Files:
    """Only the list, which is what `zipfile` reads as a whole."""
    names = [b"%d/%d.csv" % (n, n) for n in range(100_000)]
    entry = struct.Struct("<4s4B4HL2L5H2L")
    listed = b"".join(
        entry.pack(
            b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0
        ) + name
        for name in names
    )  # fmt: skip
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(listed), 0, 0)
    return {NAME: listed + end}


@case(
    f"none of its files can be taken: {LAB}.ipynb: "
    "it has 16,000,001 bytes; at most 16,000,000 are taken"
)
def only_a_huge_notebook() -> Files:
    content = os.urandom(1 << 16) * 245
    return {NAME: zipped({f"{LAB}/{LAB}.ipynb": content[:16_000_001]})}


def _bomb(count: int, each: int) -> bytes:
    """An archive whose entries are all the same compressed zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(each)
    packed, crc = packer.compress(zeros) + packer.flush(), zlib.crc32(zeros)
    made = io.BytesIO()
    listed = b""
    for n in range(count):
        name = b"%d" % n if n else f"{LAB}/figures.json".encode()
        common = (20, 0, 8, 0, 0, crc, len(packed), each, len(name), 0)
        at = made.tell()
        made.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", *common) + name + packed)
        listed += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *common, 0, 0, 0, 0, at) + name
    at = made.tell()
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(listed), at, 0)
    return made.getvalue() + listed + end


LEADS_OUT, ABSOLUTE = "its name leads out of its folder", "its name is an absolute path"
NO_FILE = "it is a pipe, a socket or a device, not a file"
CONTROL = "its name holds a control character"
OF_WINDOWS = "Windows cannot have a file with its name"
#: Archives with one more entry: its name, how it is shown, why it is refused, and its kind.
ENTRIES: list[tuple[str, str, str, int]] = [
    (f"{LAB}/../../eve/x", f"{LAB}/../../eve/x", LEADS_OUT, 0),
    (f"{LAB}\\..\\..\\eve\\x", f"{LAB}/../../eve/x", LEADS_OUT, 0),
    ("/etc/cron.d/x", "etc/cron.d/x", ABSOLUTE, 0),
    ("C:\\x", "C:/x", ABSOLUTE, 0),
    (f"{LAB}/link", f"{LAB}/link", "it is a link; links are not followed", stat.S_IFLNK | 0o777),
    (f"{LAB}/pipe", f"{LAB}/pipe", NO_FILE, stat.S_IFIFO | 0o666),
    (f"{LAB}/disk", f"{LAB}/disk", NO_FILE, stat.S_IFBLK | 0o666),
    (f"{LAB}/a\0b", f"{LAB}/a?b", "its name holds a NUL", 0),
    (f"{LAB}/a\x1b[2Jb", f"{LAB}/a?[2Jb", CONTROL, 0),
    (f"{LAB}/a\u202eb", f"{LAB}/a?b", CONTROL, 0),
    (f"{LAB}/NUL.csv", f"{LAB}/NUL.csv", OF_WINDOWS, 0),
    (f"{LAB}/x.csv:stream", f"{LAB}/x.csv:stream", OF_WINDOWS, 0),
    (f"{LAB}/" + "n" * 201, f"{LAB}/{'n' * 71}...", "its name is longer than 200 bytes", 0),
    ("d/" * 401 + "x", f"{'d/' * 40}...", "its path is longer than 800 bytes", 0),
]
CASES |= {
    f"entry {number}": (partial(with_entry, name, mode=mode), f"{NAME}: {shown}: {why}")
    for number, (name, shown, why, mode) in enumerate(ENTRIES)
}

#: Other hand-ins, each with why it is refused.
CASES |= {
    "the same name twice in other cases": (
        lambda: with_entry(f"{LAB}/Figures.JSON"),
        f"{NAME}: two files have the name {LAB}/Figures.JSON",
    ),
    "a file and a folder": (
        lambda: with_entry(f"{LAB}/figures.json/x"),
        f"{NAME}: {LAB}/figures.json is a file and a folder",
    ),
    "another_method": (
        lambda: {NAME: zipped(GOOD, zipfile.ZIP_LZMA)},
        f"{NAME}: {LAB}/{LAB}.ipynb: it is compressed by another method than deflate",
    ),
    "no_zip_file": (
        lambda: {NAME: b"%PDF-1.7"},
        f"{NAME}: it is no whole zip file: File is not a zip file",
    ),
    "empty": (lambda: {NAME: b""}, f"{NAME}: it is no whole zip file: File is not a zip file"),
    "states_too_much": (
        lambda: {NAME: _bomb(count=32, each=8 << 20)},
        f"{NAME}: it unpacks to 268,435,456 bytes; at most 231,772,160 are unpacked",
    ),
    "bomb": (
        lambda: {NAME: _bomb(count=2, each=16 << 20)},
        f"{NAME}: it unpacks to … times its size; at most 200 times are unpacked",
    ),
    "many_files": (
        lambda: {NAME: zipped({**GOOD, **{f"{LAB}/{n}": b"" for n in range(2001)}})},
        f"{NAME}: it has 2,003 files; at most 2,000 are read",
    ),
    "nested": (
        lambda: {NAME: zipped({"a.zip": zipped({"b.zip": zipped(GOOD)})})},
        f"{NAME}: a.zip: b.zip: more than 2 zip files lie in each other",
    ),
    "something_else": (
        lambda: {NAME: zipped({"essay.docx": b"x"})},
        f"{NAME}: it holds neither figures.json nor a notebook nor a zip file, but essay.docx",
    ),
    "nothing": (lambda: {NAME: zipped({"__MACOSX/._x": b""})}, f"{NAME}: it is empty"),
    "only_a_text": (
        lambda: {"text.html": b"x"},
        "it holds neither figures.json nor a notebook nor a zip file, but text.html",
    ),
    "tar": (
        lambda: {"work.tar.gz": b"\x1f\x8b"},
        "work.tar.gz is no zip file; `labs hand-in` makes one",
    ),
    "archive_of_another_lab": (
        lambda: handed_in(OTHER, {"figures.json": b"{}"}),
        f"it is of the lab {OTHER}, not of {LAB}",
    ),
    "folder_of_another_lab": (
        lambda: {"work.zip": zipped({f"{OTHER}/figures.json": b"{}"})},
        f"work.zip: it is of the lab {OTHER}, not of {LAB}",
    ),
    "two_folders": (
        lambda: {"work.zip": zipped({"a/figures.json": b"{}", "b/figures.json": b"{}"})},
        "work.zip: it holds several folders, and none is named 01-small: a, b",
    ),
    "two_archives": (
        lambda: {"a.zip": zipped(GOOD), "b.zip": zipped(GOOD)},
        "it has 2 zip files, and nobody knows which one counts: a.zip, b.zip",
    ),
}


def collect(folder: Path, path: Path, dry: bool = False) -> Report:
    course = CourseDirectory(root=str(folder / "course"))
    with class_roster.opened_source(path) as items:
        return Collect(course, LAB, [LAB, OTHER], None, dry).run(path.name, items)


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Report, Path]]:
    """All of them in one download, with an honest student before and behind."""
    folder = tmp_path_factory.mktemp("hostile")
    honest = handed_in(LAB, {"figures.json": b"{}", f"{LAB}.ipynb": b"{}"})
    uploads = [Upload("aa", 1, honest), Upload("zz", 999, honest)]
    uploads += [Upload(f"m{n}", n, make()) for n, (make, _) in enumerate(CASES.values(), 100)]
    yield collect(folder, canvas_zip(folder / "class.zip", uploads)), folder


@pytest.mark.parametrize("name", CASES)
def test_each_is_refused_with_its_sentence(name: str, done: tuple[Report, Path]) -> None:
    number = list(CASES).index(name) + 100
    whys = {each.name: each.why for each in done[0].not_collected}
    # How well zeros are compressed is not the same everywhere.
    sentence = re.escape(CASES[name][1]).replace("…", "[0-9,]+")
    assert re.fullmatch(sentence, whys[f"m{number}_{number}"])


def test_the_honest_are_collected_and_nothing_else_is_written(done: tuple[Report, Path]) -> None:
    report, folder = done
    assert [line.student for line in report.lines] == ["1", "999"]
    names = ("figures.json", f"{LAB}.ipynb", "timestamp.txt", ".ticklab-collected.json")
    assert files_in(folder / "course") == {
        f"submitted/{student}/{LAB}/{name}" for student in ("1", "999") for name in names
    }
    assert {path.name for path in folder.iterdir()} == {"class.zip", "course"}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # UTF-8 without its mark, as macOS writes it, and another encoding, as Windows did.
        ("größe.csv".encode(), "größe.csv"),
        ("größe.csv".encode("cp437"), "größe.csv"),
        (b"\x82\xa0.csv", "éá.csv"),
    ],
)
def test_names_in_other_encodings_are_taken(names: bytes, expected: str, tmp_path: Path) -> None:
    packed = zipped({**GOOD, f"{LAB}/" + "x" * len(names): b"x"}).replace(b"x" * len(names), names)
    collect(tmp_path, moodle_zip(tmp_path / "m.zip", [Upload("A", 1, {NAME: packed})]))
    assert f"submitted/a-1/{LAB}/{expected}" in files_in(tmp_path / "course")


@pytest.mark.parametrize("name", ["./", "/"])
def test_an_archive_that_names_its_own_folder_is_taken(name: str, tmp_path: Path) -> None:
    """Some programs do, in the archive of a class and in that of a student."""
    files = {name: b"", "ada/figures.json": b"{}", "bob.zip": zipped({name: b"", **GOOD})}
    (tmp_path / "c.zip").write_bytes(zipped(files))
    report = collect(tmp_path, tmp_path / "c.zip")
    assert ([line.student for line in report.lines], report.complete) == (["ada", "bob"], True)


def test_honest_files_that_compress_well_are_taken(tmp_path: Path) -> None:
    """A recording of a coarse clock has few different rows."""
    row = "3,own,100,0\n"
    rows = (row * (limits.MOST_RECORDING_BYTES // len(row))).encode()
    files = {f"{LAB}/figures.json": b"{}", f"{LAB}/recordings/run.csv": rows}
    packed = {NAME: zipped(files)}
    assert len(rows) > 200 * len(packed[NAME])
    report = collect(tmp_path, moodle_zip(tmp_path / "m.zip", [Upload("A", 1, packed)]))
    assert [line.files for line in report.lines] == [2]


def test_a_folder_in_the_place_of_a_file_harms_nobody(tmp_path: Path) -> None:
    places = ("timestamp.txt", "submission_secret.txt", ".ticklab-collected.json", f"{LAB}.ipynb")
    files = {"figures.json": b"{}", **{f"{place}/x": b"x" for place in places}}
    uploads = [Upload("A", 1, handed_in(LAB, files)), Upload("B", 2, handed_in(LAB, GOOD))]
    path = moodle_zip(tmp_path / "m.zip", uploads)
    for _ in range(2):
        report = collect(tmp_path, path)
        assert [line.student for line in report.lines] == ["a-1", "b-2"]
        assert report.not_collected == []
    assert report.lines[0].did is Did.SAME


#: What programs read by themselves where they start, and how it is named when it is left out.
SETTINGS = {
    ".git/config": ".git",
    ".git/hooks/post-checkout": ".git",
    ".NETRC": ".NETRC",
    ".bashrc": ".bashrc",
    ".ipython/profile_default/startup/run.py": ".ipython",
    ".ticklab-collected.json": ".ticklab-collected.json",
    "notes/.envrc": "notes/.envrc",
    "HEAD": "HEAD",
    "Jupyter_Server_Config.D/run.json": "Jupyter_Server_Config.D",
    "jupyter_lab_config.py": "jupyter_lab_config.py",
    "nbgrader_config.py": "nbgrader_config.py",
    "recordings/sitecustomize.py": "recordings/sitecustomize.py",
}
#: What is like it, and harmless.
OWN = {"objects/x", "head.csv", "my_config.py", "notes/1.txt", "figures.json", f"{LAB}.ipynb"}
#: What systems and Jupyter add without anybody's doing needs no note.
ADDED = {".DS_Store", "._x", f".ipynb_checkpoints/{LAB}-checkpoint.ipynb"}


@pytest.mark.parametrize("as_archive", [True, False])
def test_what_programs_read_as_settings_is_not_collected(as_archive: bool, tmp_path: Path) -> None:
    files = dict.fromkeys([*SETTINGS, *OWN, *ADDED], b"{}")
    top = tmp_path / "class"
    for name, content in (handed_in(LAB, files) if as_archive else files).items():
        (top / "ada" / name).parent.mkdir(parents=True, exist_ok=True)
        (top / "ada" / name).write_bytes(content)
    (top / "bob").mkdir()
    (top / "bob" / "figures.json").write_text("{}")
    ada, bob = collect(tmp_path, top).lines
    why = "not taken, because programs can read it as their settings and run what it says"
    assert sorted(ada.remarks) == sorted({f"{name}: {why}" for name in SETTINGS.values()})
    assert bob.remarks == ()
    mine = tmp_path / "course/submitted/ada" / LAB
    assert files_in(mine) - {"timestamp.txt"} == {*OWN, ".ticklab-collected.json"}
    assert b"sha256" in (mine / ".ticklab-collected.json").read_bytes()  # ours


def test_many_hidden_files_fill_no_screen(tmp_path: Path) -> None:
    hidden = {f".{number}": b"" for number in range(100)}
    upload = Upload("A", 1, handed_in(LAB, {"figures.json": b"{}", **hidden}))
    (line,) = collect(tmp_path, moodle_zip(tmp_path / "m.zip", [upload])).lines
    assert (len(line.remarks), line.remarks[-1]) == (21, "and 80 more files")


def test_a_fault_of_ours_costs_one_student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = written

    def faulty(version: Version, folder: Path) -> tuple[dict[str, str], list[str]]:
        if version.order == 100:
            raise KeyError("a fault")
        return real(version, folder)

    monkeypatch.setattr(collect_class, "written", faulty)
    uploads = [Upload("A", 1, {"figures.json": b"{}"}), Upload("B", 2, {"figures.json": b"{}"})]
    report = collect(tmp_path, canvas_zip(tmp_path / "c.zip", uploads))
    assert [line.student for line in report.lines] == ["2"]
    why = "Ticklab has a fault, please report it: KeyError('a fault')"
    assert [each.why for each in report.not_collected] == [why]


def test_random_damage_never_ends_a_run(tmp_path: Path) -> None:
    """200 archives with a few bytes changed, cut or doubled; some are still whole."""
    chance = random.Random(20_260_304)
    whole = zipped({**GOOD, f"{LAB}/recordings/run.csv": b"1,2,3\n" * 50})
    uploads = []
    for number in range(1, 201):
        packed = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(packed))
            change = chance.choice(("byte", "byte", "cut", "double"))
            if change == "byte":
                packed[at] = chance.choice((0, 1, 0xFF, chance.randrange(256)))
            elif change == "cut":
                del packed[at : at + chance.randint(1, 8)]
            else:
                packed[at:at] = packed[at : at + chance.randint(1, 40)]
        uploads.append(Upload("x", number, {NAME: bytes(packed)}))
    report = collect(tmp_path, canvas_zip(tmp_path / "c.zip", uploads))
    assert len(report.lines) + len(report.not_collected) == 200
    assert len(report.not_collected) > 100
    assert not [each for each in report.not_collected if "has a fault" in each.why]
    taken = {str(line.student) for line in report.lines}
    assert {path.name for path in (tmp_path / "course" / "submitted").iterdir()} == taken


def _link(folder: Path) -> None:
    (folder / "figures.json").symlink_to("/etc/passwd")


def _linked_folder(folder: Path) -> None:
    (folder / "recordings").symlink_to("/etc")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "figures.json")


def _no_text(folder: Path) -> None:
    (folder / os.fsdecode(b"\xff")).write_text("x")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_link, "figures.json: it is a link; links are not followed"),
        (_linked_folder, "recordings: it is a link; links are not followed"),
        (_pipe, "figures.json: it is a pipe, a socket or a device, not a file"),
        (_no_text, "\\udcff: its name is not valid text"),
    ],
)
def test_hostile_folders(make: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    for student in ("ada", "eve"):
        (tmp_path / "class" / student).mkdir(parents=True)
    (tmp_path / "class" / "ada" / "figures.json").write_text("{}")
    make(tmp_path / "class" / "eve")
    report = collect(tmp_path, tmp_path / "class")
    assert [line.student for line in report.lines] == ["ada"]
    assert [(each.name, each.why) for each in report.not_collected] == [("eve", why)]


def test_a_student_who_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "figures.json").write_text("{}")
    (tmp_path / "class" / "eve").symlink_to("ada")
    report = collect(tmp_path, tmp_path / "class")
    assert [line.student for line in report.lines] == ["ada"]
    assert [each.name for each in report.not_collected] == ["eve"]
    # Nor is one in the course.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "course" / "submitted" / "bob").mkdir()
    (tmp_path / "course" / "submitted" / "bob" / LAB).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "more" / "bob").mkdir(parents=True)
    (tmp_path / "more" / "bob" / "figures.json").write_text("{}")
    (tmp_path / "more" / "cid.zip").write_bytes(zipped(GOOD))
    report = collect(tmp_path, tmp_path / "more")
    assert [line.student for line in report.lines] == ["cid"]
    assert [each.why for each in report.not_collected] == [
        "its folder in the course is a link; links are not followed"
    ]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_bad_entry_of_the_download_itself_costs_one_student(tmp_path: Path) -> None:
    """The platform makes these names, but nothing is believed."""
    path = canvas_zip(tmp_path / "c.zip", [Upload("A", 1, {"figures.json": b"{}"})])
    with zipfile.ZipFile(path, "a") as packed:
        for number, name in enumerate(("../x.zip", "figures.json/../../x"), 50):
            packed.writestr(f"b_{number}_1_{name}", b"x")
        packed.writestr("../../outside_9_1_x.zip", b"x")
        packed.writestr("/c_8_1_x.zip", b"x")
    report = collect(tmp_path, path)
    assert [line.student for line in report.lines] == ["1"]
    assert len(report.not_collected) == 4
    assert files_in(tmp_path / "course") == {
        f"submitted/1/{LAB}/{name}" for name in ("figures.json", ".ticklab-collected.json")
    }


@pytest.mark.parametrize("content", [b"", b"PK", b"%PDF"])
def test_a_source_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.zip"
    path.write_bytes(content)
    with pytest.raises(NotTaken, match=r"it is no whole zip file.*; download it again"):
        collect(tmp_path, path)
    with pytest.raises(NotTaken, match="cannot be read: No such file"):
        collect(tmp_path, tmp_path / "missing.zip")


@contextmanager
def _most(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setattr(limits, name, value)
        yield


def test_a_file_that_is_longer_than_it_states_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder: the size was asked before the file is read."""
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "figures.json").write_bytes(b"x" * 100)
    with (
        _most("MOST_FILE_BYTES", 99, monkeypatch),
        class_roster.opened_source(tmp_path / "class") as items,
    ):
        with io.BytesIO() as target, pytest.raises(NotTaken, match="has more than 99 bytes"):
            items[-1].copy_to(target, limits.MOST_FILE_BYTES)
        assert target.closed or len(target.getvalue()) <= 99
