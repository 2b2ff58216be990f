"""The right recording and the wrong number: another one of it, or a slip on the way from it."""

from __future__ import annotations

from grader.cases.case import Case, is_rounded
from grader.cases.spec import Quantity
from grader.cases.verdict import Finding, Level
from grader.facts import traps
from grader.facts.other_numbers import TWO_SLIPS, Rank, told_by, way_to
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall, pitfall


@pitfall(
    level=Level.INTERPRETATION,
    symptom="The figure is another number of the same run.",
    misconception="A run shows many numbers.",
    experiment="Find the row of what the lab asks for.",
    seen_in="common where a number is copied from a table",
    explains=MistakeKind.CONTENTS,
    yields_to=(
        *("cost-of-many-for-one", "loop-counted-along", "read-and-write-counted-along"),
        *("step-assumed-one", "timer-not-subtracted", "two-results-for-one", "unclear-divisor"),
        "work-counted-as-timer",
    ),
)
def another_number_of_the_run(case: Case) -> str | None:
    """A number of the same run, but not the one that the lab asks for."""
    return told_by(case, another_number_of_the_run.code)


@pitfall(
    level=Level.INTERPRETATION,
    symptom="The numbers are right, but the arithmetic is wrong.",
    misconception="Each number of a formula stands for something in the sample.",
    experiment="Write the formula with names first, then with numbers.",
    seen_in="report A: half of a sum less a whole; two digits swapped in its tables",
    explains=MistakeKind.REDUCTION,
)
def arithmetic_slip(case: Case) -> str | None:
    """A slip in the arithmetic: a wrong divisor or subtrahend, a whole column, swapped digits."""
    return told_by(case, arithmetic_slip.code)


@pitfall(
    level=Level.INTERPRETATION,
    symptom="The figure is the time of many operations, not of one.",
    misconception="A sample holds many operations, and one round of a loop may hold several.",
    experiment="Double the operations in a sample: a total doubles.",
    seen_in="common where a loop is unrolled, or a total is read for a mean",
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    # With calls that cost half a switch, a round trip is three switches.
    yields_to=("read-and-write-counted-along", "two-results-for-one"),
    broken=(Live("four_calls_for_one", "system-call-getppid"),),
)
def cost_of_many_for_one(case: Case) -> str | None:
    """The time of many operations, handed in as that of one: the divisor is forgotten."""
    if case.spec.quantity not in (Quantity.COST, Quantity.WHOLE) or case.submitted is None:
        return None
    return _several_claimed(case) if case.right else told_by(case, cost_of_many_for_one.code)


def _several_claimed(case: Case) -> str | None:
    """One round makes several system calls, and the figure is that of a round."""
    if case.spec.kernel not in traps.KERNELS:
        return None
    for name, result, claimed in traps.claiming(case):
        each = claimed / (result.net.parts if result.net is not None else 1)
        if each >= 2:
            return (
                f"Your variant {name} states that one round makes {claimed:g} system calls; "
                f"{case.as_submitted()} is the time of one round."
            )
    return None


#: A factor between two clocks is some number between a half and four. So is the quotient of many
#: pairs of numbers in a recording: the digits alone do not tell a clock from such a pair.
OF_CLOCKS = ("cycles-for-nanoseconds", "cycles-for-ticks", "nominal-clock", "ticks-for-nanoseconds")
#: Numbers that a run makes of several: another row may hold the same.
OF_SEVERAL = ("loop-counted-along", "minimum-taken")
OF_NUMBERS = (MistakeKind.CONTENTS, MistakeKind.REDUCTION)


@pitfall(
    level=Level.INTERPRETATION,
    symptom="Two slips lead to this number.",
    misconception="A number can fit without being the cause.",
    experiment="Compute both to six digits: your figure is only one of them.",
    seen_in="a percentile that was 2.6 times the figure, on a counter of 2.6 GHz",
    explains=MistakeKind.FACTOR,
)
def one_of_two_slips(case: Case) -> str | None:
    """A value that two slips explain alike: the grader names both."""
    return told_by(case, TWO_SLIPS)


def of_clock_and_number(case: Case, found: list[tuple[Pitfall, Finding]]) -> Finding | None:
    """The finding if a clock and a number of the recording explain the figure.

    A value that is a number of the recording, and is only near what a clock makes of the right one,
    is that number.
    """
    clock = next((each for each in found if each[0].code in OF_CLOCKS), None)
    number = next((each for each in found if each[0].explains in OF_NUMBERS), None)
    if clock is None or number is None:
        return None
    way = way_to(case)
    fits = way is not None and is_rounded(case, way.number)
    return _two(number[1].evidence, clock[0]) if fits else number[1]


def with_known(case: Case, found: tuple[Pitfall, Finding], known: str) -> Finding | None:
    """The finding if the figure is also a `known` number elsewhere, such as another row; None if
    that is the plainer explanation.
    """
    pitfall, finding = found
    if pitfall.code in OF_SEVERAL:
        evidence = finding.evidence.split(" It should be ")[0]
        return one_of_two_slips.finding(f"{evidence} Or: {known[0].lower()}{known[1:]}")
    way = way_to(case)
    if way is None or way.code != pitfall.code or way.rank < Rank.READING:
        return finding
    if known.removeprefix("What you gave is ").rstrip(".") in way.what:
        return finding  # the same row
    if way.rank > Rank.READING or not is_rounded(case, way.number):
        return None
    return _two(f"You gave {case.as_submitted()}. {known}", pitfall)


def _two(evidence: str, other: Pitfall) -> Finding:
    symptom = other.symptom.removesuffix(".")
    return one_of_two_slips.finding(f"{evidence} Or: {symptom[0].lower()}{symptom[1:]}.")
