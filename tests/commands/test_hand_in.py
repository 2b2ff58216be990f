"""`labs hand-in`: what is packed, what is said to be missing, and the exchange of a course."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.judging.lab_folder import check_folder
from labs import paths
from labs.commands.cli import main
from labs.course import lab_names
from labs.course.handed_in import of_lab
from labs.messages import Refused
from labs.notebook.session import Session
from support import forked
from support.paths import FIXTURES

LAB = "01-timer-overhead"
#: With another text than the released one in its only answer.
ANSWER = "The intercept is what two readings cost."


#: As released.
STUB = "Write your answer here."


def notebook(answer: str, code: str = "...") -> str:
    cells = [
        {
            "cell_type": kind,
            "metadata": {"nbgrader": {"grade_id": name, "solution": True, "grade": True}},
            "source": [source],
        }
        for kind, name, source in (("markdown", "report", answer), ("code", "own", code))
    ]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


@pytest.fixture(autouse=True)
def _the_grader_has_started() -> Iterator[None]:
    with forked.programs():
        yield


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "released" / LAB
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text(notebook(STUB), encoding="utf-8")
    monkeypatch.setattr(paths, "released", lambda: tmp_path / "released")


@pytest.fixture
def folder(tmp_path: Path, released: None) -> Path:
    folder = tmp_path / "labs" / LAB
    shutil.copytree(FIXTURES / "honest" / LAB, folder)
    (folder / f"{LAB}.ipynb").write_text(notebook(ANSWER), encoding="utf-8")
    (folder / "recordings" / "never-named.csv").write_text("not evidence", encoding="utf-8")
    (folder / "answers.json").write_text('{"wrong": [{"text": "my words"}]}', encoding="utf-8")
    return folder


def handed_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    status = main(["hand-in", str(folder), "--no-submit", "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_what_is_only_packed_says_nothing_of_an_exchange(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["hand-in", str(folder), "--no-submit"])
    said = capsys.readouterr().out
    assert "exchange" not in said
    assert "only packed, as you asked: upload the archive" in said


def test_the_archive_gives_the_points_of_the_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, report = handed_in(folder, capsys)
    assert (status, report["missing"], report["failed"]) == (0, [], [])
    assert hashlib.sha256(Path(report["archive"]).read_bytes()).hexdigest() == report["sha256"]
    with zipfile.ZipFile(report["archive"]) as archive:
        archive.extractall(tmp_path / "received")
    received = tmp_path / "received" / LAB
    assert sorted(report["files"]) == sorted(
        str(path.relative_to(received)) for path in received.rglob("*.*")
    )
    for name in report["files"]:
        assert (received / name).read_bytes() == (folder / name).read_bytes()
    assert not (received / "recordings" / "never-named.csv").exists()
    assert "answers.json" in report["files"]
    assert str(of_lab(folder)) == "handed in with {:g} of {:g} points".format(*report["points"])
    verdicts = check_folder(received, LAB)
    assert [sum(v.points for v in verdicts), sum(v.max_points for v in verdicts)] == report[
        "points"
    ]
    assert verdicts == check_folder(folder, LAB)
    receipt = Path(report["receipt"]).read_text(encoding="utf-8")
    assert report["sha256"] in receipt
    for path in (report["archive"], report["receipt"]):
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    for name in report["files"]:
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert any(digest in line and line.endswith(name) for line in receipt.splitlines())


def test_what_is_missing_or_wrong_is_told_and_handed_in_all_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    del figures["timer-step"]
    figures["timer-overhead-fenced"]["value"] *= 3
    (folder / "figures.json").write_text(json.dumps(figures), encoding="utf-8")
    (folder / f"{LAB}.ipynb").write_text(notebook(STUB), encoding="utf-8")
    status, report = handed_in(folder, capsys)
    assert status == 1
    assert report["missing"] == [
        "the figure timer-step (going further)",
        "the answer in the cell report",
    ]
    assert [each.partition(":")[0] for each in report["failed"]] == ["timer-overhead-fenced"]
    assert Path(report["archive"]).is_file()
    (folder / f"{LAB}.ipynb").unlink()
    assert f"the notebook {LAB}.ipynb, with your answers" in handed_in(folder, capsys)[1]["missing"]


OWN, COPY, AGAIN = f"{LAB}.ipynb", f"{LAB}-Copy1.ipynb", f"{LAB} (1).ipynb"
BROKEN, OTHER = notebook(ANSWER)[:40], lab_names.labs()[1]
#: Notebooks in a folder, the one that is packed, and under which name it is told.
NOTEBOOKS: dict[str, tuple[dict[str, str], str, str | None]] = {
    "a copy": ({OWN: notebook(STUB), COPY: notebook(ANSWER)}, COPY, COPY),
    "fetched again": ({OWN: notebook(STUB), AGAIN: notebook(ANSWER)}, AGAIN, AGAIN),
    "renamed": ({"mine.ipynb": notebook(ANSWER)}, "mine.ipynb", "mine.ipynb"),
    "only code": ({OWN: notebook(STUB), COPY: notebook(STUB, "k = 64")}, COPY, COPY),
    "damaged": ({OWN: BROKEN, COPY: notebook(ANSWER)}, COPY, COPY),
    "no copy is needed": ({OWN: notebook(ANSWER), COPY: notebook(STUB)}, OWN, None),
    "a backup": ({OWN: notebook(ANSWER, "k = 64"), COPY: notebook(ANSWER)}, OWN, None),
    "the same twice": ({OWN: notebook(ANSWER), AGAIN: notebook(ANSWER)}, OWN, None),
    "an own one": ({OWN: notebook(ANSWER), "0.ipynb": '{"cells": []}'}, OWN, None),
    "of another lab": ({OWN: notebook(ANSWER), f"{OTHER}.ipynb": notebook("x")}, OWN, None),
    "nothing yet": ({OWN: notebook(STUB), COPY: notebook(STUB)}, OWN, None),
}  # fmt: skip


def lay_out(folder: Path, notebooks: dict[str, str]) -> None:
    (folder / OWN).unlink()
    for name, text in notebooks.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("case", NOTEBOOKS)
def test_the_notebook_with_the_answers_is_packed(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebooks, packed, told = NOTEBOOKS[case]
    lay_out(folder, notebooks)
    _, report = handed_in(folder, capsys)
    assert (report["notebook"], "the notebook" in str(report["missing"])) == (told, False)
    assert [name for name in report["files"] if name.endswith(".ipynb")] == [OWN]
    with zipfile.ZipFile(report["archive"]) as archive:
        assert archive.read(f"{LAB}/{OWN}").decode() == notebooks[packed]


@pytest.mark.parametrize("name", [OWN, COPY])
def test_a_folder_of_another_name_is_packed_as_the_lab(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(folder, {name: notebook(ANSWER)})
    assert main(["hand-in", str(folder.rename(folder.with_name("mine"))), "--no-submit"]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"archive: .*/{LAB}-\d+T\d+Z.zip \(", said)
    line = f"\nnotebook: {COPY}, which has your answers\n"
    assert (line in said) == (name == COPY)


@pytest.mark.parametrize("names", [(OWN, COPY), (COPY, AGAIN), (OWN, "mine.ipynb")])
def test_of_two_notebooks_with_different_answers_a_student_chooses(
    names: tuple[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = dict(zip(names, (notebook(ANSWER), notebook("Another word.")), strict=True))
    lay_out(folder, {OWN: notebook(STUB), **both})
    status, report = handed_in(folder, capsys)
    two = " and ".join(sorted(names, key=lambda name: (name != OWN, name)))
    why = (
        f"your word on the notebook: {two} have different answers, and are all packed. Move those "
        "that do not count to another folder, and hand in again"
    )
    assert (status, report["missing"], report["notebook"]) == (1, [why], None)
    assert {name for name in report["files"] if name.endswith(".ipynb")} == set(names)
    (folder / names[0]).unlink()
    assert handed_in(folder, capsys)[1]["missing"] == []


def test_an_answer_in_another_cell_is_told_with_its_cell_and_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / f"{LAB}.ipynb"
    assert handed_in(folder, capsys)[1]["misplaced"] == []
    stub = json.loads(notebook(STUB))
    text, code = stub["cells"]
    own = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": [ANSWER]}
    path.write_text(json.dumps({**stub, "cells": [text, own, code]}), encoding="utf-8")
    status, report = handed_in(folder, capsys)
    assert (status, len(report["misplaced"])) == (1, 1)
    assert "the answer report" in report["misplaced"][0] and ANSWER[:20] in report["misplaced"][0]
    assert "move it into the cell report, save" in report["misplaced"][0]
    path.write_text(json.dumps({**stub, "cells": [own, code]}), encoding="utf-8")
    gone, there = handed_in(folder, capsys)[1]["misplaced"]
    assert "the cell report, for your answer, is not in the notebook: copy" in gone
    assert ANSWER[:20] in there and "move" not in there


def test_handing_in_again_keeps_the_earlier_archive(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {handed_in(folder, capsys)[1]["archive"] for _ in range(3)}
    assert len(made) == 3 and all(Path(path).is_file() for path in made)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("figures.json", None, "no figure is stored yet"),
        ("figures.json", "{", "figures.json"),
        ("recordings/fenced.csv", "link", "is a symbolic link"),
        ("recordings/own.c", "link", "is a symbolic link"),
        ("figures.json", "link", "is a symbolic link"),
        (f"{LAB}.ipynb", "link", "is a symbolic link"),
    ],
)
def test_what_cannot_be_packed_is_told(
    name: str, content: str | None, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / name
    path.unlink()
    if content == "link":
        path.symlink_to("/etc/hostname")
    elif content is not None:
        path.write_text(content, encoding="utf-8")
    assert main(["hand-in", str(folder), "--no-submit"]) == 2
    assert said in capsys.readouterr().err
    assert not (folder.parent / "handed-in").exists()


def test_recordings_of_another_folder_are_not_packed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "recordings").rename(tmp_path / "elsewhere")
    (folder / "recordings").symlink_to(tmp_path / "elsewhere")
    assert main(["hand-in", str(folder), "--no-submit"]) == 2
    assert "is a link to another folder" in capsys.readouterr().err
    assert not (folder.parent / "handed-in").exists()


def test_another_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hand-in", str(tmp_path)]) == 2
    assert "is not the folder of a lab" in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_archive(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["hand-in", str(folder), "--no-submit"]) == 2
    assert "the disk is full" in capsys.readouterr().err
    assert list((folder.parent / "handed-in").iterdir()) == []


@pytest.fixture
def exchange(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The exchange of a course that has released the lab, as the student's nbgrader knows it."""
    root = tmp_path / "exchange"
    shutil.copytree(paths.released() / LAB, root / "systems" / "outbound" / LAB)
    (root / "systems" / "inbound").mkdir()
    for each in (root, *root.rglob("*")):
        each.chmod(0o777)
    config = {"Exchange": {"root": str(root), "cache": str(tmp_path / "cache")}}
    (tmp_path / "jupyter").mkdir()
    (tmp_path / "jupyter" / "nbgrader_config.json").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    return root / "systems" / "inbound"


def test_where_the_course_has_an_exchange_it_is_submitted_there(
    exchange: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Session(LAB, folder).hand_in()
    assert "submitted to the exchange of the course systems" in capsys.readouterr().out
    (there,) = exchange.iterdir()
    assert check_folder(there, LAB) == check_folder(folder, LAB)


def test_an_exchange_that_takes_nothing_is_told(
    exchange: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exchange.rmdir()
    Session(LAB, folder).hand_in()
    said = capsys.readouterr().out
    assert "NOT submitted to an exchange: Inbound directory doesn't exist" in said
    assert "archive: " in said


def test_where_two_courses_have_the_lab_a_student_names_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("labs.hand_in.exchange.courses_with", lambda lab: ("nets", "systems"))
    monkeypatch.setattr("labs.hand_in.exchange.submit", lambda *asked: pytest.fail(str(asked)))
    Session(LAB, folder).hand_in()
    said = " ".join(capsys.readouterr().out.split())
    assert "several courses have this lab (nets, systems); run `nbgrader submit" in said


def test_in_a_notebook_a_refusal_is_plain(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not the folder of a lab"):
        Session(LAB, tmp_path).hand_in()
