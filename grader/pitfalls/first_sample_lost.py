"""A first time reported from samples among which the first one is not."""

from __future__ import annotations

import numpy as np

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts.c import calls, parts
from grader.facts.c.parse import Code
from grader.pitfalls.pitfall import Live, Pitfall
from labs.analysis.estimate import Estimate
from labs.common.units import Clock, rounded
from labs.recording.declared import is_first_time

#: C kernel and variant whose first time takes a page fault, for certain: on Linux, where the page
#: is taken away before it.
PAGE_FAULT_FOR_CERTAIN = ("first_iteration", "call")

#: Into the OS kernel, a page mapped, and back: no processor does that in fewer core cycles.
LEAST_PAGE_FAULT_CYCLES = 150


#: A student gets ready for a first call of this C kernel, and must not make it.
GETS_READY = "own_first_call"

#: The names of the code.
PROCEDURES = ("procedure", "remote_procedure", "other_remote_procedure")


def detect(case: Case) -> str | None:
    if case.spec.kernel == GETS_READY and _calls_the_code(parts.whole(case.source)):
        return "Your C calls the code while it gets ready, and that call was the first one."
    for name in case.spec.variants:
        if is_first_time(case.recording, name):
            found = _in_warmup(case, name) or _never_cold(case, name)
            if found:
                return found
    return None


def _calls_the_code(code: Code) -> bool:
    return calls.called(code, PROCEDURES) is not None or calls.calls_an_address(code)


def may_be_page_fault(estimate: Estimate, clock: Clock) -> bool:
    """Whether what the first time costs more is enough for a page fault."""
    more = estimate.value * clock.ticks_in(estimate.unit)
    return more > max(clock.step, LEAST_PAGE_FAULT_CYCLES * (clock.core_cycle_ticks or 0.0))


def _in_warmup(case: Case, variant: str) -> str | None:
    recording = case.recording
    mine = recording.rows_of(variant)
    warmup = mine & (recording.sample < 0)
    if not warmup.any():
        return None
    process = int(recording.process[warmup][0])
    one = warmup & (recording.process == process)
    place = int(recording.sample[one].min())
    cold = float(recording.ticks[one & (recording.sample == place)][0])
    later = recording.samples(variant)
    usual = float(np.median(later.ticks)) if len(later) else 0.0
    return (
        f"In process {process} the first {variant} took {rounded(cold)} ticks and is sample "
        f"{place}, a warm-up sample. The samples that count begin with number 0; they typically "
        f"take {rounded(usual)} ticks."
    )


def _never_cold(case: Case, variant: str) -> str | None:
    estimate, clock = case.results[variant].estimate, case.results[variant].clock
    if (case.recording.kernel, variant) != PAGE_FAULT_FOR_CERTAIN or estimate is None:
        return None
    on_linux = all(name.startswith("Linux") for name in case.recording.condition("os"))
    if not on_linux or may_be_page_fault(estimate, clock):
        return None
    more = estimate.value * clock.ticks_in(estimate.unit)
    return (
        f"Your first samples take only {rounded(more)} ticks more than later ones. A page fault "
        "takes longer, so something had called the code before."
    )


PITFALL = Pitfall(
    code="first-sample-lost",
    level=Level.VALIDITY,
    symptom="The cold sample is not among the samples that count.",
    misconception="A warm-up or a trial call is the first call, and each process has only one "
    "first call.",
    experiment="Leave all warm-up out and look at sample 0 of each fresh process.",
    seen_in="common in benchmark harnesses, which warm up first",
    detect=detect,
    broken=(Live("called_before", "first-iteration-call"),),
)
