"""What the browser says cannot be read: each fault is found, and what is none is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright")

from bench.labs import jupyterlab, legible

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
LONG = "no-place-to-break-" * 20


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with jupyterlab.chromium() as browser:
        yield browser.new_page(viewport={"width": 600, "height": 400})


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ('<p style="color:#999">words</p>', 'contrast 2.85: p "words"'),
        ('<div style="background:#111"><b style="color:#00724f">✓</b></div>', "contrast 3.17: b"),
        ('<p style="color:rgb(0 0 0 / 40%)">words</p>', "contrast 2.85: p"),
        ('<input value="12" style="color:#ccc;background:#fff">', 'contrast 1.61: input "12"'),
        (f'<div style="overflow-x:auto"><pre>{LONG}</pre></div>', "px to be moved sideways: div"),
        (f'<pre style="width:9em;overflow:hidden">{LONG}</pre>', 'px cut off: pre "no-place'),
        (f'<p><img alt="" width="9" height="9" src="{PIXEL}"></p>', "an image without words"),
        ('<div style="width:900px">words</div>', "px beyond the window"),
    ],
)
def test_a_fault_is_found(page: Any, shown: str, fault: str) -> None:
    page.set_content(f"<main>{shown}</main>")
    found = legible.faults(page.locator("main > *"))
    assert [each for each in found if fault in each] == found != []


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="color:#757575">4.61 to 1</p>',
        '<p style="color:#949494;font-size:24px">large: 3.03 to 1</p>',
        '<div style="background:#111;color:#fff"><p>light on dark</p></div>',
        '<p style="color:#eee;visibility:hidden">not seen</p>',
        '<details><summary>folded</summary><p style="color:#eee">not seen</p></details>',
        '<button disabled style="color:#ccc">not to be pressed</button>',
        '<pre><span style="color:#eee">a colour of code</span></pre>',
        f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{LONG}</pre>',
        f'<p><img alt="what it shows" width="9" height="9" src="{PIXEL}"></p>',
    ],
)
def test_what_can_be_read_is_no_fault(page: Any, shown: str) -> None:
    page.set_content(f"<main>{shown}</main>")
    assert legible.faults(page.locator("main > *")) == []


def test_only_an_area_with_a_name_may_be_moved_sideways_on_a_phone(page: Any) -> None:
    style = f'style="width:9em;overflow-x:auto"><pre>{LONG}</pre>'
    named = f'<div role="group" aria-label="x" tabindex="0" {style}</div>'
    page.set_content(f"<main><div {style}</div>{named}</main>")
    alone, area = (page.locator("main > *").nth(number) for number in (0, 1))
    assert legible.faults(alone, movable=True) == legible.faults(alone) != []
    assert legible.faults(area) != [] == legible.faults(area, movable=True)
