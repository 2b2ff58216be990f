"""Another system call than the one asked for, with another file, several of them, or none."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

#: The call that lab 03 asks for: read of 0 bytes.
KERNEL, ASKED = "own_call", "read0"


def detect(case: Case) -> str | None:
    operations, calls = watched.seen(case, "operations"), watched.seen(case, "system_calls")
    if case.spec.kernel != KERNEL or case.spec.variant != ASKED or not operations or calls is None:
        return None
    reads = watched.seen(case, "empty_reads")
    if calls == operations == reads:
        return _other_file(case, operations)
    if calls == 0:
        return f"In {operations:.0f} operations of your C, the OS kernel got no system call."
    if calls != operations:
        each = rounded(calls / operations, 3)
        return f"For one operation of your C, the OS kernel got {each} system calls."
    of_any_size = watched.seen(case, "reads")
    empty = reads or 0.0
    if not of_any_size:
        return f"Of {calls:.0f} system calls that your C made, {empty:.0f} read 0 bytes."
    return (
        f"Of {calls:.0f} system calls that your C made, {of_any_size:.0f} read something, and "
        f"{empty:.0f} read 0 bytes."
    )


def _other_file(case: Case, operations: float) -> str | None:
    """The finding that reads of 0 bytes are of another file than `fd`; None if they are of it."""
    given = watched.seen(case, "given_reads")
    if given is None or given == operations:
        return None
    other = operations - given
    return (
        f"Of {operations:.0f} reads of 0 bytes that your C made, {other:.0f} "
        f"{'was' if other == 1 else 'were'} of another file than `fd`."
    )


PITFALL = Pitfall(
    code="other-call-than-asked",
    level=Level.VALIDITY,
    symptom="Your C does not time one read of 0 bytes of `fd`.",
    misconception="A number near the expected one is no proof: other calls cost about as much, "
    "and two cheap calls may cost as much as one read.",
    experiment="Count the system calls of one run with strace -c.",
    seen_in="report A: getpid(), which the C library answered",
    detect=detect,
    yields_to=(
        "wrong-registers",
        "call-without-its-argument",
        "failing-call-timed",
        "library-call-not-system-call",
        "vdso-not-system-call",
    ),
    in_own_c=True,
)
