"""An overhead that was measured elsewhere: subtracted in the C, or handed in."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts.c.readings import subtracted_constant
from grader.facts.observed import reads_the_counter
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.common.units import UnknownUnit, canonical, rounded

#: The overhead of report A, in cycles: it stands in its published source.
PUBLISHED = 28.5

#: The pair of readings cannot cost less than this share of the fenced pair timed in the same run.
LEAST_SHARE = 0.3


def detect(case: Case) -> str | None:
    if case.others or not case.spec.is_time:
        return None
    if _is_published(case):
        return (
            f"You gave {case.as_submitted()}; your recording gives "
            f"{case.accepted_values[0].as_text()}. {PUBLISHED} cycles is the constant "
            "that report A subtracts."
        )
    if case.accepted_values and not case.right:
        return None
    constant = subtracted_constant(case.source) if case.source else None
    if constant is not None:
        return (
            f"Your C subtracts the constant {constant} from every sample; the pair of readings "
            f"took {rounded(case.recording.number('counter.overhead') or 0)} ticks in this very "
            "run."
        )
    # A C that subtracts no constant has another reason (clock-read-too-early).
    return too_little_left(case) if case.source is None else None


def _is_published(case: Case) -> bool:
    try:
        unit = canonical(case.figure.unit)
    except UnknownUnit:
        return False
    return (
        case.spec.quantity is Quantity.OVERHEAD
        and bool(case.accepted_values)
        and not case.right
        and unit in ("ticks", "cycles")
        and case.figure.value == PUBLISHED
    )


def too_little_left(case: Case) -> str | None:
    """A pair that costs nothing, or far less than the fenced pair of the same run."""
    line, fenced = case.result.line, case.recording.number("counter.overhead")
    if case.spec.quantity is not Quantity.OVERHEAD or line is None or not line.straight:
        return None
    if not fenced or not reads_the_counter(case.recording, case.spec.variant):
        return None
    pair = line.overhead
    below_nothing = pair.value + 3 * pair.half_width < 0
    if not below_nothing and pair.high >= LEAST_SHARE * fenced - 2 * line.clock.step:
        return None
    return (
        f"Your line gives {rounded(pair.value)} ticks for the pair of readings; a fenced pair took "
        f"{rounded(fenced)} in the same run."
    )


PITFALL = Pitfall(
    code="stale-constant",
    level=Level.VALIDITY,
    symptom="The overhead that was subtracted or handed in is not this run's own.",
    misconception="The overhead of a clock belongs to one machine and one run, as any other figure "
    "does.",
    experiment="Measure the empty sample in the same run, or take the slope, which needs none.",
    seen_in="report A: 28.5 cycles of one machine subtracted on all four",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(
        Live("stale_constant", "timer-overhead-fenced"),
        Live("stale_constant_of_calls", "call-args0"),
    ),
)
