"""An example of a pitfall for a verdict in a notebook: two plots that its reader can unfold.

A wheel holds these pieces ready made, because the lab folders behind them hold solutions. In the
repository they are made when they are asked for. `python -m grader.examples FOLDER` makes all.
"""

from __future__ import annotations

import functools
from pathlib import Path

from grader.cases.verdict import Verdict
from grader.examples.example import example_of
from grader.pitfalls import CATALOGUE
from labs.common.files import write_atomically
from labs.common.html import filled

_TEMPLATE = Path(__file__).with_name("in_place.html.jinja")
#: Where a wheel has them.
_MADE = Path(__file__).with_name("made")


@functools.lru_cache(maxsize=32)
def in_place(code: str) -> str:
    """HTML that shows the pitfall `code` in a real recording; '' where a plot does not show it."""
    made = _MADE / f"{code}.html"
    if made.is_file():
        return made.read_text(encoding="utf-8")
    return "" if _MADE.is_dir() else _drawn(code)


def of_findings(verdict: Verdict) -> dict[str, str]:
    """By code, what there is to unfold below the findings of `verdict`."""
    found = ((finding.code, in_place(finding.code)) for finding in verdict.findings)
    return {code: html for code, html in found if html}


def write(folder: Path) -> int:
    """Write the pieces of all pitfalls into `folder`; returns how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = {pitfall.code: _drawn(pitfall.code) for pitfall in CATALOGUE}
    written = {code: html for code, html in pieces.items() if html}
    for code, html in written.items():
        write_atomically(folder / f"{code}.html", html.encode())
    return len(written)


def _drawn(code: str) -> str:
    gives_away = any(each.code == code and each.tells_answer for each in CATALOGUE)
    example = None if gives_away else example_of(code)
    # A plot does not show the mistake if both have the same samples. Nor does it if the figure
    # follows from others: the plot would draw the samples of one of these only.
    if example is None or example.same_samples or example.shows.spec.of:
        return ""
    halves = []
    for title, of in (("With the mistake.", example.shows), ("Without it.", example.near)):
        drawn = of.drawn()
        if drawn is None:
            return ""
        # The evidence speaks to the one who handed it in.
        words = f"The check said: “{example.finding.evidence}”" if of is example.shows else of.gives
        halves.append((title, words, drawn))
    return filled(_TEMPLATE, halves=halves, width=480)
