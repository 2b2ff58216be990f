"""What a shell is offered on Tab, and the line that makes it ask."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from labs.c_kernels import catalogue
from labs.commands.cli import main
from labs.commands.command_line import START_FILES
from labs.course import lab_names
from labs.run import broken
from labs.terminal import offered_files, offered_folders
from support.paths import REPOSITORY
from support.programs import call

#: What takes long to import; a person waits for a completion.
HEAVY = ("numpy", "matplotlib", "pydantic", "psutil", "asyncio", "nbgrader", "jinja2", "IPython")


def offered(line: str, folder: Path) -> list[str]:
    """What argcomplete answers the shell for this line, by its own environment variables."""
    answer = folder / "answer"
    asked = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_TYPE": "9",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    module = f"{line.split()[0]}.commands.cli"
    words = (sys.executable, "-X", "importtime", "-m", module)
    done = call(*words, env=asked, check=True, cwd=folder)
    imported = {each.rpartition("|")[2].strip() for each in done.stderr.splitlines()}
    assert "argcomplete" in imported and not imported & set(HEAVY)
    assert done.stdout == ""
    return answer.read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("labs mea", ["measure"]),
        ("labs measure ", [*catalogue.names(), "mine.c", "recordings/"]),
        (
            "labs measure system_call --variant getppid,getpi",
            ["getppid,getpid", "getppid,getpid-libc"],
        ),
        ("labs measure system_call --save recordings/", ["recordings/fenced.csv"]),
        ("labs broken cached", ["cached_getpid"]),
        ("labs hint 03-system-call ", ["vdso", "ratio", "own", "conclude", "report"]),
        ("labs list --", ["--help", "--broken", "--labs", "--json"]),
        ("grader che", ["check"]),
        ("grader check --lab ", list(lab_names.labs())),
    ],
)
def test_what_a_shell_is_offered(line: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.c").touch()
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "fenced.csv").touch()
    assert sorted(offered(line, tmp_path)) == sorted(expected)


def test_all_that_can_be_completed_is_there() -> None:
    assert "cached_getpid" in broken.names() and "getpid-libc" in catalogue.variants_of(
        "system_call"
    )
    assert catalogue.variants_of("sundial") == () and lab_names.topics_of("99-none") == ()


def test_files_and_folders_are_offered_as_they_are_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "b.c", ".hidden.csv", "sub/c.csv"):
        (tmp_path / name).touch()
    assert offered_files(".csv")(prefix="") == ["a.csv", "sub/"]
    assert offered_files(".csv")(prefix="./su") == ["./a.csv", "./sub/"]
    assert offered_files(".csv")(prefix="~/sub/") == ["~/sub/c.csv"]
    assert offered_folders(prefix="") == ["sub/"]
    assert offered_folders(prefix="nowhere/x") == []


@pytest.mark.parametrize("shell", START_FILES)
def test_the_line_for_a_shell_names_a_program_that_is_there(
    shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 1 and not printed.err
    words = shlex.split(printed.out.replace('"$(', " ").replace(')"', " "))
    (program,) = (word for word in words if "register-python-argcomplete" in word)
    assert shutil.which(program)
    assert words[words.index("--shell") + 1] == shell
    assert {"labs", "grader"} <= set(words)


def test_bash_knows_both_commands_after_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    line = capsys.readouterr().out
    bash = ["bash", "--norc", "-c", f"{line}\ncomplete -p labs grader"]
    done = call(*bash, check=True, timeout=60)
    known = done.stdout.splitlines()
    assert [each.split()[-1] for each in known] == ["labs", "grader"]
    assert all("_python_argcomplete" in each for each in known)
