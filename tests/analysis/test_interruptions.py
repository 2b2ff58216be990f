"""What lengthens samples now and then: others, by what was counted beside, or the operation."""

from __future__ import annotations

import statistics
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from labs.analysis import interruptions
from labs.analysis.line import Line, fit_line
from labs.analysis.net_cost import net_cost
from labs.analysis.process_lines import ProcessLines, process_lines
from labs.recording.file import read
from testing import simulate
from testing.paths import FIXTURES
from testing.simulate import OPERATION, Machine, line_of

#: Operations of 0.6 us on a clock of 2.6 GHz, seen in samples of 2 to 10 us.
STEADY = replace(OPERATION, cost=1560.0, noise=26.0, batches=(4, 8, 12, 16))
#: One in 20 takes 2.3 us longer, which is 50,000 times per second.
OWN = replace(STEADY, own=5980.0, own_every=20.0)
#: As often and as long, by others.
DISTURBED = replace(STEADY, interruption=5980.0, interrupted_every=20 * 1560.0)


def process_lines_of(machine: Machine, seed: int) -> ProcessLines:
    return process_lines(simulate.run(machine, seed), simulate.VARIANT, False)


def lines(machine: Machine) -> list[Line]:
    return [line_of(simulate.run(machine, seed)) for seed in range(40)]


@pytest.mark.parametrize("batches", [(1, 2, 3), (4, 8, 12, 16), (12, 18, 24), (50, 75, 100)])
def test_what_the_operation_does_itself_belongs_to_its_cost(batches: tuple[int, ...]) -> None:
    machine = replace(OWN, gaps_per_s=500, batches=batches)
    found = lines(machine)
    assert machine.mean_cost == pytest.approx(1859)
    # A few milliseconds may miss the OS's own timer, so a thousand per second count in any case.
    assert all(line.share_set_aside("interrupted") < 0.1 for line in found)
    # Of 40 intervals at 95 %, 5 miss the truth once in 20 times, 7 once in 300.
    assert sum(line.cost.contains(machine.mean_cost) for line in found) >= 34


def test_what_others_do_as_often_does_not() -> None:
    found = lines(replace(DISTURBED, gaps_per_s=80_000))
    assert all(line.share_set_aside("interrupted") > 0.2 for line in found)
    assert sum(line.cost.contains(STEADY.cost) for line in found) >= 34


@pytest.mark.parametrize("per_s", [5_000, 15_000, 25_000])
def test_of_delays_of_both_kinds_as_many_are_set_aside_as_were_counted(per_s: int) -> None:
    """Both add the same, so no sample shows which one it met. All or none would be far off. As on
    real machines, samples are interrupted 1.25 times as often as was counted beside."""
    every, beside = 2.6e9 / per_s, round(per_s / 1.25)
    machine = replace(OWN, interruption=5980.0, interrupted_every=every, gaps_per_s=beside)
    found = lines(machine)
    values = [line.cost.value for line in found]
    assert statistics.fmean(values) == pytest.approx(machine.mean_cost, rel=0.02)
    kept = (line.share_set_aside("interrupted") for line in found)
    assert 0.03 < statistics.fmean(kept) < 0.35


def test_a_second_speed_of_long_samples_is_no_delay_of_the_operation() -> None:
    """As in a procedure call: one sample in twelve runs at half the speed from end to end. Only of
    the longest does this add more than the shortest interruption."""
    call = replace(OPERATION, cost=1.4, noise=3.0, batches=(256, 512, 1024, 2048), samples=8_000)
    machine = replace(call, interruption=9400.0, interrupted_every=3.25e5, gaps_per_s=8_000)
    for seed in range(10):
        made = simulate.run(machine, seed)
        slow = np.random.default_rng(seed).random(len(made)) < 1 / 12
        ticks = np.where(slow, made.ticks * 2, made.ticks)
        line = line_of(replace(made, ticks=ticks))
        assert line.cost.value == pytest.approx(1.4, rel=0.002)


def test_a_run_that_counted_nothing_beside_is_read_as_before() -> None:
    found = lines(OWN)
    assert all(line.share_set_aside("interrupted") > 0.2 for line in found)
    assert sum(line.cost.contains(STEADY.cost) for line in found) >= 34


