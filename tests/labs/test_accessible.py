"""What axe-core and `illegible` find: nothing in what the kit shows, and each fault elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright")

from bench.labs import accessible, jupyterlab
from grader.judging import lab_folder, presentation
from labs.html import Table
from labs.messages import Message
from support.paths import FIXTURES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]
LONG = "no-place-to-break-" * 20
GROUNDS = {"light": "#fff;color:#1f2328", "dark": "#111;color:#e6edf3"}
#: A finding of each level, and one that shows no plot.
PITFALLS = ("no-figure", "another-call", "arithmetic-slip", "below-one-cycle", "ns-as-us")
PAGE = (
    '<!doctype html><html lang="en"><head><title>shown</title></head>'
    '<body style="background:{ground}"><main>{shown}</main></body></html>'
)


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with jupyterlab.chromium() as browser:
        yield browser.new_page(viewport={"width": 390, "height": 800})


def found(page: Any, shown: str, ground: str = GROUNDS["light"]) -> list[str]:
    page.set_content(PAGE.format(ground=ground, shown=shown))
    return accessible.violations(page.locator("main"))


@pytest.mark.parametrize(
    ("shown", "rule"),
    [
        ('<img src="data:," width="9" height="9">', "image-alt"),
        ('<p style="color:#999">too faint</p>', "color-contrast"),
        ("<dl><p>no term</p></dl>", "definition-list"),
        ('<input type="text">', "label"),
        ('<div style="width:9em;overflow-x:auto"><pre>' + "W" * 99 + "</pre></div>", "scrollable"),
    ],
)
def test_what_is_wrong_is_found(page: Any, shown: str, rule: str) -> None:
    (one,) = found(page, shown)
    assert one.startswith(rule)


@pytest.mark.parametrize("theme", GROUNDS)
def test_verdicts_have_no_fault(page: Any, theme: str) -> None:
    folders = [FIXTURES / "pitfalls" / code / "wrong" for code in PITFALLS]
    folders += sorted((FIXTURES / "honest").glob("0[1-3]*"))
    verdicts = [
        verdict
        for folder in folders
        if folder.is_dir()
        for verdict in lab_folder.check_handed_in(folder, lab_folder.lab_of(folder))
    ]
    assert {verdict.outcome for verdict in verdicts} and len(verdicts) > len(PITFALLS)
    shown = "".join(presentation.as_html(verdict) for verdict in verdicts)
    assert found(page, shown, GROUNDS[theme]) == []


@pytest.mark.parametrize("theme", GROUNDS)
def test_messages_and_tables_have_no_fault(page: Any, theme: str) -> None:
    messages = [
        Message(tone, "what `lab.measure` says", ("One sentence.", "And `code`."), "W" * 99)
        for tone in ("done", "stored", "note", "problem", "open")
    ]
    wide = Table("a wide table", ("run", *"abcdefgh"), (("one", *["1,234,567.89 ns"] * 8),))
    shown = "".join([*(each.as_html() for each in messages), wide._repr_html_()])
    assert found(page, shown, GROUNDS[theme]) == []


# What cannot be read: each fault is found, and what is none is left alone.


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        (f'<div style="overflow-x:auto"><pre>{LONG}</pre></div>', "px to be moved sideways: div"),
        (f'<pre style="width:9em;overflow:hidden">{LONG}</pre>', 'px cut off: pre "no-place'),
        ('<div style="width:900px">words</div>', "px beyond the window"),
    ],
)
def test_a_fault_is_found(page: Any, shown: str, fault: str) -> None:
    page.set_content(f"<main>{shown}</main>")
    found = accessible.illegible(page.locator("main > *"))
    assert [each for each in found if fault in each] == found != []


@pytest.mark.parametrize(
    "shown",
    [
        f"<details><summary>folded</summary><pre>{LONG}</pre></details>",
        f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{LONG}</pre>',
    ],
)
def test_what_can_be_read_is_no_fault(page: Any, shown: str) -> None:
    page.set_content(f"<main>{shown}</main>")
    assert accessible.illegible(page.locator("main > *")) == []


def test_only_an_area_with_a_name_may_be_moved_sideways_on_a_phone(page: Any) -> None:
    style = f'style="width:9em;overflow-x:auto"><pre>{LONG}</pre>'
    named = f'<div role="group" aria-label="x" tabindex="0" {style}</div>'
    page.set_content(f"<main><div {style}</div>{named}</main>")
    alone, area = (page.locator("main > *").nth(number) for number in (0, 1))
    assert accessible.illegible(alone, movable=True) == accessible.illegible(alone) != []
    assert accessible.illegible(area) != [] == accessible.illegible(area, movable=True)
