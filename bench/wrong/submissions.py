"""What becomes of wrong submissions: do they pass, and is the cause that is named the true one?

The list is in `bench/wrong/labs`: what students do, written without the catalogue. Every submission
is made anew: its C compiled, its runs run, its value read off. Where the machine shows no mistake,
because a wrong value comes out within the interval of the right one, there is no case.

The control: the same figures by the same runs, read off rightly. They must pass in full; a grader
that fails everything would let no wrong submission pass.

`python -m bench.wrong [LAB ...] [--case NAME] [--save DIR]` runs a part and keeps the folders.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.honest.figures import CannotMeasure, concluded, estimate_of, read_off
from bench.report import must_hold, say, verdict
from bench.wrong.case import Lab
from bench.wrong.labs import LABS
from bench.wrong.laid import Laid, lay
from bench.wrong.naming import Judged, Naming, judged
from bench.wrong.student import Shelf, Student
from grader.figures import figures_of
from grader.figures.verdict import Outcome, Verdict
from grader.judging.lab_folder import check_folder
from labs.analysis.confidence import Estimate

LEAST, LEAST_OF_LAB = 200, 20
MOST_PASSED, LEAST_NAMED, MOST_MISNAMED = 0.03, 0.85, 0.03
LEAST_CONTROLS = 0.95  # of the same figures read off rightly, in full

QUICK = 5  # of so many cases one


def run(quick: bool, numbers: Sequence[str] = ()) -> bool:
    """All labs in turn, or those with these numbers, which need not make up so many cases."""
    labs = [lab for lab in LABS if not numbers or lab.lab[:2] in numbers]
    must_hold(
        f"of {LEAST} wrong submissions, {LEAST_OF_LAB} or more a lab, at least "
        f"{1 - MOST_PASSED:.0%} do not get full marks, at least {LEAST_NAMED:.0%} are named truly, "
        f"at most {MOST_MISNAMED:.0%} are misnamed"
    )
    every, controls = [], []
    with tempfile.TemporaryDirectory() as folder:
        for lab in labs:
            cases, right = of_lab(lab, Path(folder), quick=quick)
            every += cases
            controls += right
    return _in_all(every, controls, labs, quick=quick)


def of_lab(
    lab: Lab, below: Path, *, only: str = "", quick: bool = False
) -> tuple[list[Judged], list[bool]]:
    """Lay and judge the cases of one lab, and print each with its result.

    Returns the cases, and for each figure of the control whether it passes in full.
    """
    say(f"   {lab.lab}")
    shelf = Shelf(lab.runs)
    controls = [] if only else _control(lab, shelf, below)
    cases = lab.cases[::QUICK] if quick else lab.cases
    cases = [case for case in cases if only in ("", case.name)]
    found = list(_judged(lay(replace(lab, cases=cases), shelf, below)))
    _sum_up(found, f"{lab.lab}:")
    return found, controls


def _right_figures(lab: Lab, shelf: Shelf, folder: Path) -> tuple[list[Verdict], list[str]]:
    """The verdicts on every figure of a lab, handed in rightly, and what could not be handed in."""
    student, chance = Student(folder, shelf), random.Random(lab.lab)
    operands: dict[str, Estimate] = {}
    handed_in, left_out = [], []
    for spec in sorted(figures_of(lab.lab), key=lambda spec: bool(spec.of)):
        run = None
        try:
            if spec.of:
                value, unit = concluded(spec, tuple(operands[each] for each in spec.of))
            else:
                run = student[lab.right[spec.id]]
                value, unit = read_off(spec, run.recording, chance)
                operands[spec.id] = estimate_of(spec, run.recording)
        except CannotMeasure as why:
            left_out.append(f"{spec.id}: {why}")
            continue
        except KeyError as missing:
            left_out.append(f"{spec.id}: {missing} is left out")
            continue
        student.figure(spec.id, value, unit, run)
        handed_in.append(spec.id)
    verdicts = check_folder(folder, lab.lab)
    return [each for each in verdicts if each.figure in handed_in], left_out


def _control(lab: Lab, shelf: Shelf, below: Path) -> list[bool]:
    folder = below / lab.lab / "control"
    (folder / "recordings").mkdir(parents=True)
    verdicts, left_out = _right_figures(lab, shelf, folder)
    full = [each.outcome is Outcome.PASSED and each.points >= each.max_points for each in verdicts]
    say(f"      control: {sum(full)} of {len(full)} figures read off rightly pass in full")
    for each, passed in zip(verdicts, full, strict=True):
        if not passed:
            words = [f"{finding.code}: {finding.evidence}" for finding in each.findings]
            say(f"         {each.figure}: {'; '.join(words) or each.reason}")
    for why in left_out:
        say(f"         no figure here: {why}")
    return full


def _judged(every: Iterable[Laid]) -> Iterator[Judged]:
    for laid in every:
        if laid.no_case:
            say(f"      {laid.case.name:<32}{'no case here':<16}{laid.no_case}")
            continue
        result = judged(laid, verdict_on(laid))
        say(f"      {laid.case.name:<32}{result.naming.value:<16}{laid.case.cause}")
        if result.naming in (Naming.PASSED, Naming.MISNAMED):
            say(f"         {laid.case.figure}: {result.words}")
        yield result


def verdict_on(laid: Laid) -> Verdict | None:
    """The verdict on the case's figure; None if the kit refused the run."""
    if laid.refused:
        return None
    verdicts = {each.figure: each for each in check_folder(laid.folder, laid.lab)}
    return verdicts[laid.case.figure]


def _sum_up(every: list[Judged], what: str) -> None:
    counts = Counter(each.naming for each in every)
    of_each = ", ".join(f"{counts[naming]} {naming.value}" for naming in Naming)
    say(f"   {what} {len(every)} cases, {of_each}")
    plain = sum(each.plain for each in every)
    say(f"      named, because not to follow from the recording is the cause: {plain}")


def _in_all(every: list[Judged], controls: list[bool], labs: Sequence[Lab], *, quick: bool) -> bool:
    _sum_up(every, "in all:")
    counts = Counter(each.naming for each in every)
    shares = {naming: counts[naming] / max(len(every), 1) for naming in Naming}
    fewest = min(Counter({lab.lab: 0 for lab in labs} | _by_lab(every)).values(), default=0)
    least = LEAST if len(labs) == len(LABS) else LEAST_OF_LAB
    enough = quick or (len(every) >= least and fewest >= LEAST_OF_LAB)
    return verdict(
        enough
        and sum(controls) >= LEAST_CONTROLS * len(controls)
        and shares[Naming.PASSED] <= MOST_PASSED
        and shares[Naming.NAMED] >= LEAST_NAMED
        and shares[Naming.MISNAMED] <= MOST_MISNAMED,
        f"of {len(every)}, {fewest} or more a lab, {1 - shares[Naming.PASSED]:.1%} without full "
        f"marks, {shares[Naming.NAMED]:.1%} named truly, {shares[Naming.MISNAMED]:.1%} misnamed; "
        f"of {len(controls)} right ones {sum(controls)} in full",
    )


def _by_lab(every: list[Judged]) -> dict[str, int]:
    return dict(Counter(each.laid.lab for each in every))
