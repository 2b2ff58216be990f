"""`grader check` and the check in a notebook say the same words about the same folder."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from grader import examples
from grader.check_folders import check
from grader.commands.cli import main
from grader.judging.lab_folder import lab_of
from labs.course import figures
from labs.terminal import typeset
from support.paths import FIXTURES

#: What is near a pitfall and right is told as an honest lab is.
FOLDERS = sorted(
    path.parent
    for below in ("pitfalls/*/wrong*", "honest/*")
    for path in FIXTURES.glob(f"{below}/figures.json")
)

#: What only one of the two forms has: marks of findings, and labels in front of their parts.
_LABELS = re.compile(
    r"\[[a-z0-9-]+\] |(In your data|Likely|To decide|Made and repaired|Look next|look at):? "
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_the_notebook_says_what_the_command_says(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a page has to unfold is drawn in `test_examples_in_place.py`; here are the words of both.
    monkeypatch.setattr(examples, "of_findings", lambda _: {})
    main(["check", str(folder), "--lab", lab_of(folder)])
    all_shown = [check(figure, folder) for figure in figures.read(folder)]
    printed = capsys.readouterr().out
    for shown in all_shown:
        told = typeset(repr(shown))
        assert told in printed
        page = shown._repr_html_()
        codes = re.findall(r"</strong> <code>([a-z0-9-]+)</code>", page)
        assert codes == re.findall(r"^  \[([a-z0-9-]+)\]", told, re.MULTILINE)
        in_page = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
        for line in told.splitlines():
            said = _LABELS.split(line)[-1].replace("`", "")  # code in a page is an element
            assert re.sub(r"\s", "", said) in re.sub(r"\s", "", in_page)
