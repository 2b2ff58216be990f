"""How many values that follow from nothing are given a cause: a finding must not be a guess.

Each value is drawn at random: within a factor of 1,000 of the right one to either side, evenly by
its logarithm, rounded to one to six digits or not at all, in any unit that the figure may have.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.report import must_hold, say, verdict
from grader.evidence.sources import source_of
from grader.figures import LABS
from grader.figures.case import Case
from grader.figures.spec import CHOICE, TIMES, FigureSpec
from grader.figures.verdict import Finding, Outcome
from grader.judging.check import judge, open_case, open_relation
from grader.judging.lab_folder import Elsewhere
from grader.pitfalls.recordings import figure_not_from_recording
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from labs.units import canonical
from support.paths import FIXTURES

#: How many of a hundred wrong values may get a cause.
MOST_NAMED = 2.0
#: The random values reach so many powers of ten to either side of the right one.
DECADES = 3.0
#: Zero stands for a value with all its digits, as a program prints it.
DIGITS = (1, 2, 3, 4, 5, 6, 0)
UNITS = ("ns", "us", "ms", "ticks", "cycles")
SEED = 1


@dataclass(frozen=True)
class Asked:
    """A figure of an honest submission, and the case that `opened` makes of another value of it."""

    spec: FigureSpec
    figure: Figure
    clock_of: Case
    opened: Callable[[Figure], Case | Finding]
    elsewhere: Elsewhere


@dataclass(frozen=True)
class Named:
    """A wrong value, and the cause that it was given; `cause` is empty if it got none."""

    spec: FigureSpec
    figure: Figure
    cause: str


def asked_in(folder: Path) -> list[Asked]:
    """The figures of an honest submission that are numbers; its name holds that of its lab."""
    lab = next(lab for lab in LABS if lab in folder.name)
    handed_in = {name: f for name, f in figures.read(folder).items() if isinstance(f, Figure)}
    recordings = {
        each.recording: read(folder / each.recording)
        for each in handed_in.values()
        if each.recording is not None
    }
    cases: dict[str, Case | Finding] = {}
    elsewhere = Elsewhere(folder, handed_in, recordings)
    found = []
    for spec in sorted(LABS[lab], key=lambda spec: bool(spec.of)):
        figure = handed_in.get(spec.id)
        if figure is None:
            continue
        opened = _opener(spec, recordings.get(figure.recording or ""), folder, cases)
        case = cases[spec.id] = opened(figure)
        if isinstance(case, Case) and spec.unit != CHOICE and not spec.demonstrates:
            found.append(Asked(spec, figure, case, opened, elsewhere))
    return found


def _opener(
    spec: FigureSpec,
    recording: Recording | None,
    folder: Path,
    cases: dict[str, Case | Finding],
) -> Callable[[Figure], Case | Finding]:
    if spec.of:
        return lambda figure: open_relation(spec, figure, cases)

    def with_its_recording(figure: Figure) -> Case | Finding:
        source = None
        if recording is not None:
            source = source_of(recording, (folder / (figure.recording or "")).with_suffix(".c"))
        return open_case(spec, figure, recording, source)

    return with_its_recording


def wrong_values(asked: Sequence[Asked], count: int, seed: int = SEED) -> Iterator[Named]:
    """`count` random values that are wrong, each with the cause that the grader gives it."""
    chance = random.Random(seed)
    while count > 0:
        each = asked[chance.randrange(len(asked))]
        figure = _random_figure(each, chance)
        case = each.opened(figure)
        judged = judge(each.spec, case, figure, each.elsewhere.what_it_is)
        if judged.outcome is Outcome.PASSED or not isinstance(case, Case) or case.right:
            continue  # near enough to the right value to be right
        count -= 1
        yield Named(each.spec, figure, _cause(judged.findings))


def _random_figure(asked: Asked, chance: random.Random) -> Figure:
    value = asked.figure.value * 10 ** chance.uniform(-DECADES, DECADES)
    unit = asked.figure.unit
    if asked.spec.unit != TIMES:
        clock = asked.clock_of.result.clock
        units = UNITS if clock.core_cycle_ticks else UNITS[:-1]
        unit = chance.choice(units)
        value = clock.convert(value, canonical(asked.figure.unit), unit)
    digits = chance.choice(DIGITS)
    return replace(asked.figure, value=float(f"{value:.{digits}g}") if digits else value, unit=unit)


def _cause(findings: Sequence[Finding]) -> str:
    for finding in findings:
        if finding.code != figure_not_from_recording.code:
            return finding.code
        if "What you gave is" in finding.evidence:
            return "value of something else"
    return ""


def folders() -> list[Path]:
    """Every honest submission that is saved with the tests."""
    saved = [*(FIXTURES / "honest").iterdir(), *(FIXTURES / "honest_runs").iterdir()]
    return sorted(each for each in saved if any(lab in each.name for lab in LABS))


def run(quick: bool) -> bool:
    """Whether random values get a cause as rarely as they must."""
    must_hold(f"at most {MOST_NAMED:g} % of random wrong values are given a cause")
    asked = [each for folder in folders() for each in asked_in(folder)]
    tried = list(wrong_values(asked, 200 if quick else 1000))
    named = [each for each in tried if each.cause]
    for cause, times in Counter(each.cause for each in named).most_common():
        say(f"   {times:4d} {cause}")
    share = 100 * len(named) / len(tried)
    figures_of = f"{len(named)} of {len(tried)} values ({share:.1f} %)"
    return verdict(share <= MOST_NAMED, f"{figures_of}, over {len(asked)} honest figures")
