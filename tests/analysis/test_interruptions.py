"""What lengthens samples now and then: others, by what was counted beside, or the operation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labs.analysis import interruptions
from labs.analysis.line import Line, fit_line
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


def lines(machine: Machine) -> list[Line]:
    return [line_of(simulate.run(machine, seed)) for seed in range(40)]


@pytest.mark.parametrize("batches", [(1, 2, 3), (4, 8, 12, 16), (12, 18, 24), (50, 75, 100)])
def test_what_the_operation_does_itself_belongs_to_its_cost(batches: tuple[int, ...]) -> None:
    machine = replace(OWN, gaps_per_s=500, batches=batches)
    found = lines(machine)
    assert machine.mean_cost == pytest.approx(1859)
    assert all(line.share_set_aside("interrupted") == 0 for line in found)
    # Of 40 intervals at 95 %, 5 miss the truth once in 20 times, 7 once in 300.
    assert sum(line.cost.contains(machine.mean_cost) for line in found) >= 34


def test_what_others_do_as_often_does_not() -> None:
    found = lines(replace(DISTURBED, gaps_per_s=80_000))
    assert all(line.share_set_aside("interrupted") > 0.2 for line in found)
    assert sum(line.cost.contains(STEADY.cost) for line in found) >= 34


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
