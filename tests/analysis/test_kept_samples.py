"""Which samples count: on a whole core, near the others, or lengthened by the operation itself."""

from __future__ import annotations

import contextlib
import time
import tracemalloc
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from labs.analysis.estimates import CannotEstimate
from labs.analysis.line import Kept, Line, cells_of, core_of, fit_line, kept_samples, step_of
from labs.recording.file import BadRecording, Integers, Recording, read
from testing import simulate
from testing.declarations import as_declared
from testing.paths import FIXTURES
from testing.simulate import OPERATION, STEPS, VARIANT, WHOLE_WIDTH, Machine, line_of
from testing.submitted_figures import Clocked, recording

#: Stretches in which a neighbour runs, as shares of the run.
VISITS = ((0.03, 0.27), (0.52, 0.68))
CALL = replace(OPERATION, rounds=41)


def call(machine: Machine, seed: int = 1) -> Recording:
    return as_declared(simulate.run(machine, seed), "procedure_call")


def kept_of(run: Recording) -> Kept:
    samples = run.samples(VARIANT)
    return kept_samples(run, samples, cells_of(samples, step_of(samples)))


def stating(run: Recording, *texts: str, key: str = "core_width", after: str = "") -> Recording:
    """The recording whose processes state these widths, in turn."""
    each = tuple(
        {**stated, key: texts[number % len(texts)]} for number, stated in enumerate(run.processes)
    )
    common = dict(run.conditions)
    if after:
        common["core_width.after"] = after
    return replace(run, processes=each, conditions=common)


def lines(machine: Machine, count: int = 40) -> list[Line]:
    return [line_of(simulate.run(machine, seed)) for seed in range(count)]


def times(width: str) -> str:
    return " ".join([width] * 41)


# The core


def test_a_whole_core_loses_no_sample() -> None:
    found = kept_of(call(CALL))
    assert not found.always and not found.shared.any()


def test_processes_that_shared_the_core_are_set_aside_whatever_their_layout() -> None:
    machine = replace(CALL, slower_processes=4, speed_spread=0.05)
    for seed in range(5):
        line = line_of(call(machine, seed))
        assert line.share_set_aside("shared") == pytest.approx(0.4)
        assert line.cost.processes == 6 and not line.shared


def test_no_process_is_left_out_for_its_cost_alone() -> None:
    run = call(replace(CALL, slower_processes=3))
    line = line_of(stating(run, times(f"{WHOLE_WIDTH}")))
    assert line.cost.processes == 10 and line.cost.contains(9 * 1.03)


def test_the_rounds_before_and_after_a_sample_decide() -> None:
    run = call(replace(CALL, processes=2, samples=240, rounds=4))
    run = stating(run, "4 4 2 4", "4 4 4 4", after="-1 39 79 119")
    found, samples = kept_of(run).shared, run.samples(VARIANT)
    mine = samples.process == 0
    expected = (samples.sample[mine] > 39) & (samples.sample[mine] <= 119)
    assert np.array_equal(found[mine], expected) and not found[~mine].any()


def test_a_neighbour_within_processes_is_set_aside() -> None:
    machine = Machine(rounds=41, neighbour=11, neighbour_stretches=VISITS, samples=10_000)
    line = line_of(simulate.run(machine, 1))
    assert line.share_set_aside("shared") == pytest.approx(0.45, abs=0.05)
    assert line.overhead.contains(50, slack=0.2)


def test_a_process_with_hardly_a_sample_on_a_whole_core_is_left_out() -> None:
    run = call(replace(CALL, processes=5, samples=600))
    hardly = " ".join(["4", "4", *["2"] * 39])
    shared, process = kept_of(stating(run, *[times("4")] * 4, hardly)).shared, run.process
    assert shared[process == 4].all() and not shared[process < 4].any()


def test_stores_show_a_neighbour_that_the_additions_miss() -> None:
    run = call(replace(CALL, processes=8, rounds=4))
    found = kept_of(stating(run, "2 2 2 2", "1.5 1.4 1.5 1.6", key="core_stores"))
    assert not found.always
    assert np.array_equal(found.shared, run.samples(VARIANT).process % 2 == 1)


