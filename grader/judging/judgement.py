"""What the check of one submission gives, as plain data that passes between processes as JSON.

A judgement holds the verdicts and how they look. It is never pickled: reading it runs nothing.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from grader.cases.verdict import Finding, Level, Outcome, Verdict
from labs.common.html import inline
from labs.common.limits import MOST_PLOT_BYTES, MOST_SHOWN

#: The reason of a submission whose check reached the limit of memory.
NO_MEMORY = "the check needed more memory than it may use; a person must look at this submission"


class Presenter(Protocol):
    """The functions that present a verdict: :mod:`grader.judging.presentation`."""

    def as_text(self, verdict: Verdict) -> str: ...

    def as_html(self, verdict: Verdict) -> str: ...

    def plot_png(self, verdict: Verdict, folder: Path) -> bytes | None: ...


@dataclass(frozen=True)
class Shown:
    """A verdict as text, as HTML, and the plot of its recording as PNG if there is one."""

    text: str
    page: str
    png: bytes | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdicts on one submission. `shown` has an entry for each figure if it was asked for.

    `evidence` is the page that a person sees below free texts. `log` tells an instructor what went
    wrong in our own code.
    """

    verdicts: tuple[Verdict, ...]
    shown: dict[str, Shown] = field(default_factory=dict)
    evidence: str = ""
    log: str = ""


@dataclass(frozen=True)
class NotGraded:
    """Why a submission as a whole could not be judged; never a zero."""

    reason: str
    log: str = ""


def shown(verdict: Verdict, presenter: Presenter | None, folder: Path | None = None) -> Shown:
    """`verdict` as `presenter` shows it, with a plot if `folder` is given; else one plain sentence.

    The plain sentence also replaces a text that is too long. Raises what the presenter raises.
    """
    plain = f"{verdict.figure}: {verdict.in_words}. {verdict.reason}"[:MOST_SHOWN]
    text, page = plain, inline("<p>{{ words }}</p>", words=plain)
    if presenter is None:
        return Shown(text, page)
    styled = presenter.as_text(verdict), presenter.as_html(verdict)
    if max(map(len, styled)) <= MOST_SHOWN:
        text, page = styled
    png = presenter.plot_png(verdict, folder) if folder is not None else None
    return Shown(text, page, png if png and len(png) <= MOST_PLOT_BYTES else None)


def as_json(judged: Judgement | NotGraded) -> bytes:
    """`judged` as JSON; :func:`from_json` is its inverse."""
    stated = dict(vars(judged))
    if isinstance(judged, Judgement):
        stated["verdicts"] = [each.plain() for each in judged.verdicts]
        stated["shown"] = {name: _stated(each) for name, each in judged.shown.items()}
    return json.dumps(stated).encode("ascii")


def _stated(view: Shown) -> dict[str, Any]:
    png = base64.b64encode(view.png).decode("ascii") if view.png else None
    return {**vars(view), "png": png}


def from_json(content: bytes) -> Judgement | NotGraded:
    """The judgement in `content`. Raises ValueError if it holds none."""
    try:
        stated = json.loads(content)
        if "reason" in stated:
            return NotGraded(str(stated["reason"]), str(stated["log"]))
        return Judgement(
            tuple(verdict_from(each) for each in stated["verdicts"]),
            {name: _shown(each) for name, each in stated["shown"].items()},
            str(stated["evidence"]),
            str(stated["log"]),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no judgement: {error!r}") from error


def verdict_from(stated: dict[str, Any]) -> Verdict:
    """The verdict whose plain form went through JSON. Raises KeyError, TypeError or ValueError."""
    levels = {Level(name): (pair[0], pair[1]) for name, pair in stated["levels"].items()}
    findings = tuple(
        Finding(**{**each, "level": Level(each["level"])}) for each in stated["findings"]
    )
    return Verdict(
        **{
            **stated,
            "outcome": Outcome(stated["outcome"]),
            "levels": levels,
            "findings": findings,
            "flags": tuple(stated["flags"]),
            "fingerprints": tuple(stated["fingerprints"]),
        }
    )


def _shown(stated: dict[str, Any]) -> Shown:
    png = stated["png"]
    return Shown(stated["text"], stated["page"], base64.b64decode(png) if png else None)
