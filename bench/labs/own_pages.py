"""The pages of `labs survey`, `labs survey --compare`, `labs show` and `labs report`, in a browser
and as a PDF.

They are made from saved recordings. A person has to look at the plots and at the pages of the PDF.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.report import must_hold, say, skipped, verdict
from grader.own_report import labs_in
from grader.own_report import page as report_page
from grader.own_report.__main__ import printed
from labs.commands import show
from labs.course import predicted_and_found
from labs.machine.description import read_machine
from labs.notebook.run import Run
from labs.recording.file import read
from labs.results.result import result_of
from labs.survey import compare_report, survey
from labs.survey.compare_report import Saved, read_saved
from labs.survey.survey import Measurement, Row
from support.paths import FIXTURES

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

try:
    from bench.labs import accessible, jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

WIDTHS = (1400, 700, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HONEST = FIXTURES / "honest"
LABS = ("01-timer-overhead", "03-system-call", "06-process-and-thread-switch")

#: A run with a line for each variant, and one of first times, which have none.
SHOWN = ("03-system-call/recordings/calls.csv", "02-first-iteration/recordings/cold.csv")

_OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
#: What reaches out of the window, or out of the area in which it can be moved.
_TOO_WIDE = """() => [...document.querySelectorAll('table, img, pre')].filter(each => {
  const area = each.parentElement;
  return each.getBoundingClientRect().right > innerWidth + 1 ||
    (each.tagName === 'TABLE' && area.scrollWidth > area.clientWidth + 1);
}).map(each => each.caption ? each.caption.innerText : each.tagName)"""


def run(quick: bool) -> bool:
    """Look at each page in every width and scheme, and print the report to a PDF."""
    must_hold("nothing is loaded, nothing is wider than the page, axe-core finds nothing")
    if MISSING:
        return skipped(MISSING)
    held = True
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in _pages(quick):
            place = Path(scratch) / f"{name}.html"
            place.write_text(text, encoding="utf-8")
            found = _faults(place)
            held &= verdict(not found, f"{name}: {'; '.join(found[:4]) or 'no fault'}")
            size = len(printed(place))
            say(f"   {name}: a PDF of {size / 1e6:.1f} MB")
    return held


def _pages(quick: bool) -> Iterator[tuple[str, str]]:
    saved = [read_saved(HONEST / lab) for lab in LABS]
    rows = [row for each in saved for row in _rows(each)]
    yield "survey", survey.page(rows, read_machine())
    yield "compared", compare_report.page(saved[1], read_saved(HONEST / LABS[1], "the same"))
    for name in SHOWN:
        recording = read(HONEST / name)
        yield f"shown-{recording.kernel}", show.page_of(Run.of(recording), Path(name).name)
    labs = labs_in(HONEST)
    some = [lab for lab in labs if lab.name in LABS] if quick else labs
    yield "report", report_page(some, predicted_and_found.of_labs(HONEST), "A. Student")


def _rows(saved: Saved) -> Iterator[Row]:
    """The rows of a survey that had made these recordings."""
    for recording in saved.recordings:
        asked = tuple(v for kernel, v, _ in saved.results if kernel == recording.kernel)
        known = tuple(dict.fromkeys(name for name in asked if name in recording.variants))
        measurement = Measurement(recording.kernel, known, (1, 1))
        for name in known:
            result = result_of(recording, name)
            yield Row(measurement, name, result, result.no_figure, ())


def _faults(place: Path) -> list[str]:
    """What is wrong with a page, in every width and scheme."""
    found: list[str] = []
    with jupyterlab.chromium() as browser:
        for scheme in SCHEMES:
            page = browser.new_context(color_scheme=scheme).new_page()
            asked = _asked(page)
            page.goto(place.as_uri())
            page.evaluate(_OPEN)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.documentElement.scrollWidth")
                found += [f"{width} px: the page is {wide} px wide"] * (wide > width)
                found += [f"{width} px: {name} is too wide" for name in page.evaluate(_TOO_WIDE)]
                found += accessible.violations(page.locator("html"))
            found += [f"loads {address[:80]}" for address in asked if _is_outside(address, place)]
    return list(dict.fromkeys(found))


def _asked(page: Page) -> list[str]:
    """The addresses that the page asks for from now on."""
    addresses: list[str] = []

    def note(request: Request) -> None:
        addresses.append(request.url)

    page.on("request", note)
    return addresses


def _is_outside(address: str, place: Path) -> bool:
    return address != place.as_uri() and not address.startswith("data:")
