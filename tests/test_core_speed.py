"""The core speeds seen of late: remembered for an hour, on each machine its own."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from submitted_figures import CYCLE_TICKS, FENCED, Clocked, recording

from labs import core_speed
from labs.core_speed import FILE_NAME, MOST_ENTRIES, REMEMBERED_S, seen_lately
from labs.recording import Recording
from labs.result import result_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path))
    return tmp_path


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(core_speed.time, "time", lambda: seconds)


def test_the_first_run_knows_its_own_speed_only() -> None:
    assert seen_lately(0.65) == (0.65, 0.65)


def test_later_runs_know_all_of_the_last_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, 1_000_000)
    seen_lately(0.65)
    seen_lately(0.72)
    at(monkeypatch, 1_000_000 + REMEMBERED_S - 1)
    assert seen_lately(0.70) == (0.65, 0.72)
    at(monkeypatch, 1_000_000 + REMEMBERED_S + 1)
    assert seen_lately(0.71) == (0.70, 0.71)


def test_a_clock_that_was_set_back_forgets_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, 2_000_000)
    seen_lately(0.65)
    at(monkeypatch, 1_000_000)
    assert seen_lately(0.70) == (0.70, 0.70)


def test_machines_that_share_a_home_remember_each_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen_lately(0.65)
    monkeypatch.setattr(core_speed.platform, "node", lambda: "another")
    assert seen_lately(0.9) == (0.9, 0.9)
    monkeypatch.undo()


def test_what_is_not_trusted_is_not_remembered() -> None:
    seen_lately(0.65)
    assert seen_lately(0.40, remember=False) == (0.40, 0.65)
    assert seen_lately(0.66) == (0.65, 0.66)


def test_one_odd_run_of_many_widens_nothing() -> None:
    for number in range(98):
        seen_lately(0.60 + 0.001 * (number % 50))
    seen_lately(0.35)
    low, high = seen_lately(0.62)
    assert (low, high) == (pytest.approx(0.60, abs=0.0025), pytest.approx(0.648, abs=0.0025))


def test_a_cycle_in_ticks_of_another_clock_is_another_number() -> None:
    seen_lately(0.65, "tsc")
    assert seen_lately(0.25, "clock_monotonic") == (0.25, 0.25)
    assert seen_lately(0.70, "tsc") == (0.65, 0.70)


def test_memory_is_bounded(cache: Path) -> None:
    for _ in range(MOST_ENTRIES + 5):
        seen_lately(0.65)
    (entries,) = json.loads((cache / FILE_NAME).read_text()).values()
    assert len(entries) == MOST_ENTRIES


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"m": 3}',
        b'{"m": [[1]]}',
        b'{"m": [["a", "b"]]}',
        b"[" * 10_000,
    ],
)
def test_an_unusable_file_is_as_if_it_were_not_there(cache: Path, content: bytes) -> None:
    (cache / FILE_NAME).write_bytes(content)
    assert seen_lately(0.65) == (0.65, 0.65)


def test_where_nothing_can_be_remembered_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TICKLAB_CACHE", str(blocked / "below"))
    assert seen_lately(0.65) == (0.65, 0.65)


def test_an_interval_in_ns_spans_the_speeds_of_the_last_hour_and_one_in_cycles_does_not() -> None:
    alone = recording({"fenced": FENCED})
    lately = recording({"fenced": FENCED}, extra={"core_cycle_ticks.last_hour": "0.66 0.80"})
    narrow, wide = result_of(alone).estimate, result_of(lately).estimate
    assert narrow is not None and wide is not None
    assert wide.value == narrow.value
    assert wide.low == pytest.approx(narrow.value * 0.66 / CYCLE_TICKS)
    assert wide.high == pytest.approx(narrow.value * 0.80 / CYCLE_TICKS)
    in_cycles = [result_of(run, unit="cycles").estimate for run in (alone, lately)]
    assert in_cycles[0] == in_cycles[1]


def five_runs(last_hour: str | None) -> list[Recording]:
    """Runs of the same timer, each at another speed of the core, as in a virtual machine."""
    runs = []
    for seed, speed in enumerate((1.0, 1.14, 0.97, 1.05, 1.12), start=1):
        extra = {"core_cycle_ticks": f"{CYCLE_TICKS * speed:.5f}"}
        if last_hour is not None:
            extra["core_cycle_ticks.last_hour"] = last_hour
        clocked = Clocked(FENCED.overhead * speed, FENCED.cost * speed)
        runs.append(recording({"fenced": clocked}, seed=seed, noise=1.5 * speed, extra=extra))
    return runs


def apart(runs: list[Recording], unit: str) -> int:
    """Of the ten pairs, how many have intervals that do not meet."""
    found = [result_of(run, unit=unit).estimate for run in runs]
    estimates = [estimate for estimate in found if estimate is not None]
    assert len(estimates) == len(runs)
    return sum(
        max(one.low, other.low) > min(one.high, other.high)
        for one, other in itertools.combinations(estimates, 2)
    )


def test_five_runs_at_different_clock_speeds_agree_within_their_intervals() -> None:
    seen = f"{CYCLE_TICKS * 0.97:.5f} {CYCLE_TICKS * 1.14:.5f}"
    assert apart(five_runs(seen), "ns") == 0
    assert apart(five_runs(seen), "cycles") == 0
    # Who knows nothing of the other speeds is sure of a time that the next run contradicts.
    assert apart(five_runs(None), "ns") > 5
