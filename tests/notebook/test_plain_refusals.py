"""What a student tries first with runs and variants, and what the refusal says to write instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import pytest

from labs.messages import Refused
from labs.notebook import explain
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from labs.run.plan import Plan
from testing.paths import FIXTURES
from testing.short_runs import LAB


@pytest.fixture(scope="module")
def run() -> Run:
    return Run.of(read(FIXTURES / "honest/03-system-call/recordings/clocks.csv"))


def test_a_run_prints_all_variants_or_the_one_that_was_asked_for(run: Run) -> None:
    first, second = (each.variant for each in run.results[:2])
    printed = repr(run)
    assert all(f" {each.variant}: " in printed for each in run.results)
    for chosen in (run[second], run[second].in_unit("ticks")):
        for shown in (repr(chosen), chosen._repr_html_()):
            assert f" {second}: " in shown and f" {first}: " not in shown
        assert len(chosen.results) == len(run.results)


@pytest.mark.parametrize(
    "calculate",
    [operator.add, operator.sub, operator.mul, operator.truediv],
    ids=lambda f: f.__name__,
)
def test_a_run_is_no_number_and_the_refusal_says_what_is(
    run: Run, calculate: Callable[[object, object], object]
) -> None:
    for one, other in ((run, run["gettimeofday-vdso"]), (run, 2.0), (2.0, run)):
        with pytest.raises(Refused, match="calculate with its value") as refused:
            calculate(one, other)
        assert "one.value / other.value" in str(refused.value)
        assert "lab.compare(one, other)" in str(refused.value)
    assert calculate(run.value, run.value) is not None


def test_variants_apart_are_refused_with_the_text_to_write(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="write all variants in one text") as refused:
        Session(LAB, tmp_path).measure("system_call", "getppid", "invalid", samples=100)
    assert '"getppid, invalid"' in str(refused.value)


@pytest.mark.parametrize(("word", "meant"), [("random", False), ("random-8n", True)])
def test_the_beginning_of_many_names_is_no_misspelling_of_one(word: str, meant: bool) -> None:
    found = explain.of_unknown_variants(Plan("memory_ladder", variants=(word,)))
    assert found is not None
    assert any("Did you mean" in each for each in found.sentences) == meant
    assert "random-" in found.sentences[-1]
