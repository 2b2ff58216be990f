"""More is timed than one new task, handoff or page: another task, a sleep, memory, a loop."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import watched
from grader.facts.c import beside, parts, waiting
from grader.facts.memory import page_faults
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Pitfall
from labs.common.units import rounded

CREATION, SWITCH, PAGES = "own_creation", "own_switch", "own_page_fault"

#: To create a task and wait for it, the C library may make this many calls more: it blocks signals.
MOST_BESIDE = 4

#: One page fault brings a page. From so many on, or from so many times its cost on, there is more.
MOST_FAULTS, MOST_TIMES = 1.5, 1.5

BUSY = "Between its readings your C has a loop that calls nothing, and this loop is extra work."


def detect(case: Case) -> str | None:
    if case.others or not case.spec.own:
        return None
    if case.spec.kernel == CREATION:
        return _beside_creation(case)
    if case.spec.kernel == PAGES:
        return _beside_pages(case)
    return _beside_switch(case) if case.spec.kernel == SWITCH else None


def _beside_creation(case: Case) -> str | None:
    tasks = watched.seen(case, "operations")
    said = []
    if tasks:
        each = {
            key: (watched.seen(case, key) or 0) / tasks
            for key in ("system_calls", "creations", "waits", "sleeps", "mappings")
        }
        others = 2 * each["system_calls"] - sum(each.values())
        said += [f"creates {rounded(each['creations'], 2)} tasks"] * (each["creations"] > 1)
        said += [f"sleeps {_times(each['sleeps'])}"] * (each["sleeps"] >= 1)
        said += [f"maps or unmaps memory {_times(each['mappings'])}"] * (each["mappings"] >= 1)
        said += [f"makes {rounded(others, 2)} other system calls"] * (others > MOST_BESIDE)
    if said:
        return f"For one operation, the run saw that your C {' and '.join(said)}."
    source = own_source(case) or ""
    looping = beside.looping_task(source)
    if looping is not None:
        return f"Your new task runs {looping}(), in which there is a loop: this work is timed too."
    code = parts.measured_by(source, "MEASURE_OWN_CREATION")
    called = beside.idle_call(code) or beside.filling_call(code)
    if called is not None:
        return f"Between its readings your C calls {called}(), which creates no task."
    return BUSY if beside.has_loop_without_call(code) else None


def _times(number: float) -> str:
    """The number as text: `once`, `2.5 times`."""
    return "once" if rounded(number, 2) == "1" else f"{rounded(number, 2)} times"


def _beside_switch(case: Case) -> str | None:
    code = parts.measured_by(own_source(case) or "", "MEASURE_OWN_SWITCH")
    asked = beside.idle_call(code)
    if asked is not None:
        return f"Between its readings your C calls {asked}(), which neither wakes nor waits."
    return BUSY if beside.has_loop_without_call(code) else None


def _beside_pages(case: Case) -> str | None:
    ready = page_faults.counted(case.recording, "bring")
    without = page_faults.counted(case.recording, "unprepared")
    if ready is not None and ready.each >= MOST_FAULTS:
        return (
            f"To bring {ready.touched:,} pages, your get_ready() made {ready.faults:,} page faults."
        )
    # A page with a sleep takes long enough to be interrupted: on a busy machine it has no estimate.
    code = parts.measured_by(own_source(case) or "", "MEASURE_OWN_PAGE_FAULT")
    called = waiting.wait_with_an_end(code)
    if called is not None:
        return f"Between its readings your C calls {called}(), which brings no page."
    if without is None or without.each < page_faults.MOST:
        return None
    mine, plain = (case.results[name].estimate for name in ("bring", "unprepared"))
    if mine is None or plain is None or mine.low <= MOST_TIMES * plain.high:
        return None
    return (
        f"Your get_ready() takes {rounded(mine.value)} {mine.unit} for each page. A plain write "
        f"with its page fault takes {rounded(plain.value)} {plain.unit} in the same run."
    )


PITFALL = Pitfall(
    code="more-than-the-operation",
    level=Level.VALIDITY,
    symptom="Your C times more than the one operation that the lab asks for.",
    misconception="All work between the readings is part of the figure: a second task, a sleep, "
    "a new stack, other system calls, a loop, a second page fault.",
    experiment="Take the rest out, measure again, and look at what is left: that was its share.",
    seen_in="trials of labs 05, 06 and 10: a stack for each task, a loop in the task, other calls",
    detect=detect,
    yields_to=(
        "number-not-by-the-task",
        "not-a-thread",
        "vfork-for-thread",
        "pinning-inside-the-interval",
        "not-woken",
        "wait-with-an-end",
        "page-not-brought",
        "read-not-written",
    ),
)