@pytest.mark.parametrize("text", ["0.5 0.3 0.5", "a b c d", ""])
def test_stores_that_tell_nothing_leave_the_additions_to_decide(text: str) -> None:
    run = stating(call(replace(CALL, rounds=4)), "4 4 4 4", "2 2 2 2")
    alone, both = kept_of(run), kept_of(stating(run, text, key="core_stores"))
    assert alone.shared.any() and np.array_equal(alone.shared, both.shared)


@pytest.mark.parametrize("slower_by", [0.1, 0.4, 1.4])
def test_a_core_that_is_always_shared_gives_an_upper_limit(slower_by: float) -> None:
    machine = replace(CALL, slower_processes=10, slower_by=slower_by)
    for seed in range(10):
        line = line_of(call(machine, seed))
        assert line.shared and line.straight and line.cost.at_most and line.overhead.at_most
        assert line.cost.contains(9.0 * (1 + slower_by)), "the interval is that of this condition"
        assert line.share_set_aside("shared") == 0


def test_two_processes_on_a_whole_core_are_too_few() -> None:
    for few in (1, 2):
        assert kept_of(stating(call(CALL), *[times("2")] * (10 - few), *[times("4")] * few)).always
    found = kept_of(stating(call(CALL), *[times("2")] * 7, *[times("4")] * 3))
    assert not found.always and found.shared.mean() == pytest.approx(0.7)


def test_a_core_of_another_architecture_may_be_narrow() -> None:
    run = stating(call(CALL), times("2"))
    assert kept_of(run).always
    small = replace(run, conditions={**run.conditions, "os": "Linux 6.1 aarch64"})
    assert not kept_of(small).always
    core = core_of(small)
    assert core is not None and core.additions == 2


@pytest.mark.parametrize("stated", ["0.01", "4", "5.33", "1e308", "nan", "x"])
def test_no_best_from_elsewhere_decides(stated: str) -> None:
    """Older kits remembered the widest core of a user, and wrote it into the recording."""
    run = call(replace(CALL, slower_processes=3))
    more = {"core_width.best": stated, "core_stores.best": stated}
    told = replace(run, conditions={**run.conditions, **more})
    assert line_of(told).cost == line_of(run).cost
    assert line_of(told).shared is line_of(run).shared is False


# What is far


@pytest.mark.parametrize("step", STEPS)
def test_the_truth_is_found_between_the_interruptions(step: int) -> None:
    """Half of the longest samples are hit, a tenth of the shortest."""
    busy = Machine(interrupted_every=600.0, interruption=7000.0, gaps_per_s=4_000_000)
    machine = simulate.with_step(busy, step)
    found = [line for line in lines(machine) if line.straight]
    assert len(found) >= 38
    # Of 40 intervals at 95 %, 5 miss the truth once in 20 times, 7 once in 300.
    assert sum(line.cost.contains(machine.cost) for line in found) >= 33
    assert sum(line.overhead.contains(machine.intercept) for line in found) >= 33


def test_of_batch_sizes_that_were_nearly_always_hit_the_shorter_tell() -> None:
    machine = Machine(interrupted_every=180.0, interruption=7000.0, gaps_per_s=14_000_000)
    found = lines(machine)
    assert sum(line.straight for line in found) >= 38
    assert sum(line.cost.contains(machine.cost) for line in found) >= 34


def test_the_bulk_is_near_and_interrupts_are_far() -> None:
    run = simulate.run(Machine(samples=5000), 1)
    hit = np.arange(len(run)) % 20 == 0
    found = kept_of(replace(run, ticks=run.ticks + 9000 * hit)).weight
    assert not found[hit].any() and found[~hit].mean() > 0.999


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_a_second_way_of_the_operation_stays_or_goes_in_all_batch_sizes(share: float) -> None:
    found = lines(Machine(slow=300.0, slow_share=share, gaps_per_s=500))
    assert sum(line.straight for line in found) >= 38
    assert sum(line.cost.contains(0.73) for line in found) >= 34


