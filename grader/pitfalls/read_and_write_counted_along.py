"""A round trip or half of one, with the calls that carry the message inside."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.digits import is_number_of_samples
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, MistakeKind, Pitfall
from labs.analysis.net_cost import parts_of
from labs.common.units import rounded
from labs.recording import proof


def detect(case: Case) -> str | None:
    if case.spec.quantity is not Quantity.COST or case.others:
        return None
    if not proof.claim_of(case.recording, case.spec.variant):
        return None
    # A figure that is something else altogether has another mistake.
    if case.right or not case.accepted_values:
        return _nothing_to_subtract(case)
    return _not_subtracted_by_hand(case)


def _not_subtracted_by_hand(case: Case) -> str | None:
    net = case.result.net
    if net is None or net.baseline is None:
        return None
    per_unit = case.result.clock.ticks_in(case.spec.unit)
    calls = net.times * net.baseline.value / per_unit
    for timed, parts, what in (
        (net.unsubtracted, net.parts, "half your round trip. In it"),
        (net.whole, 1.0, f"your whole round trip. It holds {net.parts:.0f} switches, and in it"),
    ):
        number = timed.value / per_unit
        if is_number_of_samples(case, number):
            return (
                f"You gave {case.as_submitted()}: {what} {rounded(calls / parts)} "
                f"{case.spec.unit} are the cost of the calls, by {net.baseline_variant} of your "
                "recording."
            )
    return None


def _nothing_to_subtract(case: Case) -> str | None:
    """The C names no baseline; only where it divides and switches, else that is what is wrong."""
    name = case.spec.variant
    parts = parts_of(case.recording, name)
    if case.recording.condition(f"variant.{name}.baseline") or parts < 2:
        return None
    if switch_counts.code_of(case) is not None:
        return None
    return (
        f"Your C names no baseline for {name}: {case.as_submitted()} holds the calls around the "
        "switch as well."
    )


PITFALL = Pitfall(
    code="read-and-write-counted-along",
    level=Level.INTERPRETATION,
    symptom="The calls around a switch are counted as part of it.",
    misconception="Half a round trip is a switch and the calls that bring it about, such as a "
    "write and a read. These calls cost as much without any switch.",
    experiment="Let one task make the same calls to itself in the same run, and subtract that.",
    seen_in="report C: read and write inside the 550 ns of a switch",
    detect=detect,
    explains=MistakeKind.CONTENTS,
    shows_in_recording=True,
    yields_to=("touching-counted-as-switch", "two-results-for-one"),
    broken=(Live("calls_counted_along", "process-switch-pipe-pinned"),),
)
