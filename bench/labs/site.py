"""The whole site of the docs, in headless Chromium: it builds, can be read, and loads nothing.

Every page is opened from its file, as a reader without a server does. With --save the screenshots
of one page of each kind are kept, to be looked at by eye.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.report import must_hold, say, skipped, verdict
from support.built_site import build

try:
    from playwright.sync_api import Browser, Page, Request

    from bench.labs import accessible, jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

#: One page of each kind; they are looked at in every theme and width, the others in one.
KINDS = (
    "index", "search", "pitfalls", "pitfalls/lock-convoy", "pitfalls/unit-slip", "gallery/index",
    "gallery/bare_mutex", "students/reading-your-plot",
    "instructors/grading/course", "CONTRIBUTING",
)  # fmt: skip
THEMES = ("light", "dark")
WIDTHS = (1400, 390)


def run(quick: bool, save: Path | None = None) -> bool:
    """Every page; with `quick` one of each kind."""
    must_hold(
        "the site builds without a warning; no page loads anything but its own files, is wider "
        "than its window, or has a finding of axe-core (WCAG 2.2 AA), light or dark, wide or "
        "narrow; the gallery plays its samples, and shows both plots without a script; the search "
        "finds"
    )
    if MISSING:
        return skipped(MISSING)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            html = build(Path(scratch))
        except subprocess.CalledProcessError as error:
            return verdict(False, f"the site does not build: {error.stderr}")
        names = [path.relative_to(html).with_suffix("").as_posix() for path in html.rglob("*.html")]
        rest = [] if quick else sorted(set(names) - set(KINDS))
        with jupyterlab.chromium() as browser:
            found = [*_looked_at(browser, html, KINDS, THEMES, save), *_searched(browser, html)]
            found += _looked_at(browser, html, rest, THEMES[:1], None)
    for each in found[:30]:
        say(f"   {each}")
    return verdict(
        not found, f"{len(KINDS) + len(rest)} of {len(names)} pages, {len(found)} faults"
    )


def _looked_at(
    browser: Browser, html: Path, names: list[str] | tuple[str, ...], themes: tuple[str, ...],
    save: Path | None,
) -> Iterator[str]:  # fmt: skip
    """What is wrong with the pages, a line each."""
    for theme in themes:
        for width in WIDTHS if len(themes) > 1 else WIDTHS[1:]:
            context = browser.new_context(
                color_scheme="dark" if theme == "dark" else "light",
                viewport={"width": width, "height": 1000},
            )
            page = context.new_page()
            outside: list[str] = []
            page.on("request", functools.partial(_note, outside))
            for name in names:
                page.goto((html / f"{name}.html").as_uri())
                for fault in _faults(page):
                    yield f"{name} ({theme}, {width} px): {fault}"
                if save:
                    save.mkdir(parents=True, exist_ok=True)
                    file = f"{name.replace('/', '-')}-{theme}-{width}.png"
                    page.screenshot(path=save / file, full_page=True)
            yield from (f"loaded: {each}" for each in outside)
            context.close()


def _note(seen: list[str], request: Request) -> None:
    if not request.url.startswith(("file:", "data:")):
        seen.append(request.url)


def _faults(page: Page) -> Iterator[str]:
    yield from accessible.violations(page.locator("html"))
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wider > 0:
        yield f"wider than the window by {wider} px"


def _searched(browser: Browser, html: Path) -> Iterator[str]:
    """What the search does not do; what a page of the gallery lacks without scripts."""
    page = browser.new_page()
    page.goto(f"{(html / 'search.html').as_uri()}?q=convoy")
    page.locator("#search-results li a").first.wait_for()
    if "pitfalls/lock-convoy" not in page.locator("#search-results").inner_html():
        yield "the search does not find a page by its word"
    page.close()
    without = browser.new_context(java_script_enabled=False).new_page()
    without.goto((html / "gallery" / "bare_mutex.html").as_uri())
    if without.locator("main img, article img").count() < 3:
        yield "without scripts, a page of the gallery lacks a plot"
    without.close()