def test_the_next_step_of_a_coarse_counter_is_near() -> None:
    run = simulate.run(Machine(overhead=24.0, cost=0.234, noise=0.5), 1)
    assert kept_of(replace(run, ticks=run.ticks // 10 * 10)).weight.all()


def test_slow_processes_lose_no_more_samples_than_the_others() -> None:
    line = line_of(simulate.run(replace(OPERATION, speed_spread=0.1), 1))
    assert line.set_aside["far"].max() <= 5


# The operation's own delays

#: Operations of 0.6 us on a clock of 2.6 GHz, seen in samples of 2 to 10 us.
STEADY = replace(OPERATION, cost=1560.0, noise=26.0, batches=(4, 8, 12, 16))
#: One in 20 takes 2.3 us longer, which is 50,000 times per second.
OWN = replace(STEADY, own=5980.0, own_every=20.0, gaps_per_s=500)
#: As often and as long, by others.
DISTURBED = replace(STEADY, interruption=5980.0, interrupted_every=20 * 1560.0)


@pytest.mark.parametrize("batches", [(4, 6, 8), (4, 8, 12, 16), (12, 18, 24), (50, 75, 100)])
def test_what_the_operation_does_itself_belongs_to_its_cost(batches: tuple[int, ...]) -> None:
    machine = replace(OWN, batches=batches)
    assert machine.mean_cost == pytest.approx(1859)
    assert sum(line.cost.contains(machine.mean_cost) for line in lines(machine)) >= 33


def test_what_others_do_as_often_does_not() -> None:
    found = lines(replace(DISTURBED, gaps_per_s=80_000))
    assert all(line.share_set_aside("far") > 0.2 for line in found)
    assert sum(line.cost.contains(STEADY.cost) for line in found) >= 34


def test_a_run_that_counted_nothing_beside_does_not_know_whose_they_are() -> None:
    for line in lines(replace(OWN, gaps_per_s=None)):
        assert line.cost.low <= OWN.mean_cost and line.cost.high >= STEADY.cost


def test_a_second_speed_of_long_samples_is_no_delay_of_the_operation() -> None:
    """As in a procedure call: one sample in twelve runs at half the speed from end to end."""
    machine = replace(
        OPERATION,
        cost=1.4,
        noise=3.0,
        batches=(256, 512, 1024, 2048),
        samples=8_000,
        gaps_per_s=500,
    )
    for seed in range(10):
        made = simulate.run(machine, seed)
        slow = np.random.default_rng(seed).random(len(made)) < 1 / 12
        line = line_of(replace(made, ticks=np.where(slow, made.ticks * 2, made.ticks)))
        assert line.cost.value == pytest.approx(1.4, rel=0.002)


def test_time_slices_of_other_programs_are_no_delays_of_the_operation() -> None:
    """A run on a busy machine: they last from microseconds to milliseconds."""
    saved = FIXTURES / "pitfalls/another-call/wrong/recordings/run.csv"
    line = fit_line(read(saved), "gettimeofday")
    assert line.share_set_aside("far") > 0.1
    assert line.cost.value / line.clock.ticks_in("ns") == pytest.approx(500, rel=0.05)


def test_a_timer_of_the_os_may_be_missed_beside() -> None:
    """A few milliseconds see none or one of 1,000 interruptions per second."""
    machine = replace(
        STEADY, batches=(200, 400, 800), interruption=2.6e5, interrupted_every=2.6e6, gaps_per_s=0
    )
    assert sum(line.cost.contains(STEADY.cost) for line in lines(machine)) >= 34


# Long samples on a busy machine

#: A task that is made in 1 ms, on a clock of 2.6 GHz.
LONG = replace(OPERATION, cost=2.6e6, noise=2.6e4, batches=(1, 2, 4, 8), samples=1_600)


def beside_busy_loops(share: float, seed: int, *, marked: bool = True) -> Recording:
    """A run in which others had the CPU in this share of the samples, for 4 ms on average."""
    run, random = simulate.run(LONG, seed), np.random.default_rng(seed)
    hit = random.random(len(run)) < share
    ticks = run.ticks + (hit * random.exponential(1.04e7, len(run))).astype(np.int64)
    processes = []
    for number, stated in enumerate(run.processes):
        numbers = run.sample[hit & (run.process == number)].tolist()
        text = {"sample.preempted": " ".join(map(str, numbers))} if marked and numbers else {}
        processes.append(MappingProxyType({**stated, **text}))
    return replace(run, ticks=ticks, processes=tuple(processes))


def test_preempted_samples_are_set_aside_even_if_they_are_most() -> None:
    found = [line_of(beside_busy_loops(0.7, seed)) for seed in range(40)]
    assert sum(line.cost.contains(LONG.cost) for line in found) >= 34
    assert all(line.share_set_aside("preempted") > 0.6 for line in found)
    unmarked = [line_of(beside_busy_loops(0.7, seed, marked=False)) for seed in range(5)]
    assert all(line.overhead.value > LONG.cost for line in unmarked), "without marks they count"


def test_where_nearly_all_samples_were_preempted_there_is_no_figure() -> None:
    with pytest.raises(CannotEstimate, match=r"other programs had the CPU during 1,... of 1,600"):
        line_of(beside_busy_loops(0.995, 1))


# Steps of a clock


def test_a_counter_that_is_coarser_than_it_declares_is_seen_in_its_samples() -> None:
    samples = simulate.run(Machine(step=26, declared_step=1), 1).samples(VARIANT)
    assert samples.clock.coarseness == 1 and step_of(samples) == 26


def in_microseconds(seed: int) -> tuple[Integers, Integers]:
    """What a clock of 62.5 MHz reads that an emulator moves once in a microsecond."""
    random = np.random.default_rng(seed)
    batch = np.repeat([64, 128, 256], 100)
    begin = np.floor(random.uniform(0, 1e3, len(batch)))
    microseconds = np.floor(random.uniform(0, 1, len(batch)) + 0.9 + 0.0173 * batch)
    ticks = np.floor((begin + microseconds) * 62.5) - np.floor(begin * 62.5)
    return ticks.astype(np.int64), batch


@pytest.mark.parametrize("seed", range(5))
def test_the_steps_of_an_emulators_clock_are_seen(seed: int) -> None:
    samples = simulate.run(Machine(samples=300), 1).samples(VARIANT)
    ticks, batch = in_microseconds(seed)
    assert step_of(replace(samples, ticks=ticks, batch=batch)) == pytest.approx(62.5, rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_a_smooth_clock_has_no_long_steps(seed: int) -> None:
    random = np.random.default_rng(seed)
    samples = simulate.run(Machine(samples=300), 1).samples(VARIANT)
    ticks = (40 + 3.3 * samples.batch + random.exponential(4.0, len(samples))).astype(np.int64)
    assert step_of(replace(samples, ticks=ticks)) == 1
    # Two ways of the operation, 25 ticks apart, are no steps either.
    two = ticks + 25 * (random.random(len(ticks)) < 0.4)
    assert step_of(replace(samples, ticks=two)) == 1


def test_a_coarse_step_stays_one_at_one_speed_of_the_core() -> None:
    """A counter that moves by 10 ticks, and declares one."""
    run = recording({"a": Clocked(20.0, 0.25, step=10)}, kernel="system_call", noise=0.3)
    conditions = {**run.conditions, "clock.a.step": "1"}
    del conditions["core_cycle_ticks"]
    processes = tuple({"core_cycle_ticks": f"{0.25 * (1 + 0.003 * n)}"} for n in range(10))
    run = replace(run, conditions=MappingProxyType(conditions), processes=processes)
    assert fit_line(run, "a", one_speed=True).share_set_aside("far") < 0.02


# What a clock cannot tell


@pytest.mark.parametrize(
    ("ticks", "words"),
    [
        (lambda n: np.zeros(n, dtype=np.int64), "all 3,000 samples are 0 ticks long"),
        (lambda n: np.full(n, 26), "all 3,000 samples are 26 ticks long"),
        # A clock of 4 ms: one sample in a thousand sees it move.
        (lambda n: 4_000_000 * (np.arange(n) % 1000 == 7), "hardly ever last a step"),
    ],
)
def test_a_clock_that_is_too_coarse_gives_no_figure(ticks: object, words: str) -> None:
    run = simulate.run(Machine(), 1)
    with pytest.raises(CannotEstimate, match=words):
        line_of(replace(run, ticks=ticks(len(run))))  # type: ignore[operator]


# Hostile words

HOSTILE = {
    "no number": "x" * 41,
    "a long text": "4 " * 200_000,
    "too few rounds": "4 4 4",
    "no round": "",
    "NaN": " ".join(["nan"] * 41),
    "infinity": " ".join(["inf"] * 41),
    "huge": " ".join(["1e308"] * 41),
    "hardly more than nothing": " ".join(["1e-308"] * 41),
    "nothing": " ".join(["0"] * 41),
    "negative": " ".join(["-4"] * 41),
    "digits without an end": "9" * 100_000,
    "other digits": " ".join(["٤"] * 41),
}
HOSTILE_AFTER = {
    "no number": "x",
    "descending": " ".join(str(-n) for n in range(41)),
    "huge": " ".join([*map(str, range(40)), "9" * 100_000]),
    "too many": " ".join(map(str, range(100_000))),
    "fractions": " ".join(f"{n}.5" for n in range(41)),
    "all the same": " ".join(["7"] * 41),
    "far below": " ".join(["-99999999999"] * 41),
    "empty": "",
}


def reduced(recording: Recording) -> Line | None:
    """Its line; nothing else is raised, and it takes neither long nor much memory."""
    begin = time.process_time()
    tracemalloc.start()
    try:
        line = None
        with contextlib.suppress(CannotEstimate, KeyError, BadRecording):
            line = line_of(recording)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 5
    assert most < 100e6
    return line


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("where", ["one process", "all processes", "the run"])
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_widths_are_no_evidence_or_some(case: str, where: str) -> None:
    run, text = call(CALL), HOSTILE[case]
    good = run.processes[0]["core_width"]
    if where == "the run":
        run = replace(run, conditions={**run.conditions, "core_width": text})
    else:
        run = stating(run, text, *([good] * 9 if where == "one process" else []))
    line = reduced(run)
    assert line is None or (line.cost.low <= line.cost.value <= line.cost.high)
    if where == "one process" and case not in ("huge", "nothing", "hardly more than nothing"):
        assert line is not None and line.cost.contains(9.0, slack=0.05)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", HOSTILE_AFTER)
def test_hostile_places_of_rounds_are_no_evidence_or_some(case: str) -> None:
    run = call(CALL)
    run = replace(run, conditions={**run.conditions, "core_width.after": HOSTILE_AFTER[case]})
    line = reduced(run)
    assert line is not None and line.cost.contains(9.0, slack=0.05)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "ticks", ["the most", "the most and nothing", "nothing", "one far away", "all alike"]
)
@pytest.mark.parametrize("about", ["timer_overhead", "procedure_call"])
def test_extreme_ticks_end_in_a_line_or_in_words(ticks: str, about: str) -> None:
    run = simulate.run(replace(OPERATION, samples=400), 1)
    most = 2**62
    values = {
        "the most": np.full(len(run), most),
        "the most and nothing": np.where(np.arange(len(run)) % 2, most, 0),
        "nothing": np.zeros(len(run), dtype=np.int64),
        "one far away": np.where(np.arange(len(run)) == 7, most, run.ticks),
        "all alike": np.full(len(run), 7),
    }[ticks]
    line = reduced(as_declared(replace(run, ticks=values), about))
    if line is not None:
        assert line.cost.low <= line.cost.value <= line.cost.high
    if ticks == "one far away":
        assert line is not None and line.cost.contains(9.0, slack=0.05)
