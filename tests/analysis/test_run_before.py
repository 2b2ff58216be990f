"""Whether a run contradicts the one before it: when the kit says it, and when it does not."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from labs.commands.cli import main
from labs.notebook.session import Session
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.results.results_compared import disagreements, saved_at
from testing import simulate
from testing.declarations import as_declared
from testing.simulate import OPERATION, VARIANT, Machine

SETTINGS = ["--samples", "400", "--processes", "5", "--warmup", "2"]


def run_of(
    cost: float = OPERATION.cost, seed: int = 1, stated: Mapping[str, str] | None = None
) -> Recording:
    made = simulate.run(replace(OPERATION, cost=cost), seed)
    conditions = MappingProxyType({**made.conditions, **(stated or {})})
    return as_declared(replace(made, conditions=conditions), "procedure_call")


def result(recording: Recording, unit: str = "ticks") -> Result:
    return result_of(recording, VARIANT, unit)


def said(now: Recording, before: Recording, unit: str = "ticks") -> tuple[str, ...]:
    return disagreements(before, (result(now, unit),))


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_two_runs_that_exclude_each_other_contradict(factor: float) -> None:
    (sentence,) = said(run_of(factor * OPERATION.cost), run_of(seed=2))
    assert sentence.startswith(f"{VARIANT}: this run and the one before")
    assert "neither interval" in sentence and "(--spread 20)" in sentence


def test_in_a_notebook_the_advice_is_an_argument() -> None:
    now = result(run_of(1.1 * OPERATION.cost)).for_python()
    (sentence,) = disagreements(run_of(seed=2), (now,))
    assert "(spread=20)" in sentence and "--" not in sentence


def test_runs_of_one_cost_hardly_ever_contradict() -> None:
    """Of two honest 95 % intervals, 1 pair in 20 differs by more than they allow."""
    machine = replace(OPERATION, speed_spread=0.03)
    every = [as_declared(simulate.run(machine, seed), "procedure_call") for seed in range(60)]
    pairs = list(itertools.pairwise(every))
    values = [result(each).estimate for each in every]
    apart = [abs(b.value / a.value - 1) for a, b in itertools.pairwise(values) if a and b]
    assert sum(each > 0.01 for each in apart) > 10
    assert sum(bool(said(now, before)) for before, now in pairs) <= 1


def at_speed(made: Recording, factor: float) -> Recording:
    """The recording of a core whose cycles are so many times as long."""
    each = tuple(
        MappingProxyType({**stated, "core_cycle_ticks": f"{0.7 * factor}"})
        for stated in made.processes
    )
    left = {key: text for key, text in made.conditions.items() if key != "core_cycle_ticks"}
    return replace(made, processes=each, conditions=MappingProxyType(left))


@pytest.mark.parametrize(("cost", "cycle"), [(1.1, 1.1), (1.0, 1.1)])
def test_another_clock_speed_is_no_contradiction(cost: float, cycle: float) -> None:
    """A call takes as many core cycles as before, and memory takes as long."""
    before = at_speed(run_of(seed=2), 1.0)
    now = at_speed(run_of(cost * OPERATION.cost), cycle)
    assert said(now, before) == ()
    assert said(at_speed(run_of(1.1 * OPERATION.cost), 1.0), before, "cycles") != ()


def test_a_difference_of_a_hundredth_is_not_worth_a_sentence() -> None:
    assert said(run_of(1.008 * OPERATION.cost), run_of(seed=2)) == ()
    assert said(run_of(1.03 * OPERATION.cost), run_of(seed=2)) != ()


OTHER = [
    {"flags": "-O0"},
    {"source.sha256": "another"},
    {"compiler": "another"},
    {"machine.cpu": "another"},
    {"cpu.asked": "7"},
    {"variants": "simulated,loop"},
    {"command": "labs measure x --peer-cpu 1"},
]


@pytest.mark.parametrize("stated", OTHER, ids=lambda stated: next(iter(stated)))
def test_a_run_of_something_else_is_no_contradiction(stated: dict[str, str]) -> None:
    assert said(run_of(2 * OPERATION.cost, stated=stated), run_of(seed=2)) == ()


def test_another_c_kernel_or_variant_is_no_contradiction() -> None:
    now, before = run_of(2 * OPERATION.cost), run_of(seed=2)
    assert said(now, as_declared(before, "system_call")) == ()
    assert said(now, replace(before, variants=("another",))) == ()


def test_a_run_without_a_figure_contradicts_nothing() -> None:
    bent = as_declared(simulate.run(Machine(hidden=120), 1), "procedure_call")
    assert result(bent).estimate is None
    assert said(bent, run_of(seed=2)) == () and said(run_of(seed=2), bent) == ()


@pytest.mark.parametrize("content", [None, b"", b"no recording", b"\xff" * 99])
def test_what_is_no_recording_is_no_run_before(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "r.csv").write_bytes(content)
    assert saved_at(tmp_path / "r.csv") is None and saved_at(tmp_path) is None


def test_a_terminal_says_it_when_the_recording_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given_times: dict[str, int]
) -> None:
    command = ["measure", "system_call", "--variant", "invalid", *SETTINGS]
    saving = [*command, "--save", str(tmp_path / "r.csv")]
    for ticks, contradicts in ((300, False), (300, False), (400, True), (400, False)):
        given_times["invalid"] = ticks
        assert main(saving) == 0
        assert ("contradict" in capsys.readouterr().out) is contradicts
    given_times["invalid"] = 300
    assert main([*saving, "--json"]) == 0
    printed = capsys.readouterr()
    assert "contradict" in printed.err and "contradict" not in printed.out
    given_times["invalid"] = 400
    assert main(command) == 0
    assert "contradict" not in capsys.readouterr().out


def test_a_notebook_says_it_below_the_figure(tmp_path: Path, given_times: dict[str, int]) -> None:
    session = Session("03-system-call", tmp_path)
    shown = []
    for ticks in (300, 400, 400):
        given_times["invalid"] = ticks
        run = session.measure("system_call", "invalid", samples=400, processes=5, save="own")
        shown.append((repr(run), run._repr_html_()))
    for in_text, in_page in shown[::2]:
        assert "contradict" not in in_text + in_page
    for each in shown[1]:
        assert "invalid: this run and the one before, saved under the same name" in each
        assert "spread=20" in each
