"""More between the readings than the additions: a variable in memory, or a loop."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.c import parts
from grader.facts.c.readings import has_loop, has_volatile_variable
from grader.facts.sources import own_source
from grader.pitfalls.clock_read_too_early import OWN, least_beyond_additions
from grader.pitfalls.pitfall import Pitfall
from labs.analysis.line import Line
from labs.common.units import rounded

#: A dependent addition takes one core cycle; an emulator or a hypervisor may blur that.
MOST_CYCLES = 2.0

#: Samples on no line are too long only if they have at least this share of a fenced pair beside
#: their additions. With less, some additions may lie outside.
SHARE_OF_PAIR = 0.5


def detect(case: Case) -> str | None:
    line, cycle = case.result.line, case.result.clock.core_cycle_ticks
    if case.spec.kernel != OWN or line is None or not cycle:
        return None
    too_dear = line.straight and line.cost.low > MOST_CYCLES * cycle
    if not too_dear and not _is_bent_and_too_long(case, line):
        return None
    short, long = (f"{rounded(float(line.location[place] / cycle))}" for place in (0, -1))
    return (
        f"Your samples take {short} core cycles for {line.batch[0]:.0f} additions and {long} for "
        f"{line.batch[-1]:.0f}, though one addition needs one cycle.{_seen(case)}"
    )


def _is_bent_and_too_long(case: Case, line: Line) -> bool:
    if line.straight or line.clock.step > line.location.max():
        return False
    least = least_beyond_additions(case.recording, line)
    pair = case.recording.number("counter.overhead") or 0.0
    return least is not None and pair > 0 and least[0] >= SHARE_OF_PAIR * pair


def _seen(case: Case) -> str:
    """What of it stands in the C, as a sentence; '' if the C is not known or shows none."""
    code = parts.timed(own_source(case) or "")
    if has_volatile_variable(code):
        return " Your C has a volatile variable there: each addition writes and reads memory."
    return " Your C has a loop there." if has_loop(code) else ""


PITFALL = Pitfall(
    code="more-between-the-readings",
    level=Level.VALIDITY,
    symptom="There is more between the readings than the additions.",
    misconception="Code that keeps the compiler from leaving work out can add work of its own, "
    "such as a loop or accesses to memory.",
    experiment="Use ADDITIONS(link, k) on a plain variable, and take the slope again.",
    seen_in="the exercise of lab 01, tried with a loop over a volatile variable",
    detect=detect,
)
