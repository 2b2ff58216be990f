"""The clock is read before the work is done: the readings are unfenced."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import watched
from grader.facts.c.readings import subtracted_constant
from grader.pitfalls.pitfall import Live, Pitfall
from grader.pitfalls.stale_constant import too_little_left
from labs.analysis import core_clock
from labs.analysis.line import Line
from labs.common.units import rounded
from labs.recording.file import Recording

#: A dependent addition takes one core cycle; an emulator or a hypervisor may blur that.
LEAST_CYCLES = 0.5

#: The C kernel that a student writes around dependent additions.
OWN = "own_pair"


def detect(case: Case) -> str | None:
    if not case.spec.of_overhead and case.spec.kernel != OWN:
        return None
    if watched.seen(case, "additions") and watched.seen(case, "end_waits") == 0:
        return (
            "The run watched a sample of your C: it executes no fence between the last addition "
            "and the second reading, so this reading need not wait for the additions."
        )
    if case.source is not None and subtracted_constant(case.source) is None:
        evidence = too_little_left(case)
        if evidence is not None:
            return evidence
    for name, result in case.results.items():
        line = result.line
        if line is None:
            continue
        if not line.straight:
            least = least_beyond_additions(case.recording, line)
            if least is None or least[0] >= 0:
                continue  # the work is enclosed, with more than it (more_between_the_readings)
            _, place = least
            return (
                f"Your samples of {name} with {line.batch[place]:.0f} additions take "
                f"{rounded(float(line.location[place]))} ticks; the additions alone take "
                f"{rounded(float(line.location[place]) - least[0])}, one after the other."
            )
        if line.clock.step > line.location.max():
            continue  # a counter that sees nothing of such samples says nothing of their order
        cycle = line.clock.core_cycle_ticks
        if case.spec.quantity is Quantity.COST and case.spec.kernel == OWN and cycle:
            cost = line.cost
            # The interval counts: a coarse counter knows a cycle only roughly.
            if cost.high < LEAST_CYCLES * cycle:
                return (
                    f"Your pair {name} sees {rounded(cost.value / cycle)} core cycles for an "
                    "addition, which waits for the one before it and so takes one cycle."
                )
    return None


def least_beyond_additions(recording: Recording, line: Line) -> tuple[float, int] | None:
    """How much longer the samples are than the additions in them, in ticks, where that is least.

    Below 0 they are shorter, and cannot hold all additions. The second number is the place of that
    batch size in `line`. None if the length of a core cycle is not known.
    """
    cycle = core_clock.shortest_cycle(recording, line.clock)
    if not cycle:
        return None
    beyond = line.location - line.batch * cycle
    place = int(beyond.argmin())
    return float(beyond[place]), place


PITFALL = Pitfall(
    code="clock-read-too-early",
    level=Level.VALIDITY,
    symptom="The readings do not enclose the work.",
    misconception="A processor executes out of order: an unfenced reading does not wait for the "
    "work before it.",
    experiment="Put a fence before the second reading, and double the work: does the sample "
    "double?",
    seen_in="report A: rdtsc without a fence around a few cycles of work",
    detect=detect,
    yields_to=("digits-lost", "timestamps-in-double", "not-one-chain", "end-not-read"),
    broken=(Live("no_fence", "timer-overhead-fenced"),),
)
