"""What a student tries first with runs and variants, and what the refusal says to write instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import pytest

from labs.common.messages import Refused
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from testing.paths import FIXTURES
from testing.short_runs import LAB


@pytest.fixture(scope="module")
def run() -> Run:
    return Run.of(read(FIXTURES / "honest/03-system-call/recordings/clocks.csv"))


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
