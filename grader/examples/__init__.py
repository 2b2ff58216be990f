"""One example of each pitfall: a figure with the mistake, and one close to it without.

They are the lab folders with which the catalogue is tested. The site and the notebook show them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from grader.figures import figure_named
from grader.figures.spec import CHOICE, FigureSpec
from grader.figures.verdict import Finding, Outcome, Verdict
from grader.judging.lab_folder import check_folder, check_handed_in, lab_of
from grader.pitfalls import CATALOGUE
from labs.course import figures
from labs.course.figures import BadFigures, Figure
from labs.files import write_atomically
from labs.html import filled
from labs.plots.figure_svg import Drawing, evidence_drawing
from labs.recording.file import BadRecording, Recording, read
from labs.results.result import Result, result_of
from labs.units import in_four_digits, with_unit

_REPOSITORY = Path(__file__).resolve().parent.parent.parent
#: The lab folders with which the catalogue is tested; only the repository has them.
SAVED = _REPOSITORY / "tests" / "fixtures" / "pitfalls"


@dataclass(frozen=True)
class Submission:
    """One figure of a saved lab folder: what was handed in, and what the check says of it.

    `figure` is None if nothing readable was handed in. `path` is that of its recording, or None;
    for a relation between figures, it is that of the first one, and `of` is what the lab asks for
    there.
    """

    verdict: Verdict
    spec: FigureSpec
    figure: Figure | None
    path: Path | None
    of: FigureSpec

    @property
    def handed_in(self) -> str:
        """The figure as it was handed in; '' if there is none, or if it is a conclusion."""
        if self.figure is None or self.figure.unit == CHOICE:
            return ""
        return with_unit(in_four_digits(self.figure.value), self.figure.unit)

    @functools.cached_property
    def recording(self) -> Recording | None:
        """The recording of the figure; None if there is none, or it cannot be read."""
        if self.path is None:
            return None
        try:
            return read(self.path)
        except (BadRecording, OSError):
            return None

    @property
    def variant(self) -> str:
        """The variant whose samples show the figure best."""
        return self.of.variant if self.of.variants else ""

    @functools.cached_property
    def result(self) -> Result | None:
        """What the kit computes from the recording; None if it is of something else."""
        if self.recording is None or self.variant not in self.recording.variants:
            return None
        try:
            return result_of(self.recording, self.variant, "ns")
        except BadRecording:
            return None

    @property
    def gives(self) -> str:
        """The result in one sentence; '' without one."""
        return "" if self.result is None else self.result.sentence()

    def drawn(self) -> Drawing | None:
        """The plot of its evidence; None if there is nothing to draw."""
        if self.recording is None or self.result is None:
            return None
        return evidence_drawing(self.recording, self.variant)


@dataclass(frozen=True)
class Example:
    """A pitfall in real data: `shows` has the mistake and `near` is close to it and right.

    `finding` is what the check says of the first.
    """

    finding: Finding
    shows: Submission
    near: Submission

    @property
    def same_samples(self) -> bool:
        """Whether both figures were taken from the same samples: the mistake is not in them."""
        pair = (self.shows.recording, self.near.recording)
        if any(each is None for each in pair):
            return False
        stated = [each.conditions.get("samples.sha256") for each in pair if each is not None]
        return stated[0] is not None and stated[0] == stated[1]


@functools.lru_cache(maxsize=256)
def example_of(code: str) -> Example | None:
    """The example of the pitfall `code`; None if there is none."""
    for wrong in sorted((SAVED / code).glob("wrong*")):
        found = _with_finding(wrong, code)
        if found is None:
            continue
        near = _near(SAVED / code / "near", found[1].spec)
        if near is not None:
            return Example(found[0], found[1], near)
    return None


def _with_finding(wrong: Path, code: str) -> tuple[Finding, Submission] | None:
    """The first figure in the lab folder `wrong` with the finding `code`.

    What gives an answer away is found only after the lab was handed in.
    """
    for check in (check_folder, check_handed_in):
        for verdict in check(wrong, lab_of(wrong)):
            for finding in verdict.findings:
                if finding.code == code:
                    return finding, _submission(wrong, verdict)
    return None


def _near(near: Path, like: FigureSpec) -> Submission | None:
    """The passed figure in the lab folder `near` that is most like `like`."""
    if not near.is_dir():
        return None
    passed = [each for each in check_folder(near, lab_of(near)) if each.outcome is Outcome.PASSED]
    if not passed:
        return None

    def unlike(verdict: Verdict) -> tuple[bool, bool]:
        return verdict.figure != like.id, figure_named(verdict.figure).kernel != like.kernel

    return _submission(near, min(passed, key=unlike))


def _submission(folder: Path, verdict: Verdict) -> Submission:
    spec = figure_named(verdict.figure)
    try:
        handed_in = figures.read(folder)
    except BadFigures:
        handed_in = {}
    stated = handed_in.get(verdict.figure)
    figure = stated if isinstance(stated, Figure) else None
    of, name = spec, verdict.recording or _named(figure)
    if spec.of:
        of, name = figure_named(spec.of[0]), _named(handed_in.get(spec.of[0]))
    path = folder / name if name and (folder / name).is_file() else None
    return Submission(verdict, spec, figure, path, of)


def _named(figure: object) -> str | None:
    """The recording that a figure names."""
    return figure.recording if isinstance(figure, Figure) else None


# An example of a pitfall for a verdict in a notebook: two plots that its reader can unfold.
#
# A wheel holds these pieces ready made, because the lab folders behind them hold solutions. In the
# repository they are made when they are asked for. `python -m grader.examples FOLDER` makes all.

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
