"""`labs report` of a question of one's own: the page says what the recordings show, and no more."""

from __future__ import annotations

import shutil
from html import unescape
from pathlib import Path

import pytest

from grader.own_report.__main__ import browser
from labs.commands.cli import main
from labs.recording.file import read
from labs.results.result import result_of
from labs.terminal import typeset
from support.c_programs import LINUX
from support.paths import FIXTURES

QUICK = ["--samples", "800"]
PAGE = "ticklab-report.html"
SAVED = FIXTURES / "honest" / "03-system-call" / "recordings"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sentences_of(folder: Path) -> list[str]:
    """The claim of each recording in the folder."""
    return [result_of(read(each)).sentence() for each in sorted(folder.glob("*.csv"))]


@LINUX
def test_two_files_are_measured_in_turns_compared_and_argued(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "short"]) == main(["new", "long.cpp"]) == 0
    hostile = "long <img src=x>&'\"; rm -rf $HOME"
    (here / "long.cpp").rename(here / f"{hostile}.cpp")
    files = ("short.c", f"{hostile}.cpp")
    for name, length in zip(files, ("600", "6000"), strict=True):  # far from 0, and far apart
        text = (here / name).read_text()
        (here / name).write_text(text.replace("LENGTH = 64", f"LENGTH = {length}"))
    pdf = ["--pdf"] if browser() is not None else []
    assert main(["report", *files, *QUICK, *pdf, "--name", "A. Reader"]) == 0
    said, folder = " ".join(capfd.readouterr().out.split()), here / "short-report"
    made = {"short.csv", *files, f"{hostile}.csv", PAGE}
    assert {each.name for each in folder.iterdir()} - {"ticklab-report.pdf"} == made
    assert (folder / "ticklab-report.pdf").is_file() == bool(pdf)
    page = (folder / PAGE).read_text(encoding="utf-8")
    for sentence in sentences_of(folder):
        assert typeset(sentence) in said and typeset(sentence) in page
    assert "A. Reader" in page and "long own is " in said and " times short own." in said
    assert "<img src=x>" not in page
    for name in files:
        assert (folder / name).read_text() in unescape(page)
    assert page.count("Line plot of") == 2 and page.count("Dot plot of long and short") == 1
    assert "http" not in page.replace("http%3A//www.w3.org/2000/svg", "").replace(
        "http://www.w3.org", ""
    )
    again = ["report", "short.c", "--variant", "own", *QUICK]  # its recordings are another run
    assert main(again) == 0
    page = (here / "short-report-2" / PAGE).read_text(encoding="utf-8")
    assert "cost of each variant" not in page and "not made in turns" not in page


def test_a_folder_of_recordings_says_what_each_shows_and_what_was_left_out(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "kept").mkdir()
    for name in ("calls.csv", "own.csv", "own.c"):
        shutil.copy(SAVED / name, here / "kept")
    hostile = (here / "kept" / "own.csv").read_bytes()
    hostile = hostile.replace(b"# os: Linux", b"# os: <script>alert(1)</script>")
    (here / "kept" / "own <b>&.csv").write_bytes(hostile)
    (here / "kept" / "grades.csv").write_text("name,points\n")
    (here / "kept" / "link.csv").symlink_to("own.csv")
    assert main(["report", "kept"]) == 0
    said = capfd.readouterr().out
    page = (here / "kept" / PAGE).read_text(encoding="utf-8")
    assert "grades.csv was left out: " in said and "grades.csv was left out: " in page
    assert "link.csv was left out: " in page
    assert "<script>" not in page and "<b>" not in page and "own &lt;b&gt;&amp;" in page
    assert (here / "kept" / "own.c").read_text() in unescape(page)
    # The hash of the second recording is not that of a file next to it.
    missing = "<li>own &lt;b&gt;&amp;: the C that was measured is not next to its recording.</li>"
    assert page.count(missing) == 1
    assert "not made in turns" in page
    for variant in read(here / "kept" / "calls.csv").conditions["variants"].split(","):
        assert f">Evidence: {variant}</h3>" in page


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["empty"], 1, "there are no labs and no recordings in "),
        (["nowhere"], 1, "there are no labs and no recordings in "),
        (["empty", "."], 2, "name C or C++ files, or one folder"),
        (["empty", "wrong.c"], 2, "name C or C++ files, or one folder"),
        (["missing.c"], 2, "missing.c"),
        (["wrong.c"], 1, "wrong.c, line 1: error"),
        (["wrong.c", "--unit", "hours"], 2, "hours"),
        (["tables"], 1, "there is no recording in "),
    ],
)
def test_what_cannot_be_reported_is_named_and_leaves_nothing(
    words: list[str], status: int, why: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "empty").mkdir()
    (here / "tables").mkdir()
    (here / "tables" / "grades.csv").write_text("name,points\n")
    (here / "wrong.c").write_text("int main(void) { return missing; }\n")
    assert main(["report", *words]) == status
    assert why in capfd.readouterr().err
    assert sorted(each.name for each in here.iterdir()) == ["empty", "tables", "wrong.c"]
    assert not list(here.glob("*/*.html"))
