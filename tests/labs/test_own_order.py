"""Lab 09's own C is judged by its order: one cycle through all lines, foreseen by nobody."""

from __future__ import annotations

import pytest

from grader.cases.verdict import Level, Outcome
from testing.c_programs import LINUX, Program
from testing.own_work import Exercise

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
OUTSIDE = {"behind the end": f"{EACH} {{ next[i] = i + 1; }}"}

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


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return EXERCISE.build(tmp_path_factory.mktemp("own_ladder"))


@pytest.mark.parametrize("name", RIGHT)
def test_an_order_through_all_lines_passes_and_is_praised(program: Program, name: str) -> None:
    counts = EXERCISE.counts(program, name, *SHORT)
    assert int(counts["variant.own-128m.nodes_walked"]) == LINES
    verdict = EXERCISE.verdict(name, counts)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "goes round all cache lines" in verdict.praise


@pytest.mark.parametrize("name", WRONG)
def test_another_order_is_told_and_not_praised(program: Program, name: str) -> None:
    _, code, most = WRONG[name]
    counts = EXERCISE.counts(program, name, *SHORT)
    assert int(counts["variant.own-128m.nodes_walked"]) <= most * LINES
    verdict = EXERCISE.verdict(name, counts)
    assert verdict.outcome is Outcome.FAILED
    assert [finding.code for finding in verdict.findings] == [code]
    assert verdict.levels[Level.VALIDITY][0] == 0
    assert not verdict.praise


def test_a_line_that_there_is_not_ends_the_run(program: Program) -> None:
    with pytest.raises(AssertionError, match=f"the cache lines have the numbers 0 to {LINES - 1}"):
        EXERCISE.counts(program, "behind the end", *SHORT)
