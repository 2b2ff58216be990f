"""The right recording and the wrong number: another one of it, or a slip on the way from it."""

from __future__ import annotations

import math
from dataclasses import replace

from grader.cases.case import FEWEST_DIGITS, Case, digits_of, is_number, is_rounded
from grader.cases.spec import Quantity
from grader.cases.verdict import Finding, Level
from grader.facts import traps
from grader.facts.other_numbers import numbers_of, slips, whole_samples
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall, pitfall
from labs.units import rounded


@pitfall(
    code="another-number-of-the-run",
    level=Level.INTERPRETATION,
    symptom="The figure is another number of the same run.",
    misconception="A run shows many numbers; each answers another question.",
    experiment="Write down what the lab asks for, then find the row and the column of that name.",
    seen_in="common where a number is copied from a table",
    explains=MistakeKind.CONTENTS,
    yields_to=(
        "cost-of-many-for-one",
        "loop-counted-along",
        "read-and-write-counted-along",
        "step-assumed-one",
        "timer-not-subtracted",
        "two-results-for-one",
        "unclear-divisor",
        "work-counted-as-timer",
    ),
)
def another_number_of_the_run(case: Case) -> str | None:
    """A number of the same run, but not the one that the lab asks for."""
    if case.right or case.expected is None or case.submitted is None:
        return None
    found = list(
        dict.fromkeys(what for number, what in numbers_of(case) if is_rounded(case, number))
    )
    if not found:
        return None
    # More than two that fit tell nothing.
    if len(found) > 2:
        return None
    return (
        f"You gave {case.as_submitted()}: that is {', or '.join(found)}. The lab asks for "
        f"{_asked(case)}."
    )


def _asked(case: Case) -> str:
    return f"{case.spec.asked}: {case.expected.as_text() if case.expected else 'no figure'}"


#: Of a value with more digits than this nobody reads two digits the wrong way round.
MOST_DIGITS = 6
#: More forms than these that give the same number tell none of them.
MOST_FORMS = 3


@pitfall(
    code="arithmetic-slip",
    level=Level.INTERPRETATION,
    symptom="The numbers are right, but the arithmetic is wrong.",
    misconception="Each number of a formula stands for something in the sample, such as how many "
    "parts it has or how often it holds the baseline.",
    experiment="Write the formula with names first, then with numbers, and compute it once more.",
    seen_in="report A: half of a sum less a whole; two digits swapped in its tables",
    explains=MistakeKind.REDUCTION,
)
def arithmetic_slip(case: Case) -> str | None:
    """A slip in the arithmetic: a wrong divisor or subtrahend, a whole column, swapped digits."""
    if case.right or case.expected is None or case.submitted is None:
        return None
    found = [(done, right) for number, done, right in slips(case) if is_number(case, number)]
    done = list(dict.fromkeys(each for each, _ in found))
    if not found or len(done) > MOST_FORMS:
        return _digits_swapped(case)
    return (
        f"You gave {case.as_submitted()}: that is {', or '.join(done)}. It should be {found[0][1]}."
    )


def _digits_swapped(case: Case) -> str | None:
    """The right value to as many digits, with two neighbouring digits the wrong way round."""
    given, value = digits_of(case.figure.value), case.figure.value
    if not FEWEST_DIGITS <= given <= MOST_DIGITS or case.submitted is None:
        return None
    for each in case.accepted_values:
        right = each.value * (value / case.submitted)
        if not math.isfinite(right):
            continue
        # Of a negative value the digits are those without its sign.
        mantissa, exponent = f"{abs(right):.{given - 1}e}".split("e")
        digits = mantissa.replace(".", "")
        for place in range(len(digits) - 1):
            pair = digits[place + 1] + digits[place]
            other = digits[:place] + pair + digits[place + 2 :]
            if (
                pair[0] != pair[1]
                and math.copysign(float(f"{other[0]}.{other[1:]}e{exponent}"), right) == value
            ):
                return (
                    f"You gave {case.as_submitted()}; your recording gives {each.as_text()}: "
                    "two digits are swapped."
                )
    return None


#: Twice the cost is another slip: a pair counted as one (half-or-double).
FEWEST_OPERATIONS = 3


