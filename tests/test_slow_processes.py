"""Processes that a neighbour slowed down are told from those that merely differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from labs import slow_processes
from labs.recording import Samples
from labs.units import Clock

BATCHES = (64, 128, 256, 512)


def samples(
    slopes: Sequence[float], *, each: int = 80, noise: float = 3.0, step: int = 2
) -> Samples:
    """A run of one process for each of `slopes`, in ticks an operation."""
    random = np.random.default_rng(7)
    rows = []
    for process, slope in enumerate(slopes):
        for place in range(each):
            k = BATCHES[place % len(BATCHES)]
            ticks = 44 + slope * k + random.normal(0, noise) + random.random() * step
            rows.append((process, place, k, int(ticks // step * step)))
    columns = np.array(rows, dtype=np.int64).T
    return Samples("call", Clock(2.6e9, step), *columns)


def kept(found: slow_processes.Stretches, run: Samples) -> set[int]:
    return set(run.process[found.undisturbed].tolist())


def test_slowed_processes_are_set_aside_and_told() -> None:
    run = samples([200, 200, 230, 201, 200, 236, 200, 199, 200, 200])
    found = slow_processes.find(run)
    assert kept(found, run) == {0, 1, 3, 4, 6, 7, 8, 9}
    assert found.slow_share == pytest.approx(0.2)
    assert found.slower_by == pytest.approx(33, abs=3)


def test_where_most_were_slowed_the_undisturbed_ones_are_the_figure() -> None:
    run = samples([230, 231, 200, 235, 229, 240, 200, 233, 228, 237])
    assert kept(slow_processes.find(run), run) == {2, 6}


@pytest.mark.parametrize(
    ("case", "slopes"),
    [
        ("all alike", [200.0] * 10),
        ("differing by layout", [200, 202, 204, 199, 206, 203, 201, 205, 200, 204]),
        ("3 % apart", [200] * 5 + [206] * 5),
        ("one lucky process of ten", [180] + [200] * 9),
        ("three processes", [200, 200, 300]),
        ("nothing measured", [0.0] * 10),
    ],
)
def test_nothing_is_set_aside(case: str, slopes: list[float]) -> None:
    run = samples(slopes)
    found = slow_processes.find(run)
    assert found.undisturbed.all(), case
    assert (found.slow_share, found.slower_by) == (0, 0)


def test_noise_and_a_coarse_counter_make_no_groups() -> None:
    for step in (2, 26, 108):
        for seed_like in range(20):
            run = samples([0.5 + 0.001 * seed_like] * 10, each=40, noise=20, step=step)
            assert slow_processes.find(run).undisturbed.all()


def test_too_few_samples_are_not_judged() -> None:
    run = samples([200, 200, 300, 300, 300, 300], each=16)
    assert slow_processes.find(run).undisturbed.all()
