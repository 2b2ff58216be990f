"""`python -m bench formgrader`: how long an instructor waits for the formgrader with a large class.

One submission of lab 01 is measured and graded; the other 4,999 students have copies of it in the
gradebook and on the disk. Then Chromium opens each page of the evening. The time is from navigation
to rows that can be used, or from a key or a click to what it shows.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from nbgrader.api import Gradebook

from bench.exchange.full_class import LAB, FullClass, nbgrader
from bench.report import must_hold, say, show, skipped, verdict
from support.large_class import enlarge
from support.served_formgrader import TOKEN, served_formgrader

try:
    from bench.labs import jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

if TYPE_CHECKING:
    from playwright.sync_api import Page

STUDENTS, _QUICK = 5_000, 1_000
_MOST_S = 2.0
_FIRST, _SOME = "student-00000", "student-00123"

#: The first row of a list has its links and buttons.
_ROWS = "() => document.querySelector('#main-table tr a, #main-table tr .glyphicon')"
#: The scores of a submission are there and can be changed.
_SCORES = "() => window.formgrader && formgrader.grades && formgrader.grades.loaded"
_LISTS = {
    "students": ("manage_students", "td.id", "Overall Score"),
    "submissions": (f"manage_submissions/{LAB}", "td.student-id", "Score"),
    "manual grading": (f"gradebook/{LAB}/{LAB}", "td.name", "Overall Score"),
}
_PAGES = {
    "assignments": "manage_assignments",
    "gradebook": "gradebook",
    "notebooks of the lab": f"gradebook/{LAB}",
    "one student": f"manage_students/{_SOME}",
    "one student's lab": f"manage_students/{_SOME}/{LAB}",
}


def run(quick: bool) -> bool:
    """Each page several times, and what a person does there."""
    students = _QUICK if quick else STUDENTS
    must_hold(
        f"with {STUDENTS:,} students in the gradebook, each page of the formgrader, a search, "
        f"another order and the next page of a list are there within {_MOST_S:.0f} s"
    )
    if MISSING:
        return skipped(MISSING)
    with tempfile.TemporaryDirectory(prefix="ticklab-formgrader-") as scratch:
        begin = time.monotonic()
        full = FullClass(Path(scratch))
        full.hand_in(range(1))
        nbgrader(full.course, "autograde", LAB)
        enlarge(full.course, LAB, _FIRST, students - 1, begin=1)
        say(f"   {students:,} students in the gradebook ({time.monotonic() - begin:.0f} s)")
        return timed_pages(full.course, Path(scratch) / "jupyter", 1 if quick else 5)


def timed_pages(course: Path, own: Path, rounds: int) -> bool:
    """Times the pages of a course, and prints the median and the longest of each, and the load."""
    times: dict[str, list[tuple[float, float]]] = {}
    with served_formgrader(course, own) as address, jupyterlab.chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1300, "height": 900})
        page.goto(f"{address}/formgrader/manage_assignments?token={TOKEN}")
        page.wait_for_function(_ROWS)  # the first answer of a server has more to load
        for _ in range(rounds):
            for name, act in _acts(page, f"{address}/formgrader", _waiting(course)):
                times.setdefault(name, []).append(_timed(act))
    show(
        ("what", "seconds", "longest", "CPU s"),
        [
            (name, f"{_median(each, 0):.2f}", f"{max(each)[0]:.2f}", f"{_median(each, 1):.2f}")
            for name, each in times.items()
        ],
    )
    slowest = max(times, key=lambda name: _median(times[name], 0))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return verdict(
        _median(times[slowest], 0) <= _MOST_S,
        f"the slowest is {slowest}: {_median(times[slowest], 0):.2f} s, median of {rounds} "
        f"(load {load})",
    )


def _acts(page: Page, base: str, waiting: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is timed, by name, in an order in which each begins where the one before ended."""

    def opened(path: str, ready: str = _ROWS) -> Callable[[], object]:
        def act() -> None:
            page.goto(f"{base}/{path}", wait_until="commit")
            page.wait_for_function(ready)

        return act

    for name, path in _PAGES.items():
        yield name, opened(path)
    for name, (path, cell, column) in _LISTS.items():
        page.evaluate("sessionStorage.clear()")
        yield f"list of {name}", opened(path)
        yield f"{name}: next page", lambda cell=cell: _next_page(page, cell)  # type: ignore[misc]
        yield (
            f"{name}: other order",
            lambda column=column: _other_order(page, column),  # type: ignore[misc]
        )
        # The names of this class, as `enlarge` makes them.
        yield f"{name}: search", lambda: _search(page, "First 42")
    yield "a submission", opened(f"submissions/{waiting}/", _SCORES)
    yield "the next report to grade", lambda: _next_report(page)


def _next_page(page: Page, cell: str) -> None:
    first = f"document.querySelector('#main-table {cell}').textContent"
    before = page.evaluate(first)
    page.locator(".paginate_button.next a").click()
    page.wait_for_function(f"before => {first} !== before", arg=before)


def _other_order(page: Page, column: str) -> None:
    head = page.get_by_role("columnheader", name=column)
    head.click()
    page.wait_for_function("head => head.ariaSort", arg=head.element_handle())


def _search(page: Page, words: str) -> None:
    page.locator(".dataTables_filter input").fill(words)
    page.wait_for_function(
        "() => document.querySelector('.dataTables_info').textContent.includes('filtered')"
    )


def _next_report(page: Page) -> None:
    there = page.url
    page.get_by_role("button", name="Next report to grade").click()
    page.wait_for_url(lambda url: url.partition("?")[0] != there.partition("?")[0])
    page.wait_for_function(_SCORES)


def _timed(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of CPU in the server and in Chromium."""
    cpu, begin = _cpu_s(), time.monotonic()
    act()
    return time.monotonic() - begin, _cpu_s() - cpu


def _cpu_s() -> float:
    total = 0.0
    for each in psutil.Process().children(recursive=True):
        try:
            spent = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system
    return total


def _median(each: list[tuple[float, float]], part: int) -> float:
    return statistics.median(one[part] for one in each)


def _waiting(course: Path) -> str:
    """The id of a submission whose report waits for a person."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        listed = gradebook.notebook_submission_dicts(LAB, LAB)
        return str(min(each["id"] for each in listed if each["needs_manual_grade"]))
