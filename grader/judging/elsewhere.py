"""Where in a lab folder a value is found that does not follow from its own recording.

The verdict reports it as a fact and blames no misconception: somebody handed in the value of an
earlier run, of another variant or of another figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.facts.dates import made_before
from grader.facts.same_value import variants_of_same_value
from labs.common import limits
from labs.common.units import NANOSECONDS, UnknownUnit, canonical, rounded
from labs.course.figures import RECORDINGS, BadFigure, Figure
from labs.recording.file import BadRecording, Recording, read
from labs.results.result import result_of

#: So many recordings that no figure names are looked at, each up to this size.
MOST_UNNAMED = 6
MOST_BYTES = min(1 << 21, limits.MOST_FILE_BYTES)


@dataclass(frozen=True)
class Elsewhere:
    """What else a lab folder holds: its figures by id, and the recordings that they name."""

    folder: Path
    submitted: Mapping[str, Figure | BadFigure]
    recordings: Mapping[str, Recording | BadRecording]

    def what_it_is(self, case: Case) -> str:
        """What the figure of `case` is the value of, as a sentence; '' if nothing, or several.

        A row of its own run is plainer than the same row of another run, and that plainer than the
        rest: of the first of these that there are there must be one.
        """
        if case.right or case.submitted is None or not case.spec.is_time:
            return ""
        places = [] if case.others else [self._of_own_run(case), *self._of_runs(case)]
        of_figures = (self._of_figures(case), self._of_two_figures(case))
        for place in (*places, *of_figures, self._of_baselines(case)):
            if found := list(dict.fromkeys(place)):
                return f"What you gave is {found[0]}." if len(found) == 1 else ""
        return ""

    def _of_own_run(self, case: Case) -> Iterator[str]:
        for name in variants_of_same_value(case, case.recording):
            if name not in case.spec.variants:
                yield f"the cost of {name}"

    def _of_runs(self, case: Case) -> tuple[list[str], list[str]]:
        """Where it is the same row of another run, and where it is another row of one."""
        own = case.recording
        same: list[str] = []
        different: list[str] = []
        for path, other in (*self.recordings.items(), *self._unnamed()):
            if path == case.figure.recording or not isinstance(other, Recording):
                continue
            if other.kernel != own.kernel or other.samples_sha256 == own.samples_sha256:
                continue
            which = "an earlier run" if made_before(other, own) else "another run"
            for name in variants_of_same_value(case, other):
                if name in case.spec.variants:
                    same.append(f"the value by {path}, {which}")
                else:
                    different.append(f"the cost of {name} by {path}, {which}")
        return same, different

    def _of_figures(self, case: Case) -> Iterator[str]:
        for name, figure in self.submitted.items():
            if name != case.spec.id and isinstance(figure, Figure) and _is_same(case, figure):
                yield f"your figure {name}"

    def _of_two_figures(self, case: Case) -> Iterator[str]:
        """The ratio of the two figures whose difference is asked for."""
        if case.spec.quantity is not Quantity.DIFFERENCE:
            return
        two = [self.submitted.get(name) for name in case.spec.of]
        values = [_in_ns(each) for each in two if isinstance(each, Figure)]
        for one, other in ((0, 1), (1, 0)) if len(two) == len(values) == 2 else ():
            above, below = values[one], values[other]
            if above and below and _is_as_given(case, above / below):
                names = f"{case.spec.of[one]} divided by {case.spec.of[other]}"
                yield f"{names}: that is a ratio, and a difference is asked for"

    def _of_baselines(self, case: Case) -> Iterator[str]:
        """The right value without a baseline that another run measured."""
        if case.others or case.expected is None or case.spec.quantity is not Quantity.COST:
            return
        net = case.result.net
        if net is None or net.baseline is None or net.baseline_variant is None:
            return
        name, unit = net.baseline_variant, case.spec.unit
        for path, other in (*self.recordings.items(), *self._unnamed()):
            if path == case.figure.recording or not isinstance(other, Recording):
                continue
            if other.kernel != case.recording.kernel or name not in other.variants:
                continue
            line = result_of(other, name, "ns").line
            if line is None:
                continue
            once = line.cost.into(unit, line.clock).value * net.times / net.parts
            if is_number(case, case.expected.value - once):
                yield (
                    f"{rounded(case.expected.value)} - {rounded(once)}: you subtracted what {name} "
                    f"costs by {path}, which is subtracted already"
                )

    def _unnamed(self) -> Iterator[tuple[str, Recording]]:
        """The recordings that no figure names, by path; without links and large files."""
        inside = self.folder / RECORDINGS
        try:
            # A link may lead to another student's recordings.
            paths = [] if inside.is_symlink() else sorted(inside.glob("*.csv"))
        except OSError:
            return
        named = {Path(path).name for path in self.recordings}
        for path in [each for each in paths if each.name not in named][:MOST_UNNAMED]:
            try:
                if path.is_symlink() or path.stat().st_size > MOST_BYTES:
                    continue
                yield f"{RECORDINGS}/{path.name}", read(path)
            except (BadRecording, OSError):
                continue


def _is_same(case: Case, figure: Figure) -> bool:
    """Whether the figure of `case` has the value of another `figure`, both with a unit of time."""
    try:
        mine, other = canonical(case.figure.unit), canonical(figure.unit)
    except UnknownUnit:
        return False
    if mine == other:
        factor = 1.0
    elif mine in NANOSECONDS and other in NANOSECONDS:
        factor = NANOSECONDS[other] / NANOSECONDS[mine]
    else:
        return False
    return _is_as_given(case, figure.value * factor)


def _is_as_given(case: Case, number: float) -> bool:
    """Whether the student wrote this number, whatever its unit."""
    if case.submitted is None or case.figure.value == 0:
        return False
    return is_number(case, number * case.submitted / case.figure.value)


def _in_ns(figure: Figure) -> float | None:
    """The value of a figure with a unit of time; None for another unit."""
    try:
        factor = NANOSECONDS.get(canonical(figure.unit))
    except UnknownUnit:
        return None
    return figure.value * factor if factor else None
