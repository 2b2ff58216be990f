"""Adaptive runs: they add processes until the interval is narrow enough, and say why they stop."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from labs import limits
from labs.analysis.confidence import Estimate
from labs.commands import cli
from labs.limits import MOST_PROCESSES
from labs.limits import MOST_RECORDING_BYTES as MOST_BYTES
from labs.messages import Refused
from labs.notebook.ckernel_magic import plan_of_cell
from labs.notebook.session import Session
from labs.recording.file import Recording
from labs.recording.run_conditions import FULL, TIME_IS_UP, not_narrow
from labs.results import stopping, warning_thresholds
from labs.results.result import Result, result_of
from labs.results.stopping import rule_of
from labs.run import measure
from labs.run.c_process import place_of
from labs.run.declared_options import DEFAULT_REPLACE_S
from labs.run.measure import (
    BadPlan,
    Enough,
    Plan,
    Progress,
    measure_in_turns_now,
    measure_now,
)
from support import simulate
from support.declarations import as_declared
from support.submitted_figures import FENCED, recording

QUICK = Plan(
    "timer_overhead", ("fenced",), samples=60, processes=3, warmup=2, within=0.02, at_most_s=30
)


def when_it_has(processes: int) -> Enough:
    """A rule that is content with so many processes."""

    def enough(recordings: tuple[Recording, ...], most: int) -> str | None:
        return "it has them" if len(recordings[0].processes) >= processes else None

    return enough


def never(recordings: tuple[Recording, ...], most: int) -> None:
    return None


# Adding processes


def test_processes_are_added_until_it_is_enough() -> None:
    run = measure_now(QUICK, enough=when_it_has(7))
    assert len(run.processes) == 7
    assert len(run.samples("fenced")) == 7 * 20, "each has as many samples as the first"
    stated = {key: text for key, text in run.conditions.items() if key.startswith("adaptive.")}
    assert stated == {
        "adaptive.within": "0.02",
        "adaptive.at_most_s": "30",
        "adaptive.planned_processes": "3",
        "adaptive.stopped": "it has them",
    }
    places = [int(text) for text in run.condition("stack.place")]
    assert places == [place_of(number, places[0]) for number in range(7)]


def test_a_run_that_has_enough_adds_nothing() -> None:
    run = measure_now(QUICK, enough=lambda recordings, most: "at once")
    assert len(run.processes) == 3 and run.conditions["adaptive.stopped"] == "at once"


def test_without_a_rule_a_plan_is_as_it_was_and_an_adaptive_one_is_refused() -> None:
    run = measure_now(dataclasses.replace(QUICK, within=None))
    assert len(run.processes) == 3
    assert not any(key.startswith("adaptive.") for key in run.conditions)
    with pytest.raises(BadPlan, match="within"):
        measure_now(QUICK)


def test_no_time_means_no_more_processes() -> None:
    run = measure_now(dataclasses.replace(QUICK, at_most_s=0), enough=never)
    assert len(run.processes) == 3 and run.conditions["adaptive.stopped"] == TIME_IS_UP


def test_time_is_up_some_time() -> None:
    run = measure_now(dataclasses.replace(QUICK, at_most_s=0.5), enough=never)
    assert run.conditions["adaptive.stopped"] in (TIME_IS_UP, FULL)


def test_the_time_limit_of_the_run_holds_for_what_is_added() -> None:
    run = measure_now(dataclasses.replace(QUICK, at_most_s=600, time_limit_s=1), enough=never)
    assert run.conditions["adaptive.stopped"] in (TIME_IS_UP, FULL)


def test_the_last_look_comes_after_the_last_process() -> None:
    seen: list[int] = []

    def enough(recordings: tuple[Recording, ...], most: int) -> None:
        seen.append(len(recordings[0].processes))

    run = measure_now(dataclasses.replace(QUICK, at_most_s=0.5), enough=enough)
    assert seen[0] == 3 and seen[-1] == len(run.processes)
    assert all(one < other <= one + max(one // 10, 1) for one, other in itertools.pairwise(seen))


def test_a_recording_that_is_full_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_PROCESSES", 5)
    run = measure_now(QUICK, enough=never)
    assert len(run.processes) == 5 and run.conditions["adaptive.stopped"] == FULL


def test_a_recording_has_no_more_rows_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_RECORDING_ROWS", 22 * 4 + 10)
    run = measure_now(QUICK, enough=never)
    assert len(run.processes) == 4 and run.conditions["adaptive.stopped"] == FULL


def test_a_recording_has_no_more_bytes_than_it_can_hold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    size = len(measure_now(dataclasses.replace(QUICK, within=None, processes=8)).as_bytes())
    monkeypatch.setattr(limits, "MOST_RECORDING_BYTES", size)
    run = measure_now(QUICK, enough=never)
    assert run.conditions["adaptive.stopped"] == FULL
    assert 3 < len(run.processes) < MOST_PROCESSES and len(run.as_bytes()) <= size < MOST_BYTES
    run.write(tmp_path / "run.csv")


def test_plans_that_take_turns_are_added_to_alike() -> None:
    other = dataclasses.replace(QUICK, variants=("realtime",), within=None)
    runs = measure_in_turns_now((QUICK, other), enough=when_it_has(6))
    assert [len(run.processes) for run in runs] == [6, 6]
    assert "adaptive.within" in runs[0].conditions
    assert "adaptive.within" not in runs[1].conditions
    assert {run.conditions["adaptive.stopped"] for run in runs} == {"it has them"}


def test_progress_grows_with_what_is_added() -> None:
    seen: list[Progress] = []
    run = measure_now(QUICK, seen.append, when_it_has(6))
    assert all(one.done <= other.done for one, other in itertools.pairwise(seen))
    assert all(one.total <= other.total for one, other in itertools.pairwise(seen))
    assert all(at.done <= at.total for at in seen)
    assert seen[0].total == 3 * 22 and seen[-1].done == seen[-1].total == len(run)


def test_a_rule_that_fails_ends_the_run() -> None:
    def fails(recordings: tuple[Recording, ...], most: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure_now(QUICK, enough=fails)


def test_cancel_ends_a_run_that_adds() -> None:
    async def cancelled() -> None:
        more = asyncio.Event()

        def progress(at: Progress) -> None:
            if at.done > 3 * 22:
                more.set()

        plan = dataclasses.replace(QUICK, at_most_s=600)
        task = asyncio.create_task(measure.measure(plan, progress, never))
        await more.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# The rule


def plan_within(share: float | None, *variants: str) -> Plan:
    return dataclasses.replace(QUICK, within=share, variants=variants)


def test_a_run_may_stop_when_its_interval_is_narrow_enough() -> None:
    made = recording({"fenced": FENCED})
    estimate = result_of(made, "fenced").estimate
    assert estimate is not None
    width = estimate.half_width / estimate.value

    def answer(share: float) -> str | None:
        rule = rule_of((plan_within(share, "fenced"),))
        assert rule is not None
        return rule((made,), 100)

    assert answer(width * 0.9) is None
    assert answer(width * 1.1) == f"interval within {width * 110:g} %"


def test_a_narrow_interval_that_does_not_answer_the_question_is_no_end() -> None:
    """As with `labs compare --fail-if`, where the limit may lie in it."""
    made, seen = recording({"fenced": FENCED}), []

    def tells(recordings: tuple[Recording, ...]) -> bool:
        seen.append(recordings)
        return len(seen) > 2

    rule = rule_of((plan_within(0.5, "fenced"),), "ns", tells)
    assert rule is not None
    assert [rule((made,), 100) for _ in range(3)] == [None, None, "interval within 50 %"]
    assert seen == [(made,)] * 3


def test_a_run_without_a_figure_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recording({"fenced": FENCED})
    none = dataclasses.replace(result_of(made), estimate=None)
    monkeypatch.setattr(stopping, "result_of", lambda *_: none)
    rule = rule_of((plan_within(0.5),))
    assert rule is not None and rule((made,), 100) is None


#: Ten processes that differ: half of the interval's width is a tenth of the value.
WIDE = simulate.run(simulate.Machine(step=2, process_spread=5), 10)


def answers(made: Recording, within: float, most: int) -> list[str | None]:
    """What the rule says at one look after the other, if nothing changes."""
    rule = rule_of((plan_within(within, *made.variants),))
    assert rule is not None
    return [rule((made,), most) for _ in range(stopping.LOOKS)]


def test_a_run_stops_if_its_interval_clearly_cannot_be_narrow_enough() -> None:
    estimate = result_of(WIDE).estimate
    assert estimate is not None
    shorter = min(estimate.high - estimate.value, estimate.value - estimate.low) / estimate.value
    *before, last = answers(WIDE, shorter / 8, 100)
    assert before == [None] * (stopping.LOOKS - 1)
    # The width falls with the root of ten, and somewhat more, because ten are few.
    percent = re.fullmatch(r"out of reach: about (.+) % at best", last or "")
    assert percent is not None
    assert 0.8 < float(percent[1]) / (100 * shorter) * math.sqrt(10) < 1


def test_a_run_goes_on_while_its_interval_may_become_narrow_enough() -> None:
    for times, most in ((5, 100), (100, 10**6), (1.9, 10), (0.9, 10)):
        estimate = result_of(WIDE).estimate
        assert estimate is not None, times
        width = estimate.half_width / estimate.value
        assert not any("reach" in (each or "") for each in answers(WIDE, width / times, most))


def test_a_hopeless_look_now_and_then_does_not_count() -> None:
    rule = rule_of((plan_within(0.001, *WIDE.variants),))
    assert rule is not None
    looks = [rule((WIDE,), 10**9 if n % stopping.LOOKS == 0 else 10) for n in range(40)]
    assert looks == [None] * 40


@pytest.mark.parametrize("shorter", [0.0, 0.001])
def test_an_interval_that_reaches_far_to_one_side_may_become_narrow(
    shorter: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(WIDE)
    assert result.estimate is not None
    value = result.estimate.value
    far = dataclasses.replace(result.estimate, low=0.6 * value, high=value * (1 + shorter))
    shared = dataclasses.replace(result, estimate=far)
    monkeypatch.setattr(stopping, "result_of", lambda *_: shared)
    assert answers(WIDE, 0.02, 20) == [None] * stopping.LOOKS


def test_a_run_that_is_hopeless_ends_early_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(made: Recording, *asked: str) -> Result:
        # Whether so few samples give a figure is not what is asked.
        far = Estimate(25.0, 5.0, 45.0, "ns", "wide", len(made), len(made.processes))
        return dataclasses.replace(result_of(made, *asked), estimate=far)

    monkeypatch.setattr(stopping, "result_of", wide)
    plan = dataclasses.replace(QUICK, at_most_s=600, time_limit_s=1200)
    run = measure_now(plan, enough=rule_of((plan,)))
    assert len(run.processes) == warning_thresholds.FEWEST_ASKED + stopping.LOOKS - 1
    found = not_narrow(run)
    assert found is not None and found.reachable is not None
    assert 0.05 < found.reachable < 0.8


def test_a_rule_hears_from_how_many_processes_it_can_have() -> None:
    seen: list[int] = []

    def enough(recordings: tuple[Recording, ...], most: int) -> str | None:
        seen.append(most)
        return "it knows" if len(recordings[0].processes) >= 5 else None

    measure_now(dataclasses.replace(QUICK, at_most_s=600, time_limit_s=1200), enough=enough)
    assert seen == [MOST_PROCESSES] * 3
    measure_now(dataclasses.replace(QUICK, at_most_s=0), enough=enough)
    assert seen[3:] == [3]


def test_plans_that_may_take_no_longer_need_no_rule() -> None:
    assert rule_of((plan_within(None), plan_within(None))) is None


def of_shared_core(machine: simulate.Machine) -> Recording:
    return as_declared(simulate.run(machine, 1), "procedure_call")


SHARED = dataclasses.replace(simulate.OPERATION, rounds=41)


def of_each(share: float) -> tuple[tuple[float, float], ...]:
    """Stretches of time that take this share of each of ten processes."""
    return tuple(((n + 0.15) / 10, (n + 0.15 + share) / 10) for n in range(10))


def test_a_run_goes_on_while_the_core_was_shared_and_little_is_left() -> None:
    for machine, stops in (
        (SHARED, True),
        (dataclasses.replace(SHARED, slower_processes=2, slower_by=0.3), True),
        (dataclasses.replace(SHARED, slower_processes=3, slower_by=0.3), False),
        # All processes are left, with more than half of their samples, or less.
        (dataclasses.replace(SHARED, neighbour=40, neighbour_stretches=of_each(0.3)), True),
        (dataclasses.replace(SHARED, neighbour=40, neighbour_stretches=of_each(0.7)), False),
        # Whoever asks for few processes gets these.
        (dataclasses.replace(SHARED, slower_processes=2, slower_by=0.3, processes=4), True),
        (dataclasses.replace(SHARED, slower_processes=2, slower_by=0.3, processes=5), False),
        # Processes that differ for another reason are no reason to take others.
        (dataclasses.replace(SHARED, rounds=0, slower_processes=3, slower_by=0.3), True),
    ):
        made = of_shared_core(machine)
        plan = Plan("procedure_call", samples=len(made), processes=machine.processes, replace_s=3)
        rule = rule_of((plan,))
        assert rule is not None, machine
        assert rule((made,), 100) == (stopping.LEFT if stops else None)


def test_no_figure_is_no_reason_to_replace_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recording({"fenced": FENCED})
    none = dataclasses.replace(result_of(made), estimate=None)
    monkeypatch.setattr(stopping, "result_of", lambda *_: none)
    rule = rule_of((dataclasses.replace(plan_within(None), replace_s=3),))
    assert rule is not None and rule((made,), 100) == stopping.LEFT


def test_a_run_that_replaces_nothing_states_nothing() -> None:
    plan = dataclasses.replace(QUICK, within=None, replace_s=30)
    run = measure_now(plan, enough=lambda recordings, most: "at once")
    assert not any(key.startswith("adaptive.") for key in run.conditions)


def test_a_run_that_replaces_processes_states_it() -> None:
    plan = dataclasses.replace(QUICK, within=None, replace_s=30)
    run = measure_now(plan, enough=when_it_has(5))
    assert len(run.processes) == 6  # 3, 4, 6: half as many more, between two looks
    assert run.conditions["adaptive.stopped"] == "it has them"
    assert run.conditions["adaptive.planned_processes"] == "3"
    assert run.conditions["adaptive.at_most_s"] == "30"
    assert "--replace 30" in run.conditions["command"]


# What is asked for


@pytest.mark.parametrize(
    "options",
    [
        {"within": 0},
        {"within": -0.02},
        {"within": 0.0009},
        {"within": 0.51},
        {"within": float("nan")},
        {"within": float("inf")},
        {"within": True},
        {"within": "2"},
        {"at_most_s": -1},
        {"at_most_s": 601},
        {"at_most_s": float("nan")},
        {"at_most_s": None},
        {"replace_s": -1},
        {"replace_s": 601},
        {"replace_s": True},
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(
        BadPlan, match=r"within .*: choose from 2 to 50|(at-most|replace) .*: choose from 0"
    ):
        dataclasses.replace(QUICK, **options).check()


def test_the_command_line_does_the_same() -> None:
    printed = QUICK.command_line()
    assert "--within 2 --at-most 30" in printed
    assert "--within" not in dataclasses.replace(QUICK, within=None).command_line()
    assert "--replace" not in printed, "an adaptive run replaces none"
    usual = dataclasses.replace(QUICK, within=None, replace_s=DEFAULT_REPLACE_S).command_line()
    assert "--replace" not in usual
    odd = dataclasses.replace(QUICK, within=0.07).command_line()
    assert "--within 7 --at-most 30" in odd


def test_the_command_adds_processes(capsys: pytest.CaptureFixture[str]) -> None:
    words = "measure timer_overhead --variant fenced --samples 60 --processes 3 --json"
    assert cli.main([*words.split(), "--within", "2", "--at-most", "0.3"]) == 0
    printed = json.loads(capsys.readouterr().out)["conditions"]
    assert printed["adaptive.within"] == "0.02" and printed["adaptive.planned_processes"] == "3"
    assert cli.main([*words.split(), "--within", "70"]) == 2
    assert "within 70 %: choose from 2 to 50 percent" in capsys.readouterr().err


def test_a_notebook_asks_in_percent(tmp_path: Path) -> None:
    lab = Session("01-timer-overhead", tmp_path)
    run = lab.measure(
        "timer_overhead", "fenced", samples=600, processes=5, within=50, at_most=5
    ).recording
    assert run.conditions["adaptive.within"] == "0.5"
    assert "--within 50 --at-most 5" in run.conditions["command"]
    with pytest.raises(Refused, match="within 70 %"):
        lab.measure("timer_overhead", within=70)


def test_a_cell_of_c_takes_the_option() -> None:
    plan = plan_of_cell("mine --within 2 --at-most 20", "int main(void) { return 0; }")
    assert (plan.within, plan.at_most_s) == (0.02, 20)
