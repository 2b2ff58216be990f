"""`labs new` writes a C kernel that can be measured at once, and replaces no file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from labs.c_kernels import toolchain
from labs.commands.cli import main
from labs.files import CannotWrite
from testing.c_programs import LINUX

QUICK = ["--samples", "400", "--processes", "2"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new(name: str, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["new", name]) == 0
    assert f"labs measure {name.removesuffix('.c')}.c" in capsys.readouterr().out
    return Path(f"{name.removesuffix('.c')}.c")


@LINUX
def test_what_it_writes_is_measured_without_a_change(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new("mine.c", capsys)
    command = ["measure", "mine.c", *QUICK, "--flags=-O2 -Werror", "--save", "run.csv", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["variant"]) == ("mine", "write")
    recording = (here / "run.csv").read_text(encoding="utf-8")
    assert "# variant.write.baseline: loop" in recording
    # 2 processes with 200 samples and 100 of warm-up each: as many at each of 4 batch sizes.
    assert recording.count("# variant.write.claimed_operations: 9000") == 1
    assert recording.count("# variant.write.counted_operations: 9000") == 1


@LINUX
@pytest.mark.parametrize(
    ("old", "changed", "why"),
    [
        ('write(ends[1], "x", 1) == 1', "1", "0 of "),  # the operation is gone
        ('write(ends[1], "x", 1) == 1', 'write(-1, "x", 1) == 1', "operations happened"),
        ('write(ends[1], "x", 1) == 1', 'write(ends[1], "xy", 2) == 2', "operations happened"),
    ],
)
def test_an_operation_that_did_not_happen_once_each_gives_no_figure(
    old: str, changed: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = new("mine", capsys)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, changed), encoding="utf-8")
    assert main(["measure", "mine.c", *QUICK]) == 1
    printed = capsys.readouterr()
    assert why in printed.err and not printed.out


def test_no_file_is_replaced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.c").write_text("int main(void) { return 0; }\n")
    (here / "other.c").symlink_to("nowhere.c")
    for name in ("mine", "other"):
        assert main(["new", name]) == 1
        assert f"{name}.c is already there" in capsys.readouterr().err
    assert (here / "mine.c").read_text() == "int main(void) { return 0; }\n"
    assert not (here / "nowhere.c").exists()


@pytest.mark.parametrize("name", ["", "a b", "../mine", 'x"', "x\ny", "1st", "é", "a" * 41, "-"])
def test_a_name_that_cannot_be_used_is_explained(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--", name]) == 2
    assert "a letter and then" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_the_name_of_a_c_kernel_of_the_kit_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "system_call"]) == 2
    assert "Ticklab has a C kernel system_call" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(CannotWrite, match="Permission denied"):
        toolchain.write_new("mine", Path())
