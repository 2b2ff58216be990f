"""What else used the core: by rounds of its width, by stretches of time, and by hostile words."""

from __future__ import annotations

import contextlib
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from labs.analysis import shared_core
from labs.analysis.cells import cells_of
from labs.analysis.estimate import CannotEstimate
from labs.analysis.line import Line
from labs.analysis.shared_core import WORST_POWER, Shared
from labs.recording.core_rounds import MOST_WIDTH
from labs.recording.file import BadRecording, Recording
from testing import simulate
from testing.simulate import OPERATION, VARIANT, WHOLE_WIDTH, Machine, line_of

#: Stretches in which a neighbour runs, as shares of the run.
VISITS = ((0.03, 0.27), (0.52, 0.68))
CALL = replace(OPERATION, rounds=41)


def call(machine: Machine, seed: int = 1) -> Recording:
    return replace(simulate.run(machine, seed), kernel="procedure_call")


def find(recording: Recording, about_overhead: bool = True) -> Shared:
    samples = recording.samples(VARIANT)
    return shared_core.find(recording, samples, cells_of(samples), about_overhead)


def stating(recording: Recording, *texts: str, after: str | None = None) -> Recording:
    """The recording whose processes say these widths, in turn."""
    each = tuple(
        {**stated, "core_width": texts[number % len(texts)]}
        for number, stated in enumerate(recording.processes)
    )
    common = dict(recording.conditions)
    if after is not None:
        common["core_width.after"] = after
    return replace(recording, processes=each, conditions=common)


# Rounds


def test_a_whole_core_loses_no_sample() -> None:
    found = find(call(CALL))
    assert found.evidence and not found.always and found.floor == 1
    assert not found.while_shared.any()


def test_processes_that_shared_the_core_are_set_aside_whatever_their_layout() -> None:
    machine = replace(CALL, slower_processes=4, speed_spread=0.05)
    for seed in range(5):
        line = line_of(call(machine, seed))
        assert line.share_set_aside("shared") == pytest.approx(0.4)
        assert line.cost.processes == 6 and not line.shared
    # Without rounds, 10 % are not distinguishable from a layout of 5 %.
    without = [line_of(call(replace(machine, rounds=0), seed)) for seed in range(10)]
    assert sum(line.cost.processes == 6 for line in without) <= 5


def test_where_there_are_rounds_no_process_is_left_out_for_its_cost_alone() -> None:
    run = call(replace(CALL, slower_processes=3))
    whole = stating(run, " ".join([f"{WHOLE_WIDTH}"] * 41))
    line = line_of(whole)
    assert line.cost.processes == 10 and line.share_set_aside("process") == 0
    assert line.cost.contains(9 * 1.03)


def test_the_rounds_before_and_after_a_sample_decide() -> None:
    run = call(replace(CALL, processes=2, samples=240, rounds=4))
    run = stating(run, "4 4 2 4", "4 4 4 4", after="-1 39 79 119")
    found, samples = find(run), run.samples(VARIANT)
    mine = samples.process == 0
    expected = (samples.sample[mine] > 39) & (samples.sample[mine] <= 119)
    assert np.array_equal(found.while_shared[mine], expected)
    assert not found.while_shared[~mine].any()


def test_a_neighbour_within_processes_is_set_aside() -> None:
    machine = Machine(rounds=41, neighbour=11, neighbour_stretches=VISITS, samples=10_000)
    line = line_of(simulate.run(machine, 1))
    assert line.share_set_aside("shared") == pytest.approx(0.4, abs=0.05)
    assert line.overhead.contains(50, slack=0.2)


def test_a_process_with_hardly_a_sample_on_a_whole_core_is_left_out() -> None:
    run = call(replace(CALL, processes=5, samples=600, rounds=41))
    whole, hardly = " ".join(["4"] * 41), " ".join(["4", "4", *["2"] * 39])
    found = find(stating(run, whole, whole, whole, whole, hardly))
    samples = run.samples(VARIANT)
    assert found.while_shared[samples.process == 4].all()
    assert not found.while_shared[samples.process < 4].any()


# Shared all the time


@pytest.mark.parametrize("slower_by", [0.1, 0.4, 1.4])
def test_a_core_that_is_always_shared_is_told_and_its_interval_reaches_the_truth(
    slower_by: float,
) -> None:
    machine = replace(CALL, slower_processes=10, slower_by=slower_by)
    for seed in range(10):
        line = line_of(call(machine, seed))
        assert line.shared and line.straight
        assert (
            line.cost.low <= 9.0 < line.cost.value <= line.cost.high < 9.0 * 1.05 * (1 + slower_by)
        )
        assert line.share_set_aside("shared") == 0


def test_how_far_it_reaches_follows_the_width() -> None:
    run = call(CALL)
    found = find(stating(run, " ".join(["2"] * 41)))
    assert found.always and found.floor == pytest.approx(0.5**WORST_POWER)
    found = find(stating(run, " ".join(["2.7"] * 41)))
    assert found.always and found.floor == pytest.approx(0.675**WORST_POWER)


def test_one_process_on_a_whole_core_is_too_few() -> None:
    whole, shared = (" ".join([width] * 41) for width in ("4", "2"))
    assert find(stating(call(CALL), *[shared] * 9, whole)).always
    found = find(stating(call(CALL), *[shared] * 8, whole, whole))
    assert not found.always and found.while_shared.mean() == pytest.approx(0.8)


