"""The check as a student calls it in a notebook: the very same as the grader's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.evidence import check_folder
from grader.figures import figure_named
from grader.present import as_html, as_text
from grader.verdict import Verdict


@dataclass(frozen=True)
class Shown:
    """A verdict that shows itself: HTML in a notebook, text elsewhere."""

    verdict: Verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return as_html(self.verdict)


def check(figure: str, folder: Path | str = ".") -> Shown:
    """The verdict on one figure of the lab folder `folder`, as the grader will give it.

    Raises KeyError for an id that no lab has, naming those there are.
    """
    spec = figure_named(figure)
    verdicts = check_folder(Path(folder), spec.lab)
    return Shown(next(verdict for verdict in verdicts if verdict.figure == figure))
