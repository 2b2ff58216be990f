"""A conclusion drawn before its evidence was measured anew is not right for being old."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.cases.spec import Quantity
from grader.cases.verdict import Outcome
from grader.figures import LABS, FigureSpec
from grader.judging.check import judge
from testing.honest_cases import honest, opened

CHOICES = [spec for specs in LABS.values() for spec in specs if spec.quantity is Quantity.CHOICE]


@pytest.mark.parametrize("spec", CHOICES, ids=lambda spec: spec.id)
def test_an_old_conclusion_is_judged_by_what_the_figures_say_now(spec: FigureSpec) -> None:
    right = honest(spec.id)
    old = replace(right, when="2001-01-01T00:00:00+00:00")
    assert judge(spec, opened(spec, old), old).outcome is Outcome.PASSED
    for number in range(1, len(spec.choices) + 1):
        if number == right.value:
            continue
        wrong = replace(old, value=float(number))
        verdict = judge(spec, opened(spec, wrong), wrong)
        assert verdict.outcome is Outcome.FAILED
        assert verdict.praise == ""
        assert verdict.findings
