"""The loop around an operation, handed in as a part of its cost."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import traps
from grader.facts.c import parts
from grader.facts.c.readings import has_loop
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import Net
from labs.common.units import rounded, with_unit
from labs.results.result import result_of


def detect(case: Case) -> str | None:
    net = case.result.net
    if case.spec.quantity is not Quantity.COST or net is None:
        return None
    if case.right:
        return _nothing_to_subtract(case, net)
    if net.baseline is None or net.parts != 1 or not _is_loop(case, net):
        return None
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    loop = net.times * net.baseline.value / per_unit
    # In core cycles a run shows a line of its own: at one speed.
    shown = result_of(case.recording, case.spec.variant, case.spec.unit).net or net
    if not any(is_number(case, each.unsubtracted.value / per_unit) for each in (net, shown)):
        return None
    return (
        f"You gave {case.as_submitted()}, which is the slope as timed. By the variant "
        f"{net.baseline_variant} of your recording, the loop costs "
        f"{with_unit(rounded(loop), case.spec.unit)} of this slope."
    )


def _nothing_to_subtract(case: Case, net: Net) -> str | None:
    """The figure follows, and the C that was measured has no loop to subtract."""
    if case.spec.kernel not in traps.KERNELS or net.baseline is not None:
        return None
    source = own_source(case)
    if not has_loop(parts.whole(source)):
        return None
    return (
        f"Your C times {case.spec.variant} in a loop and names no baseline: "
        f"{case.as_submitted()} is call and loop together."
    )


def _is_loop(case: Case, net: Net) -> bool:
    """Whether the baseline is a loop around nothing: no system call in it, no switch."""
    claims = (
        case.recording.number(f"variant.{net.baseline_variant}.{what}")
        for what in ("system_calls", "switches")
    )
    return not any(claims)


PITFALL = Pitfall(
    code="loop-counted-along",
    level=Level.INTERPRETATION,
    symptom="The loop's own cost is part of the figure.",
    misconception="A slope is the cost of one round: the call, and all that the loop does between "
    "two calls.",
    experiment="Time the same loop with an empty body in the same run, and subtract its slope.",
    seen_in="report B: 10 million calls bracketed once, divided by 10 million",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    yields_to=("library-call-not-system-call", "vdso-not-system-call"),
    broken=(Live("loop_counted_along", "system-call-getppid"),),
)
