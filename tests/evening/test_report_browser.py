"""The report in a browser: readable on a phone, on light and dark ground, and it loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from bench.exchange.class_report import make_class
from bench.labs import accessible, jupyterlab
from grader.commands.cli import main
from testing.graded_course import LAB

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a class of 40."""
    course = make_class(tmp_path_factory.mktemp("course"), 40, plot=10)
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
    assert page.locator("svg.strips").count() == 5
    assert asked == [report.as_uri()]
    page.close()
