"""The best width of the core that was ever seen: remembered for each model of CPU."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from labs.machine import cores
from labs.recording.core_rounds import STORES, by_round, reached
from labs.recording.file import Recording
from labs.run import best_width
from labs.run.best_width import FILE_NAME, MOST_ENTRIES, best
from labs.run.measure import Plan, measure_now
from testing.submitted_figures import FENCED, recording


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path))
    return tmp_path


def run_of(*texts: str, cpu: str = "a model", counter: str = "tsc") -> Recording:
    """A run whose processes say these texts of the core's width."""
    made = recording({"fenced": FENCED})
    common = {**made.conditions, "machine.cpu": cpu, "counter": counter}
    if len(texts) == 1:
        return replace(made, conditions={**common, "core_width": texts[0]})
    each = made.processes[0]
    return replace(
        made,
        conditions=common,
        processes=tuple({**each, "core_width": text} for text in texts),
    )


def remembered(run: Recording) -> float | None:
    return best(run, remember=True)


def test_each_process_has_its_rounds_and_one_that_is_no_list_has_none() -> None:
    run = run_of("3.98 2.01", "4.00 nan", "4.00 x", "", "-1 4")
    assert by_round(run) == ((3.98, 2.01), (), (), (), ())
    assert by_round(recording({"fenced": FENCED})) == ()


def test_a_tenth_of_the_rounds_must_reach_it() -> None:
    many = " ".join(["2.00"] * 9)
    assert reached(run_of(f"{many} 3.98")) == 3.98
    assert reached(run_of(f"{many} 2.00 3.98")) == 2.0, "one odd round of eleven"
    assert reached(run_of(f"{many} 3.98", f"{many} 2.00", f"{many} 3.98")) == 2.0
    assert reached(recording({"fenced": FENCED})) is None


def test_the_best_is_kept_and_only_trusted_runs_raise_it() -> None:
    assert best(run_of("4.00"), remember=False) is None
    assert remembered(run_of("2.00")) == 2.0
    assert remembered(run_of("4.00")) == 4.0
    assert remembered(run_of("2.10")) == 4.0
    assert best(run_of("5.00"), remember=False) == 4.0


def test_stores_are_remembered_beside_the_additions() -> None:
    run = run_of("4.00")
    both = replace(run, conditions={**run.conditions, STORES: "2.00 1.50"})
    assert (reached(both), reached(both, STORES)) == (4.0, 2.0)
    assert (remembered(both), best(both, STORES, remember=True)) == (4.0, 2.0)
    assert best(run_of("3.00"), STORES, remember=True) == 2.0, "a run without stores"
    assert best(run_of("3.00"), remember=False) == 4.0


def test_each_model_and_counter_has_its_own() -> None:
    remembered(run_of("4.00"))
    assert remembered(run_of("6.00", cpu="another")) == 6.0
    assert remembered(run_of("3.00", counter="clock_monotonic")) == 3.0
    assert remembered(run_of("2.00")) == 4.0


def test_where_cores_are_mixed_each_cpu_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "MIXED_CORES", (tmp_path,))

    def on(cpu: str, width: str) -> float | None:
        run = run_of(width)
        return remembered(replace(run, conditions={**run.conditions, "cpu.after": cpu}))

    assert on("0", "6.00") == 6.0
    assert on("8", "3.00") == 3.0, "a small core does fewer by itself"
    assert on("0", "2.00") == 6.0
    assert remembered(run_of("6.00")) is None, "nobody knows on which kind of core it was"


@pytest.mark.parametrize("impossible", ["0", "99", "1e300", "", "x"])
def test_a_width_that_cannot_be_is_not_remembered(impossible: str, cache: Path) -> None:
    assert remembered(run_of(impossible)) is None
    assert not (cache / FILE_NAME).exists()


def test_memory_is_bounded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_width, "MOST_ENTRIES", 30)
    for number in range(35):
        remembered(run_of("4.00", cpu=f"model {number}" * 100))
        remembered(run_of("4.00", cpu=f"model {number}"))
    assert len(json.loads((cache / FILE_NAME).read_text())) == 30
    assert (cache / FILE_NAME).stat().st_size * MOST_ENTRIES / 30 < best_width._MOST_BYTES


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"KEY": "4"}',
        b'{"KEY": true}',
        b'{"KEY": [4]}',
        b'{"KEY": NaN}',
        b'{"KEY": 1e999}',
        b'{"KEY": -4}',
        b'{"KEY": 90}',
        b"[" * 10_000,
        b" " * 100_000,
    ],
)
def test_an_unusable_file_is_as_if_it_were_not_there(cache: Path, content: bytes) -> None:
    key = f"{platform.machine()} a model tsc".encode()
    (cache / FILE_NAME).write_bytes(content.replace(b"KEY", key))
    assert best(run_of("4.00"), remember=False) is None
    assert remembered(run_of("3.00")) == 3.0
    assert remembered(run_of("2.00")) == 3.0


def test_a_file_that_is_no_file_is_as_if_it_were_not_there(cache: Path) -> None:
    os.mkfifo(cache / FILE_NAME)
    assert best(run_of("4.00"), remember=False) is None


def test_where_nothing_can_be_remembered_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TICKLAB_CACHE", str(blocked / "below"))
    assert remembered(run_of("4.00")) == 4.0


def test_a_run_says_where_its_rounds_lie_and_what_was_best() -> None:
    plan = Plan("timer_overhead", ("fenced",), samples=600, processes=2, warmup=10)
    short = measure_now(plan)
    if not by_round(short):
        pytest.skip("no assembly for this architecture")
    assert "core_width.best" not in short.conditions, "two processes are not to be trusted"
    run = measure_now(replace(plan, processes=6))
    assert len(by_round(run)) == 6
    (after,) = set(run.condition("core_width.after"))
    places = [int(word) for word in after.split()]
    assert places[0] == -11 and places[-1] == 99 and places == sorted(places)
    for rounds in by_round(run):
        assert len(rounds) == len(places) and all(0 < width < 20 for width in rounds)
    assert float(run.conditions["core_width.best"]) == reached(run)
    again = measure_now(plan)
    assert again.conditions["core_width.best"] == run.conditions["core_width.best"]
