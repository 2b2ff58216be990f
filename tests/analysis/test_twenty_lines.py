"""Twenty lines of numpy give the kit's value for every steady operation of the saved runs.

The lines are cells of lab 11, and stand on the page on the method.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from labs.analysis.line import cells_of, fit_line, kept_samples, step_of
from labs.recording.file import Recording, Samples, read
from labs.results.result import REASONS, Result, result_of
from testing.paths import FIXTURES, REPOSITORY

PAGE = REPOSITORY / "docs" / "students" / "method.md"
RUNS = [
    path
    for pattern in ("honest*/*/recordings/*.csv", "gallery/*-repaired.csv")
    for path in sorted(FIXTURES.glob(pattern))
]
#: An operation is steady if half of its interval is at most the first of these shares of its value,
#: and if less than the second share of its samples was set aside. Values agree within the third.
NARROW, FEW, AGREE = 0.05, 0.1, 0.01


def cell(name: str) -> str:
    """The code of a cell of lab 11."""
    path = REPOSITORY / "notebooks" / "11-own-question" / "11-own-question.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(each["source"]) for each in cells if each["id"] == name)


NEAR, COST = cell("twenty-lines-near"), cell("twenty-lines-cost")


@pytest.fixture(scope="module")
def cost() -> Callable[..., float]:
    """The function of the notebook."""
    names: dict[str, Any] = {}
    exec(f"{NEAR}\n{COST}", names)
    found: Callable[..., float] = names["cost"]
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The result of every variant of the saved runs that has a cost, in ticks."""
    every = {
        f"{path.relative_to(FIXTURES)} {variant}": result_of(read(path), variant, "ticks")
        for path in RUNS
        for variant in read(path).variants
    }
    return {
        place: result
        for place, result in every.items()
        if result.estimate is not None and result.net is not None
    }


def variants(result: Result) -> tuple[str, ...]:
    """The variant and its baseline, if it has one."""
    assert result.net is not None
    return tuple(filter(None, (result.variant, result.net.baseline_variant)))


def by_hand(
    result: Result, cost: Callable[..., float], chosen: Callable[[Recording, str], Samples]
) -> float:
    """The cost by `cost`, from the `chosen` samples of the variant and of its baseline."""
    of_each = [chosen(result.recording, each) for each in variants(result)]
    whole, *baseline = (cost(each.process, each.batch, each.ticks) for each in of_each)
    assert result.net is not None
    return (whole - result.net.times * sum(baseline)) / result.net.parts


def of_whole_core(recording: Recording, variant: str) -> Samples:
    """The samples that the kit does not set aside because the core was shared."""
    samples = recording.samples(variant)
    kept = kept_samples(recording, samples, cells_of(samples, step_of(samples)))
    return samples.only(~kept.shared)


def delays_itself(recording: Recording, variant: str) -> bool:
    """Whether the kit keeps far samples, as delays of the operation's own."""
    samples = recording.samples(variant)
    weight = kept_samples(recording, samples, cells_of(samples, step_of(samples))).weight
    return bool(np.any((weight > 0) & (weight < 1)))


def is_steady(result: Result) -> bool:
    """Whether the interval is narrow, few samples were disturbed, and the clock has whole steps."""
    every = [result.recording.samples(each) for each in variants(result)]
    assert result.estimate is not None
    return (
        result.estimate.is_believable(NARROW)
        and aside(result, "far", "preempted") < FEW
        and not any(delays_itself(result.recording, each) for each in variants(result))
        and all(
            step_of(each) <= max(np.gcd.reduce(each.ticks), each.clock.coarseness) for each in every
        )
    )


def aside(result: Result, *reasons: str) -> float:
    """The share of samples set aside for these reasons, of the variant or of its baseline."""
    lines = [fit_line(result.recording, each) for each in variants(result)]
    return max(sum(map(line.share_set_aside, reasons)) for line in lines)


@pytest.mark.slow
def test_they_give_the_value_of_every_steady_operation(
    results: dict[str, Result], cost: Callable[..., float]
) -> None:
    found = {
        place: by_hand(result, cost, Recording.samples) / result.estimate.value
        for place, result in results.items()
        if result.estimate and is_steady(result) and aside(result, *REASONS) < FEW
    }
    assert len(found) > 150
    assert found == {place: pytest.approx(1, abs=AGREE) for place in found}


def test_where_the_core_was_shared_they_need_the_samples_of_a_whole_core(
    results: dict[str, Result], cost: Callable[..., float]
) -> None:
    agree = [
        [
            abs(by_hand(result, cost, chosen) / result.estimate.value - 1) <= AGREE
            for chosen in (Recording.samples, of_whole_core)
        ]
        for result in results.values()
        if result.estimate and is_steady(result) and aside(result, "shared") >= FEW
    ]
    of_all, of_whole = np.mean(agree, axis=0)
    assert len(agree) > 20
    assert of_all < 0.5 and of_whole > 0.9


def test_the_page_has_the_lines_of_the_notebook() -> None:
    assert f"```python\n{NEAR}\n\n\n{COST}\n```" in PAGE.read_text(encoding="utf-8")
    functions = f"{NEAR}\n{COST}".partition("def near")[2]
    assert len(functions.splitlines()) <= 20
