"""A clock read through the vDSO, taken for a system call."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import traps
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall

#: Below the floor for certain: a real call takes more than the floor, and one that the vDSO answers
#: far less, since it never traps.
SHARE_OF_FLOOR = 0.8


def detect(case: Case) -> str | None:
    if case.spec.kernel not in traps.KERNELS:
        return None
    for name in case.spec.variants:
        claimed = case.recording.number(f"variant.{name}.system_calls")
        if claimed == 0 and name not in traps.WITHOUT:
            return f"Your variant {name} states that it makes no system call at all."
    source, least = own_source(case), traps.floor_about(case)
    clocks = calls.clocks_of_library(parts.whole(source))
    if not clocks or least is None:
        return None
    for name, _, _ in traps.claiming(case):
        own = traps.cost(case, name)
        if own is not None and own < SHARE_OF_FLOOR * least:
            return f"Your C calls {clocks[0]}(). Your variant {traps.with_floor(case, name)}."
    return None


PITFALL = Pitfall(
    code="vdso-not-system-call",
    level=Level.VALIDITY,
    symptom="The OS kernel was never entered.",
    misconception="gettimeofday and clock_gettime look like system calls. The vDSO, code that "
    "the OS kernel maps into every process, answers them without a trap.",
    experiment="Count the calls with strace -c; then make the call by the trap instruction.",
    seen_in="report B: 16.55 ns a system call; strace counts none",
    detect=detect,
    broken=(Live("gettimeofday_for_trap", "system-call-vdso-ratio"),),
)
