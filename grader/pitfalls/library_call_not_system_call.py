"""An answer of the C library, taken for a system call: cheaper than any trap can be."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import traps
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded
from labs.results.result import Result

#: No processor enters and leaves its OS kernel in so few core cycles: the two jumps alone, without
#: an instruction between them, take about twice as many.
LEAST_CYCLES = 25

#: A call may look cheaper than one that does not exist, where an emulator makes an event of that.
#: Not by so much, and not where both are slow.
SHARE_OF_FLOOR, MOST_CYCLES = 0.5, 200


def detect(case: Case) -> str | None:
    for name, result, claimed in traps.claiming(case):
        cycles = _cycles(result)
        if cycles is None:
            continue
        least = traps.floor_about(case) if case.spec.kernel in traps.KERNELS else None
        own = traps.cost(case, name)
        below_floor = (
            least is not None
            and own is not None
            and own < SHARE_OF_FLOOR * least
            and cycles < MOST_CYCLES
        )
        if cycles < LEAST_CYCLES * claimed or below_floor:
            return (
                f"Your variant {traps.with_floor(case, name)}. As timed, with its loop, it takes "
                f"at most {rounded(cycles)} core cycles. No trap into the OS kernel takes fewer "
                f"than {LEAST_CYCLES}."
                if least is None
                else (
                    f"Your variant {traps.with_floor(case, name)}. No trap costs so much less "
                    "than such a call."
                )
            )
    return None


def _cycles(result: Result) -> float | None:
    """One operation as timed, with nothing subtracted, in core cycles at most; None: not known."""
    if result.net is None or not result.clock.core_cycle_ticks:
        return None
    return result.net.whole.high / result.clock.core_cycle_ticks


PITFALL = Pitfall(
    code="library-call-not-system-call",
    level=Level.VALIDITY,
    symptom="The call is too cheap to have entered the OS kernel.",
    misconception="A function of the C library need not make a system call: it can answer from a "
    "cache in the process.",
    experiment="Run it under strace -c and count the calls; or make the call by the trap "
    "instruction.",
    seen_in="report A: getpid at 7 to 43 cycles, cheaper than the timer around it",
    detect=detect,
    yields_to=("vdso-not-system-call", "work-optimised-away", "below-one-cycle"),
    broken=(Live("cached_getpid", "system-call-getppid"),),
)
