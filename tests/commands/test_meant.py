"""A word that nobody knows is answered with the word that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import grader.commands.cli
import labs.commands.cli
from labs.terminal import meant, suggestion

LABS, GRADER = labs.commands.cli.main, grader.commands.cli.main


@pytest.mark.parametrize(
    ("main", "words", "said"),
    [
        (LABS, ("mesure", "timer_overhead"), "did you mean measure?"),
        (LABS, ("survay",), "did you mean survey?"),
        (LABS, ("measure", "timer_overhed"), "did you mean timer_overhead?"),
        (LABS, ("measure", "timer_overhead", "--varient", "fenced"), "did you mean --variant?"),
        (LABS, ("measure", "timer_overhead", "--sampels=5"), "did you mean --samples?"),
        (LABS, ("measure", "timer_overhead", "--variant", "fencd"), "Did you mean fenced? It has"),
        (LABS, ("broken", "cached_getpit"), "did you mean cached_getpid?"),
        (LABS, ("completion", "bsh"), "did you mean bash?"),
        (LABS, ("doctor", "--jsn"), "did you mean --json?"),
        (GRADER, ("autograd", "01"), "did you mean autograde?"),
        (GRADER, ("export", "01", "--cvs", "x"), "--csv"),
        (GRADER, ("rerun", "03-sytem-call", "anna"), "did you mean 03-system-call?"),
        (
            GRADER,
            ("rerun", "03-system-call", "anna", "--figure", "system-call-getpid"),
            "did you mean system-call-getppid?",
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_was_meant_is_said(
    main: object, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(list(words))  # type: ignore[operator]
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    printed = capsys.readouterr()
    assert said in printed.err and not printed.out
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("command", ["autograde", "feedback", "export", "report"])
def test_a_misspelt_lab_of_a_course(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source" / "lab-of-caches").mkdir(parents=True)
    more = ("--csv", "x.csv") if command == "export" else ()
    with pytest.raises(SystemExit) as ended:
        GRADER([command, "lab-of-cachs", *more, "--course", str(tmp_path)])
    assert ended.value.code == 2
    assert "no lab 'lab-of-cachs' in this course: did you mean lab-of-caches?" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("main", "command", "status"),
    [(LABS, "hand-in", 2), (LABS, "watch", 2), (GRADER, "check", 2)],
    ids=["hand-in", "watch", "check"],
)
def test_a_misspelt_folder(
    main: object, command: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "01-timer-overhead").mkdir()
    asked = tmp_path / "01-timer-overhed"
    assert main([command, str(asked)]) == status  # type: ignore[operator]
    assert f": did you mean {tmp_path / '01-timer-overhead'}?\n" in capsys.readouterr().err


def test_a_misspelt_folder_of_labs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ticklab-labs").mkdir()
    assert LABS(["progress", str(tmp_path / "ticklab-lab")]) == 1
    assert f": did you mean {tmp_path / 'ticklab-labs'}?\n" in capsys.readouterr().err


def test_a_word_like_none_is_answered_with_all_there_are_if_they_are_few() -> None:
    assert suggestion("zzz", ("one", "two")) == "; there is one, two."
    many = tuple(f"name-{n}" for n in range(90))
    assert suggestion("zzz", many) == "; there are 90, such as name-0, name-1, name-2."


def test_a_word_without_end_is_compared_in_no_time() -> None:
    assert meant("x" * 10_000_000, [f"name-{n}" for n in range(90)]) == ""


def test_what_is_too_much_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        LABS(["doctor", "now"])
    assert capsys.readouterr().err == (
        "labs doctor: 'now' is too much; `labs doctor --help` shows what may be given\n"
    )