def test_without_a_remembered_width_the_best_of_the_run_counts() -> None:
    run = stating(call(CALL), " ".join(["2"] * 41))
    alone = {k: v for k, v in run.conditions.items() if k != "core_width.best"}
    found = find(replace(run, conditions=alone))
    assert found.evidence and not found.always and not found.while_shared.any()


@pytest.mark.parametrize(("remembered", "always"), [("4.77", False), ("4.9", False), ("8.0", True)])
def test_a_width_that_was_remembered_by_mistake_does_not_make_a_whole_core_a_shared_one(
    remembered: str, always: bool
) -> None:
    run = call(CALL)
    run = replace(run, conditions={**run.conditions, "core_width.best": remembered})
    found = find(run)
    assert found.always == always and not found.while_shared.any()


# Stores beside the additions


def with_stores(recording: Recording, best: str, *texts: str) -> Recording:
    """The recording whose processes say in turn that they did so many stores a cycle."""
    each = tuple(
        {**stated, "core_stores": texts[number % len(texts)]}
        for number, stated in enumerate(recording.processes)
    )
    conditions = (
        {**recording.conditions, "core_stores.best": best} if best else recording.conditions
    )
    return replace(recording, processes=each, conditions=conditions)


def test_stores_show_a_neighbour_that_the_additions_miss() -> None:
    run = call(replace(CALL, processes=4, rounds=4))
    found = find(with_stores(run, "2.00", "2 2 2 2", "1.5 1.4 1.5 1.6"))
    assert found.evidence and not found.always
    process = run.samples(VARIANT).process
    assert (found.while_shared == (process % 2 == 1)).all()


def test_a_run_that_never_did_the_stores_of_earlier_runs_shared_the_core_always() -> None:
    run = call(replace(CALL, rounds=4))
    found = find(with_stores(run, "2.00", "1.5 1.5 1.7 1.5"))
    assert found.always and not found.while_shared.any()
    assert found.floor == pytest.approx(0.75**WORST_POWER)
    # Without an earlier run, the best of this one is the best that is known.
    assert not find(with_stores(run, "", "1.7 1.7 1.7 1.7")).always
    # A chain of additions was interrupted once, and the kit remembered too much.
    assert not find(with_stores(run, "2.15", "2 2 2 2")).always


def test_stores_that_tell_nothing_leave_the_additions_to_decide() -> None:
    run = call(replace(CALL, rounds=4))
    assert find(run).evidence
    slow, short, words = "0.5 0.3 0.5 0.3", "2 2 2", "a b c d"
    for text in (slow, short, words, ""):
        assert not find(with_stores(run, "", text)).while_shared.any(), text
    rounds = stating(run, "4 4 4 4", "2 2 2 2")
    alone, both = find(rounds), find(with_stores(rounds, "", slow))
    assert alone.while_shared.any() and (alone.while_shared == both.while_shared).all()


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
    "best", ["nan", "inf", "1e308", "-1", "0", "x", "1e-308", f"{MOST_WIDTH}1"]
)
def test_a_hostile_best_width_sets_nothing_aside(best: str) -> None:
    run = call(CALL)
    line = reduced(replace(run, conditions={**run.conditions, "core_width.best": best}))
    assert line is not None and not line.shared and line.share_set_aside("shared") == 0


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
    line = reduced(replace(run, kernel=about, ticks=values))
    if line is not None:
        assert line.cost.low <= line.cost.value <= line.cost.high
    if ticks == "one far away":
        assert line is not None and line.cost.contains(9.0, slack=0.05)


# Stretches of time


@pytest.mark.parametrize("step", [1, 2, 8])
def test_stretches_with_a_neighbour_are_set_aside(step: int) -> None:
    machine = Machine(step=step, neighbour=11, neighbour_stretches=VISITS, samples=10_000)
    line = line_of(simulate.run(machine, 1))
    assert line.share_set_aside("shared") == pytest.approx(0.40, abs=0.03)
    assert line.overhead.contains(50, slack=0.2)


def test_a_run_with_a_neighbour_agrees_with_one_without() -> None:
    alone = line_of(simulate.run(Machine(samples=10_000), 1))
    visited = Machine(neighbour=11, neighbour_stretches=VISITS, samples=10_000)
    assert line_of(simulate.run(visited, 2)).overhead.contains(alone.overhead.value, slack=0.1)


KEPT = {
    "quiet": Machine(),
    "drift": Machine(drift=20),
    "processes that differ": Machine(process_spread=5),
    "clock speed": Machine(speed_spread=0.05),
    "modes from sample to sample": Machine(slow=11, slow_share=0.4),
    "interrupts": Machine(tail=0.05),
    "a neighbour all the time": Machine(neighbour=11, neighbour_stretches=((0, 1),)),
    "a neighbour below a coarse step": Machine(step=108, neighbour=11, neighbour_stretches=VISITS),
}


@pytest.mark.parametrize("case", KEPT)
def test_nothing_else_is_a_neighbour(case: str) -> None:
    machine = replace(KEPT[case], samples=10_000)
    for seed in range(10):
        assert not find(simulate.run(machine, seed)).while_shared.any()


def test_a_cost_is_not_judged_by_stretches() -> None:
    run = simulate.run(Machine(neighbour=11, neighbour_stretches=VISITS, samples=10_000), 1)
    assert find(run).while_shared.any() and not find(run, about_overhead=False).while_shared.any()


@pytest.mark.parametrize("samples", [1, 2, 10, 60])
def test_few_samples_are_one_stretch(samples: int) -> None:
    found = find(simulate.run(Machine(samples=samples, processes=1), 1))
    assert not found.while_shared.any() and len(found.while_shared) == samples
