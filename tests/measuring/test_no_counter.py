"""A machine whose counter no program may read: its clock stands in, and everything says so."""

from __future__ import annotations

import pytest

from bench.labs.conditions import NO_COUNTER, Condition, run_in
from grader.figures import figure_named
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import NO_COUNTER as IN_ITS_PLACE
from grader.judging.check import check
from labs.notebook import run_errors
from labs.recording.file import Recording
from labs.results.result import result_of
from support.c_programs import LINUX
from support.submitted_figures import FENCED, MONOTONIC, figure, recording


def timed_by(counter: str, kernel: str = "timer_overhead") -> Recording:
    names = {"fenced": counter, "monotonic": "CLOCK_MONOTONIC"}
    stated = {f"clock.{variant}.name": name for variant, name in names.items()}
    clocks = {"fenced": FENCED, "monotonic": MONOTONIC}
    return recording(clocks, kernel=kernel, extra={"counter": counter, **stated})


def verdict_on(asked: str, variant: str, counter: str, factor: float = 1.0) -> Verdict:
    found = timed_by(counter)
    estimate = result_of(found, variant, "ns").estimate
    assert estimate is not None
    return check(figure_named(asked), figure(asked, factor * estimate.value, "ns"), found)


def test_a_figure_of_the_counter_says_that_a_clock_stood_in_for_it() -> None:
    for asked, variant, counter, hedged in (
        ("timer-overhead-fenced", "fenced", "clock_monotonic", True),
        ("timer-overhead-fenced", "fenced", "tsc", False),
        # Of the clock itself, it is what was asked for.
        ("timer-overhead-monotonic", "monotonic", "clock_monotonic", False),
    ):
        verdict = verdict_on(asked, variant, counter)
        assert verdict.outcome is Outcome.PASSED, verdict
        assert verdict.points == verdict.max_points, asked
        assert (IN_ITS_PLACE in verdict.reason) == hedged


def test_a_wrong_figure_stays_wrong_without_a_counter() -> None:
    verdict = verdict_on("timer-overhead-fenced", "fenced", "clock_monotonic", factor=3.0)
    assert verdict.outcome is Outcome.FAILED and verdict.findings


def test_a_run_says_it_where_it_is_made() -> None:
    for counter, kernel, sentences in (
        ("tsc", "timer_overhead", 0),
        ("clock_monotonic", "timer_overhead", 2),
        ("clock_monotonic", "system_call", 1),
    ):
        messages = run_errors.of_lacks(timed_by(counter, kernel))
        assert sum(len(each.sentences) for each in messages) == sentences


SESSION = """
from labs.notebook.session import start
start("01-timer-overhead").measure("timer_overhead", "fenced", samples=100, processes=2)
"""


@LINUX
@pytest.mark.parametrize("flags", [(), (NO_COUNTER,)])
def test_a_notebook_shows_it(
    flags: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lab")
    done = run_in(
        Condition("", flags=flags), "-c", f"import os\nos.chdir({str(folder)!r})\n{SESSION}"
    )
    assert done.returncode == 0, done.stderr
    assert ("Note: no counter can be read here" in done.stdout) == bool(flags)