def test_time_slices_of_other_programs_do_not_even_if_few_were_counted_beside() -> None:
    """A run on a busy machine: they last from microseconds to milliseconds."""
    saved = FIXTURES / "pitfalls/another-call/wrong/recordings/run.csv"
    line = fit_line(read(saved), "gettimeofday")
    assert line.share_set_aside("interrupted") > 0.2
    assert line.cost.value / line.clock.ticks_in("ns") == pytest.approx(500, rel=0.03)


def test_a_timer_of_the_os_may_be_missed_beside() -> None:
    """A few milliseconds see none or one of 1,000 interruptions per second."""
    machine = replace(
        STEADY,
        batches=(200, 400, 800),
        interruption=260_000.0,
        interrupted_every=2.6e6,
        gaps_per_s=0,
    )
    found = lines(machine)
    assert sum(line.share_set_aside("interrupted") > 0.1 for line in found) >= 36
    assert sum(line.cost.contains(STEADY.cost) for line in found) >= 34


@pytest.mark.parametrize(
    ("stated", "beside"),
    [(["500", "700", "90000"], 700.0), (["", "\u00b2", "-1"], None), ([], None)],
)
def test_one_disturbed_process_does_not_decide(stated: list[str], beside: float | None) -> None:
    found = simulate.run(replace(STEADY, processes=3), seed=1)
    processes = tuple({"cpu.gaps_per_s": text} for text in stated)
    told = replace(found, processes=processes or found.processes)
    assert interruptions.counted_beside(told) == beside


#: Short interruptions of all lengths, which no sample shows: they take 3 % of the time.
HIDDEN = replace(OPERATION, cost=300.0, noise=60.0, batches=(8, 16, 24, 32), skew_by_length=0.03)
SAID = replace(HIDDEN, gaps_per_s=15_000, taken=0.03)


def test_an_interval_reaches_down_by_what_interruptions_took_that_no_sample_shows() -> None:
    without, found = lines(HIDDEN), lines(SAID)
    assert sum(line.cost.contains(300) for line in without) <= 4
    assert sum(line.cost.contains(300) for line in found) >= 36
    for line, before in zip(found, without, strict=True):
        assert line.cost.value == before.cost.value
        assert line.cost.high == before.cost.high
        assert before.cost.low - line.cost.low == pytest.approx(0.03 * line.cost.value, rel=0.05)


def test_what_all_processes_counted_alike_is_stated_once_and_counts_for_all() -> None:
    made = simulate.run(SAID, 1)
    alone = tuple(
        MappingProxyType({k: v for k, v in each.items() if k != "cpu.taken"})
        for each in made.processes
    )
    common = MappingProxyType({**made.conditions, "cpu.taken": "0.03"})
    once = replace(made, processes=alone, conditions=common)
    found = (process_lines(each, simulate.VARIANT, False).unseen for each in (made, once))
    assert next(found) == next(found) > 0.02


def test_they_took_the_same_share_of_a_variant_and_its_baseline() -> None:
    """So the interval of the difference reaches down by that share of the difference only."""
    baseline = replace(SAID, cost=270.0)
    for seed in range(10):
        made = simulate.with_baseline(SAID, baseline, seed)
        net = net_cost(made, fit_line(made, "operation")).net
        same = replace(SAID, taken=0.0), replace(baseline, taken=0.0)
        made = simulate.with_baseline(*same, seed)
        before = net_cost(made, fit_line(made, "operation")).net
        assert net.value == before.value and net.high - before.high < 0.02 * net.value
        assert before.low - net.low < 0.06 * net.value < 0.01 * 300


def test_what_was_set_aside_explains_what_they_took() -> None:
    recognised = replace(DISTURBED, gaps_per_s=80_000, taken=0.15)
    assert all(process_lines_of(recognised, seed).unseen == 0 for seed in range(5))


@pytest.mark.parametrize(
    ("per_s", "taken", "most"),
    # Time slices of other programs put a sample far from all others, however much they take.
    [(50, 0.5, 0.0006), (0, 0.0, 0.0), (15_000, 7e9, 0.2), (10**11, 1.0, 0.2), (15_000, -1.0, 0.0)],
)
def test_no_recording_can_make_its_intervals_as_wide_as_it_likes(
    per_s: int, taken: float, most: float
) -> None:
    assert process_lines_of(replace(HIDDEN, gaps_per_s=per_s, taken=taken), 1).unseen <= most
