"""A round trip handed in as a switch, or one of its four calls."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import OF_USUAL_SLIPS, is_number
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded
from labs.recording import proof

CODE = "unclear-divisor"


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.COST or case.others:
        return None
    return _in_recording(case) or _in_figure(case)


def _in_figure(case: Case) -> str | None:
    net = case.result.net
    if case.right or net is None or net.parts != 2:
        return None
    if not proof.claim_of(case.recording, case.spec.variant):
        return None
    whole = net.whole.value / case.result.clock.ticks_in(case.spec.unit)
    for value, what in ((whole, "your round trip"), (whole / 4, "a quarter of your round trip")):
        if is_number(case, value, OF_USUAL_SLIPS):
            return (
                f"You gave {case.as_submitted()}, which is {what}. A round trip holds two "
                "switches and four calls."
            )
    return None


def _in_recording(case: Case) -> str | None:
    """The C counts an operation as one switch, or does not divide by those that it claims."""
    seen = switch_counts.shown_by(case, CODE)
    if seen is not None:
        return (
            f"Your variant {seen.variant} claims {seen.claim:g} switch for one operation; the OS "
            f"counted {rounded(seen.each, 2)}."
        )
    name = case.spec.variant
    claim = proof.claim_of(case.recording, name)
    parts = parts_of(case.recording, name)
    if claim < 2 or parts >= claim:
        return None
    return (
        f"One operation of your variant {name} claims {claim:g} switches, but its time is "
        f"divided by {parts:g}."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.INTERPRETATION,
    symptom="It is not clear what the figure was divided by.",
    misconception="A round trip goes there and back: two switches, two writes and two reads. "
    "Subtract the calls; a switch is half of the rest.",
    experiment="Draw one round trip as a line between two tasks, and count its switches.",
    seen_in="report B: a trial of two switches and four calls printed as a context switch",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    broken=(Live("round_trip_for_switch", "process-switch-pipe-pinned"),),
)
