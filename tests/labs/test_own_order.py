"""Lab 09's own C is judged by its order: one cycle through all lines, foreseen by nobody."""

from __future__ import annotations

import numpy as np
import pytest

from grader.figures import figure_named
from grader.figures.verdict import Finding, Outcome
from grader.pitfalls.pages_and_caches import order_foreseen
from labs.results.result import result_of
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail
from support.submission import honest_submission

LINES = 2 << 20
#: The order is followed before the first sample, however few there are.
SHORT = ("--samples", "6", "--warmup", "0")
EACH = "for (long i = 0; i < count; i++)"
DOWN = "for (long i = count - 1; i > 0; i--)"
ITSELF = f"{EACH} {{ next[i] = i; }}"


def order(body: str) -> str:
    return f"static void order@(long *next, long count)\n{{\n    {body}\n}}"


RIGHT = {
    "one cycle": f"{ITSELF} {DOWN} {{ swap(next, i, random_below(i)); }}",
    "upwards": f"{ITSELF} for (long i = 1; i < count; i++) {{ swap(next, i, random_below(i)); }}",
    "a generator": f"{EACH} {{ next[i] = (i * 1664525 + 1013904223) % count; }}",
}
#: Each with the finding, and the share of the lines that the walk goes round at most.
WRONG = {
    "by address": (f"{EACH} {{ next[i] = (i + 1) % count; }}", "order-foreseen", 1.0),
    "backwards": (f"{EACH} {{ next[i] = (i + count - 1) % count; }}", "order-foreseen", 1.0),
    "two strides": (
        f"{EACH} {{ next[i] = (i % 2 == 0 ? i + 3 : i - 1) % count; }}",
        "order-foreseen",
        1.0,
    ),
    "drawn": (f"{EACH} {{ next[i] = random_below(count); }}", "cycle-too-short", 0.02),
    "stays": (ITSELF, "cycle-too-short", 1 / LINES),
    "nothing written": ("(void)next; (void)count;", "cycle-too-short", 1 / LINES),
    "half": (
        f"{ITSELF} for (long i = count / 2 - 1; i > 0; i--) {{ swap(next, i, random_below(i)); }}",
        "cycle-too-short",
        0.5,
    ),
}
OUTSIDE = {
    "behind the end": f"{EACH} {{ next[i] = i + 1; }}",
    "swaps behind the end": f"{ITSELF} for (long i = count; i > 0; i--) "
    "{ swap(next, i, random_below(i)); }",
    "swaps before the begin": f"{ITSELF} swap(next, 0, -1);",
}

EXERCISE = Exercise(
    figure="ladder-own",
    variant="own-128m",
    begin='#include "own_ladder.h"',
    answers={
        name: order(body)
        for name, body in (
            *RIGHT.items(),
            *((name, body) for name, (body, *_) in WRONG.items()),
            *OUTSIDE.items(),
        )
    },
    dispatchers={"static void order(long *next, long count) { CASES }": "order@(next, count)"},
    end="MEASURE_OWN_LADDER(order)",
)

pytestmark = LINUX


@pytest.mark.parametrize("name", RIGHT)
def test_an_order_through_all_lines_passes_and_is_praised(name: str) -> None:
    counts = EXERCISE.counts(name, *SHORT)
    assert int(counts["variant.own-128m.nodes_walked"]) == LINES
    verdict = EXERCISE.verdict(name, counts)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "goes round all cache lines" in verdict.praise


@pytest.mark.parametrize("name", WRONG)
def test_another_order_is_told_and_not_praised(name: str) -> None:
    _, code, most = WRONG[name]
    counts = EXERCISE.counts(name, *SHORT)
    assert int(counts["variant.own-128m.nodes_walked"]) <= most * LINES
    must_fail(EXERCISE.verdict(name, counts), code)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_line_that_there_is_not_ends_the_run(name: str) -> None:
    with pytest.raises(AssertionError, match=f"the cache lines have the numbers 0 to {LINES - 1}"):
        EXERCISE.counts(name, *SHORT)


COUNTED = {"set_kb": 128 << 10, "set_nodes": LINES, "nodes_walked": LINES}


def finding(**counted: int) -> Finding:
    """The finding on the saved order of the kit, as if each process had counted this."""
    stated = {f"variant.own-128m.{key}": str(n) for key, n in (COUNTED | counted).items()}
    found = EXERCISE.verdict("one cycle", stated).findings
    return next(each for each in found if each.code in ("cycle-too-short", "order-foreseen"))


def test_a_cycle_is_counted_for_one_process_and_no_size_is_claimed() -> None:
    half = finding(nodes_walked=LINES // 2)
    assert f"has {LINES:,} cache lines, and the walk goes round {LINES // 2:,} of" in half.evidence
    assert "far smaller" not in half.symptom


def test_hops_that_repeat_are_not_said_to_be_foreseen_where_the_run_shows_no_gain() -> None:
    spec = figure_named("ladder-own")
    found = honest_submission(spec).states({"variant.own-128m.same_hops": str(LINES - 2)})
    assert found.recording is not None
    # The saved samples are of a random order; made to cost just what the order of the kit costs.
    own, kits = (result_of(found.recording, each).estimate for each in ("own-128m", "random-128m"))
    assert own is not None and kits is not None
    ticks, mine = found.recording.ticks, found.recording.rows_of("own-128m")
    alike = np.where(mine, np.round(ticks * (kits.value / own.value)).astype(np.int64), ticks)
    said = order_foreseen.detect(found.lasting(alike).follows().case())
    assert said is not None and "your order gains nothing" in said
    assert f"{LINES - 2:,} of {LINES:,} hops" in said


def test_hops_that_repeat_are_said_to_gain_where_the_run_shows_it() -> None:
    spec = figure_named("ladder-own")
    found = honest_submission(spec).states({"variant.own-128m.same_hops": str(LINES - 2)})
    assert found.recording is not None
    ticks, mine = found.recording.ticks, found.recording.rows_of("own-128m")
    case = found.lasting(np.where(mine, ticks // 4, ticks)).follows().case()
    said = order_foreseen.detect(case)
    assert said is not None and "your order makes loads cheaper" in said
