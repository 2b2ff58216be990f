"""What a command says of a result is in the language of the reader, in a terminal too."""

from __future__ import annotations

from pathlib import Path

import pytest

from labs.commands.cli import main
from labs.languages import chosen
from labs.languages.po_file import languages
from testing.c_programs import LINUX
from testing.languages.left import left_in_english

pytestmark = pytest.mark.usefixtures("given_times")

QUICK = ("--samples", "200", "--processes", "4")
#: Names, and what the first line of a warning or of the conditions begins with.
NAMES = frozenset(("system_call", "getppid", "invalid", "loop", "warning", "Conditions"))
COMMANDS = (
    ("measure", "system_call", "--variant", "getppid,invalid", *QUICK),
    ("compare", "system_call:getppid", "system_call:invalid", *QUICK, "--replace", "0"),
)


@LINUX
@pytest.mark.parametrize("command", COMMANDS, ids=["measure", "compare"])
def test_no_line_about_a_result_stays_english(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    main([*command])
    english = capsys.readouterr().out.splitlines()
    assert any("ns" in line for line in english)
    for language in languages():
        said = [line.strip().removeprefix("warning: ") for line in english]
        assert not [part for text in said for part in left_in_english(text, language, NAMES)]
        monkeypatch.setenv(chosen.VARIABLE, language)
        main([*command])
        shown = capsys.readouterr().out.splitlines()
        assert shown and not {*english} & {line for line in shown if line.strip()}
