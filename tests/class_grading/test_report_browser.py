"""The report in a browser: readable on a phone, on light and dark ground, and it loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from bench.labs import accessible, jupyterlab
from grader.commands.cli import main
from grader.figures import LABS
from grader.figures.spec import CHOICE
from grader.figures.verdict import Outcome
from support.graded_course import AMD_GUEST, ARM, LAB, GradedCourse, not_handed_in, verdict

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a class of 40 with machines of two kinds; every fifth figure is wrong."""
    course = GradedCourse(tmp_path_factory.mktemp("course"))
    for n in range(40):
        verdicts, numbers, guesses = [], {}, {}
        for place, spec in enumerate(LABS[LAB], start=n):
            wrong = place % 5 == 0
            if place % 19 == 0:
                verdicts.append(not_handed_in(spec.id))
                continue
            found = (Outcome.FAILED, "unit-slip") if wrong else (Outcome.PASSED,)
            verdicts.append(verdict(spec.id, *found))
            value = 1.0 if spec.unit == CHOICE else (20.0 + n % 7) * (1000 if wrong else 1)
            numbers[spec.id] = (value, spec.unit)
            guesses[spec.id] = (value * (1 + n % 3), spec.unit)
        machine = (AMD_GUEST, ARM)[n % 2]
        course.add(
            f"student-{n}", verdicts, numbers, machine=machine, predictions=guesses, plot="A"
        )
    for number in range(3):
        course.hand_in(f"late-{number}")
    assert main(["report", LAB, "--course", str(course.folder)]) == 0
    return course.folder / "report" / LAB / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with jupyterlab.chromium() as browser:
        yield browser


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1200, "light")])
def test_the_report_is_accessible_and_fits(
    report: Path, browser: Any, width: int, scheme: str
) -> None:
    # The page's own policy forbids the script of axe.
    page = browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert accessible.violations(page.locator("html")) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img.ticklab-plot").count() == 5
    assert asked == [report.as_uri()]
    page.close()