@pitfall(
    code="cost-of-many-for-one",
    level=Level.INTERPRETATION,
    symptom="The figure is the time of many operations, not of one.",
    misconception="A sample holds k operations, and one round of the loop may hold several: "
    "divide by the number of all of them.",
    experiment="Double the operations in a sample: the cost of one stays the same, a total "
    "doubles.",
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
    return _several_claimed(case) if case.right else _whole_sample_given(case)


def _whole_sample_given(case: Case) -> str | None:
    """The figure is a whole sample, or what the operations of one cost together."""
    line = case.result.line
    if line is None:
        return None
    per_unit = line.clock.ticks_in(case.spec.unit)
    for k, mean in zip(line.batch, line.location / per_unit, strict=True):
        if k >= FEWEST_OPERATIONS and _is_total(case, float(mean), float(k)):
            return (
                f"You gave {case.as_submitted()}: your samples with {k:.0f} operations inside "
                f"take {rounded(float(mean))} {case.spec.unit} for all of them together."
            )
    for k, plain in whole_samples(case):
        if k >= FEWEST_OPERATIONS and is_rounded(case, plain):
            return (
                f"You gave {case.as_submitted()}: that is the plain mean of your samples with {k} "
                f"operations inside, {rounded(plain)} {case.spec.unit} for all of them together."
            )
    return None


def _is_total(case: Case, mean: float, k: float) -> bool:
    """Whether the figure is a sample, or k times the cost of one operation."""
    totals = [mean, *(each.value * k for each in case.accepted_values)]
    return any(is_number(case, total) for total in totals)


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
MERE_FACTORS = (*OF_CLOCKS, "half-or-double")
#: Numbers that a run makes of several: another row may hold the same.
OF_SEVERAL = ("arithmetic-slip", "loop-counted-along", "minimum-taken")
OF_NUMBERS = (MistakeKind.CONTENTS, MistakeKind.REDUCTION)


@pitfall(
    code="one-of-two-slips",
    level=Level.INTERPRETATION,
    symptom="Two slips lead to this number.",
    misconception="A number can fit without being the cause.",
    experiment="Compute both to six digits: your figure is only one of them.",
    seen_in="a percentile that was 2.6 times the figure, on a counter of 2.6 GHz",
)
def one_of_two_slips(case: Case) -> str | None:
    """A value that two slips explain alike: the grader names both, and how to decide between them.

    The explanations of a case show it, not the case: see `of_clock_and_number`.
    """
    return None


def of_clock_and_number(case: Case, found: list[tuple[Pitfall, Finding]]) -> Finding | None:
    """The finding if a clock and a number of the recording explain the figure.

    A value that is a number of the recording, and is only near what a clock makes of the right one,
    is that number.
    """
    clock = next((each for each in found if each[0].code in OF_CLOCKS), None)
    number = next((each for each in found if each[0].explains in OF_NUMBERS), None)
    if clock is None or number is None:
        return None
    return (
        one_of_two_slips.finding(_or(number[1].evidence, clock[0]))
        if _fits(case, clock[0])
        else number[1]
    )


def of_factor_and_number(case: Case, factor: Pitfall, what_it_is: str) -> Finding | None:
    """The finding if a mere factor explains a figure that is also a known number elsewhere."""
    if not _fits(case, factor):
        return None
    return one_of_two_slips.finding(_or(f"You gave {case.as_submitted()}. {what_it_is}", factor))


def of_two_numbers(case: Case, number: Finding, what_it_is: str) -> Finding:
    """The finding if a number of several others is also a known number elsewhere."""
    evidence = number.evidence.split(" It should be ")[0]
    return one_of_two_slips.finding(f"{evidence} Or: {what_it_is[0].lower()}{what_it_is[1:]}")


def _or(evidence: str, other: Pitfall) -> str:
    symptom = other.symptom.removesuffix(".")
    return f"{evidence} Or: {symptom[0].lower()}{symptom[1:]}."


def _fits(case: Case, factor: Pitfall) -> bool:
    """Whether the factor explains the figure to all its digits, without the interval's help."""
    exact = tuple(replace(each, low=each.value, high=each.value) for each in case.accepted_values)
    return factor.find(replace(case, accepted_values=exact)) is not None
