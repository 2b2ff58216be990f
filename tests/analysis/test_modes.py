"""Where the place of the stack decides the cost: when this is said, and when it is not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from labs.analysis.estimates import ByProcess, Floats
from labs.plots import by_process, style
from labs.recording.file import Recording
from labs.results.modes import StackEffect, modes, stack_effect
from labs.results.result import result_of
from labs.run.c_process import place_of
from testing import simulate
from testing.declarations import as_declared
from testing.simulate import OPERATION, VARIANT, Machine

TEN = tuple(place_of(number, 0) for number in range(10))
WITH_ROUNDS = replace(OPERATION, rounds=41)


def at(recording: Recording, places: Sequence[object]) -> Recording:
    """The recording whose processes state these places of their stacks."""
    each = tuple(
        MappingProxyType({**stated, "stack.place": str(place)})
        for stated, place in zip(recording.processes, places, strict=True)
    )
    return replace(recording, processes=each)


def of(value: Floats) -> ByProcess:
    return ByProcess(None, np.arange(len(value)), value, np.full(len(value), 0.001))


def found_in(value: Floats, places: Sequence[object] = TEN) -> StackEffect | None:
    machine = Machine(processes=len(value), samples=5 * len(value))
    return stack_effect(at(simulate.run(machine, 1), places), of(value))


def costs(random: np.random.Generator, fast: int = 32, places: Sequence[int] = TEN) -> Floats:
    """2.5 at one byte of a cache line, 3.0 at the others."""
    steps = np.array([2.5 if place % 64 == fast else 3.0 for place in places])
    return np.asarray(steps + random.normal(0, 0.004, len(places)))


@pytest.mark.parametrize("fast", [0, 16, 32, 48])
def test_an_effect_is_found_at_whatever_byte_it_is(fast: int) -> None:
    found = found_in(costs(np.random.default_rng(1), fast))
    assert found is not None and found.fast == (fast,)
    assert found.slow == tuple(sorted({0, 16, 32, 48} - {fast}))
    assert found.factor == pytest.approx(1.2, rel=0.01)
    assert all((TEN[number] % 64 == fast) != (number in found.slowed) for number in range(10))
    assert (found.fast_bytes(), len(found.slow_bytes().split(", "))) == (str(fast), 3)


def test_one_of_twenty_processes_may_lie_on_the_wrong_side() -> None:
    places = [place_of(number, 0) for number in range(20)]
    value = costs(np.random.default_rng(2), places=places)
    slow, other = (number for number in (0, 1) if places[number] % 64 != 32)
    value[slow] = 2.51
    assert found_in(value, places) is not None
    value[other] = 2.51
    assert found_in(value, places) is None


@pytest.mark.parametrize("processes", [8, 10, 20, 40])
def test_alike_processes_have_none(processes: int) -> None:
    random = np.random.default_rng(3)
    places = [place_of(number, 0) for number in range(processes)]
    made = at(simulate.run(Machine(processes=processes, samples=5 * processes), 1), places)
    found = [stack_effect(made, of(random.normal(100, 5, processes))) for _ in range(500)]
    assert found == [None] * 500


def test_groups_that_do_not_follow_the_places_have_none() -> None:
    for pair in itertools.combinations(range(10), 2):
        value = np.full(10, 3.0) + np.random.default_rng(4).normal(0, 0.004, 10)
        value[list(pair)] = 2.5
        of_one_place = [number for number in range(10) if TEN[number] % 64 == TEN[pair[0]] % 64]
        assert (found_in(value) is not None) == (list(pair) == of_one_place)


def test_an_effect_within_a_hundredth_is_not_worth_a_remark() -> None:
    value = np.array([3.0 if place % 64 == 32 else 3.02 for place in TEN])
    assert found_in(value) is None


@pytest.mark.parametrize(
    "places",
    [
        [256 * number for number in range(10)],  # an earlier kit's: one byte for all
        [*TEN[:9], "x"],
        [*TEN[:9], "9" * 5000],
        [place_of(number, 0) for number in range(4)] + [0] * 6,  # a place with one process
    ],
)
def test_places_that_show_nothing(places: Sequence[object]) -> None:
    assert found_in(costs(np.random.default_rng(5)), places) is None


def test_a_recording_without_places_shows_nothing() -> None:
    plain = simulate.run(Machine(), 1)
    assert stack_effect(plain, of(costs(np.random.default_rng(6)))) is None


def simulated(machine: Machine) -> Recording:
    return as_declared(at(simulate.run(machine, 7), TEN), "procedure_call")


#: What was seen of a C kernel whose second reading does not wait for the work.
EARLY = {"additions": "64", "end_waits": "0"}
#: A fifth more at all places but byte 32.
BY_PLACE = tuple(0.2 * (place % 64 != 32) for place in TEN)


def test_a_run_names_the_bytes_and_keeps_all_processes() -> None:
    run = simulated(replace(WITH_ROUNDS, slower=BY_PLACE))
    result = result_of(run, VARIANT, "ticks")
    (warning,) = [each for each in result.warnings if each.code == "processes-differ"]
    assert warning.quiet and "place of the stack" in warning.likely_cause
    assert warning.symptom.endswith("at byte 0, 16, 48 of a cache line instead of 32")
    assert result.estimate is not None and result.estimate.processes == 10
    least, most = OPERATION.cost, 1.2 * OPERATION.cost
    assert least < result.estimate.value < most
    assert result.modes("args5") == (
        "args5 has two modes: it costs 1.20 times as much if its stack begins at byte 0, 16, 48 "
        "of a cache line as at byte 32."
    )


def test_however_large_the_effect_no_process_is_set_aside() -> None:
    twice = tuple(1.0 * (place % 64 == 32) for place in TEN)
    result = result_of(simulated(replace(WITH_ROUNDS, slower=twice)), VARIANT, "ticks")
    assert result.estimate is not None and result.estimate.processes == 10
    found = modes(result.recording, result.estimate.by_process)
    assert found is not None and found.factor == pytest.approx(2, rel=0.01)


def test_an_effect_that_the_baseline_has_too_is_no_mode_of_the_net_cost() -> None:
    result = result_of(simulated(replace(WITH_ROUNDS, slower=BY_PLACE)), VARIANT, "ticks")
    assert result.estimate is not None and result.estimate.by_process is not None
    nothing = np.random.default_rng(8).normal(0, 0.001, 10)
    by = replace(result.estimate.by_process, value=nothing)
    net = replace(result, estimate=replace(result.estimate, by_process=by))
    assert (
        net.modes() == "" and "place of the stack" not in by_process.by_process_picture(net).meaning
    )


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (
            [12.0, 12.05, 11.98],
            "a has two modes: in 3 of 10 processes it costs 1.20 times as much as in the others.",
        ),
        (
            [10.04, 9.96, 12.0],
            "a: in one of 10 processes it costs 1.20 times as much as in the others.",
        ),
        ([10.04, 9.96, 10.06], ""),
    ],
)
def test_two_modes_by_process_are_told(last: list[float], said: str) -> None:
    values = np.array([10.0, 10.05, 9.98, 10.02, 10.01, 10.03, 9.97, *last])
    found = modes(simulate.run(Machine(), 1), of(values))
    assert ("" if found is None else found.sentence("a")) == said


@pytest.mark.parametrize(("processes", "most"), [(5, 0.04), (10, 0.01), (40, 0.002)])
def test_noise_alone_hardly_ever_makes_modes(processes: int, most: float) -> None:
    random, run = np.random.default_rng(1), simulate.run(Machine(), 1)
    found = [modes(run, of(random.normal(100, 5, processes))) for _ in range(2000)]
    assert sum(each is not None for each in found) <= most * len(found)


def test_a_reading_that_does_not_wait_is_named_first() -> None:
    run = simulated(replace(WITH_ROUNDS, slower=tuple(1.0 * (at % 64 == 32) for at in TEN)))
    seen = {f"variant.{VARIANT}.watched_{key}": value for key, value in EARLY.items()}
    early = replace(run, conditions=MappingProxyType({**run.conditions, **seen}))
    for recording, place in ((run, True), (early, False)):
        said = result_of(recording, VARIANT, "ticks").warnings
        causes = " ".join(each.likely_cause for each in said if each.code == "processes-differ")
        assert ("the place of the stack" in causes) is place
        assert ("does not wait for the work" in causes) is not place


@pytest.mark.parametrize(("slower", "marked"), [(BY_PLACE, True), ((0.0,) * 10, False)])
def test_the_plot_of_the_processes_marks_the_faster_places(
    slower: tuple[float, ...], marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []

    def keep(figure: Figure) -> bytes:
        drawn.append(figure)
        return b""

    monkeypatch.setattr(style, "png", keep)
    result = result_of(simulated(replace(WITH_ROUNDS, slower=slower)), VARIANT, "ticks")
    picture = by_process.by_process_picture(result)
    texts = [text.get_text() for text in drawn[0].findobj(Text)]
    assert ("■ its stack begins at byte 32 of a cache line" in texts) is marked
    assert ("The place of the stack decides" in picture.meaning) is marked
