"""A slip in the arithmetic: a wrong divisor, a wrong subtrahend, a whole column, swapped digits."""

from __future__ import annotations

import math

from grader.cases.case import Case
from grader.cases.digits import FEWEST_DIGITS, digits_of, is_number
from grader.cases.verdict import Level
from grader.facts.numbers.slips import slips
from grader.pitfalls.pitfall import MistakeKind, Pitfall

#: Of a value with more digits than this nobody reads two digits the wrong way round.
MOST_DIGITS = 6

#: More forms than these that give the same number tell none of them.
MOST_FORMS = 3


def detect(case: Case) -> str | None:
    if case.right or case.expected is None or case.submitted is None:
        return None
    found = [(done, right) for number, done, right in slips(case) if is_number(case, number)]
    done = list(dict.fromkeys(each for each, _ in found))
    if not found or len(done) > MOST_FORMS:
        return _swapped(case)
    return (
        f"You gave {case.as_submitted()}: that is {', or '.join(done)}. It should be {found[0][1]}."
    )


def _swapped(case: Case) -> str | None:
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


PITFALL = Pitfall(
    code="arithmetic-slip",
    level=Level.INTERPRETATION,
    symptom="The numbers are right, but the arithmetic is wrong.",
    misconception="Each number of a formula stands for something in the sample, such as how many "
    "parts it has or how often it holds the baseline.",
    experiment="Write the formula with names first, then with numbers, and compute it once more.",
    seen_in="report A: half of a sum less a whole; two digits swapped in its tables",
    detect=detect,
    explains=MistakeKind.REDUCTION,
)
