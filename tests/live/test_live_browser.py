"""The wall and the instructor's page in Chromium: on a projector, on a phone, by keyboard alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from bench.labs import accessible, jupyterlab
from support.live_class import LiveClass, message, running

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]
SIZES = {"projector": (1920, 1080), "phone": (390, 844)}


@pytest.fixture(scope="module", autouse=True)
def _twelve(room: LiveClass) -> None:
    """What the pages show."""
    for n in range(12):
        machine = ("x86-64, AMD, virtual", "Arm, Apple, not virtual")[n % 2]
        codes = [["unit-slip"], ["minimum-taken"], [], []][n % 4]
        shared = message(value=90.0 + 7 * n, machine=machine, findings=codes)
        assert room.share(room.enter(), shared) == 200


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with jupyterlab.chromium() as made:
        yield made


@pytest.fixture(scope="module")
def signed_in(room: LiveClass, browser: Any) -> Any:
    """The cookies of a browser in which the instructor's link was opened, which works once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(room.desk_link)
    assert "key=" not in page.url
    return context.storage_state()


def opened(browser: Any, room: LiveClass, signed_in: Any, name: str, **options: Any) -> Any:
    page = browser.new_context(storage_state=signed_in, **options).new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.problems = problems
    page.goto(f"http://127.0.0.1:{room.port}/{name}")
    page.wait_for_selector("#counts li")
    return page


def press(room: LiveClass, signed_in: Any, action: str) -> None:
    kept = {each["name"]: each["value"] for each in signed_in["cookies"]}
    assert room.press(f"ticklab-desk={kept['ticklab-desk']}", action) == 204


@pytest.mark.parametrize("name", ["wall", "desk"])
def test_a_page_is_accessible_and_fits(
    browser: Any, room: LiveClass, signed_in: Any, name: str
) -> None:
    press(room, signed_in, "hide")
    page = opened(browser, room, signed_in, name)
    shown = itertools.product((False, True), SIZES.items(), ("light", "dark"))
    for revealed, (size, (width, height)), scheme in shown:
        press(room, signed_in, "reveal" if revealed else "hide")
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("#stage h2")).to_be_visible(visible=revealed)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if (name, size) == ("wall", "projector"):
            # All that the last row must see is on the screen, in letters of at least 20 pixels.
            foot = page.evaluate("document.querySelector('#stage').getBoundingClientRect().bottom")
            assert foot <= height
            least = page.evaluate(
                "Math.min(...[...document.querySelectorAll('#stage li, #stage p, .join')].map("
                "e => parseFloat(getComputedStyle(e).fontSize)))"
            )
            assert least >= 20
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert accessible.violations(page.locator("html")) == [], (revealed, size, scheme)
    assert page.problems == []
    page.context.close()


def test_the_page_that_explains_the_certificate_is_accessible(
    browser: Any, room: LiveClass
) -> None:
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"https://{room.address}/")
    shown = page.locator("main").inner_text()
    assert "Why your browser warned you" in shown
    assert page.locator("code").inner_text() in room.said
    assert accessible.violations(page.locator("html")) == []
    page.context.close()


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.textContent.trim()"))


def tab_to(page: Any, words: str) -> None:
    for _ in range(20):
        if focused(page) == words:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {words}")


def test_a_class_is_led_by_keyboard_alone(browser: Any, room: LiveClass, signed_in: Any) -> None:
    press(room, signed_in, "hide")
    page = opened(browser, room, signed_in, "desk")
    wall = opened(browser, room, signed_in, "wall")
    heading = wall.locator("#stage h1")
    asked = heading.inner_text()
    for key in ("Enter", "Space"):  # shown, and hidden again
        tab_to(page, "Reveal figures")
        page.keyboard.press(key)
        expect(wall.locator("#stage h2")).to_be_visible(visible=key == "Enter")
        assert focused(page) == "Reveal figures"
    tab_to(page, "Freeze")
    page.keyboard.press("Enter")
    expect(wall.locator("#frozen")).to_be_visible()
    page.keyboard.press("Enter")
    tab_to(page, "Next question")
    page.keyboard.press("Enter")
    expect(heading).not_to_have_text(asked)
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "Previous question"
    page.keyboard.press("Enter")
    expect(heading).to_have_text(asked)
    tab_to(page, "The same as a table")
    page.keyboard.press("Enter")
    assert page.locator("#table table").is_visible()
    press(room, signed_in, "freeze")  # the page is drawn again
    expect(page.locator("#frozen")).to_be_visible()
    assert page.locator("#table table").is_visible()
    assert focused(page) == "The same as a table"
    press(room, signed_in, "follow")
    tab_to(wall, "Full screen")
    wall.keyboard.press("Enter")
    expect(wall.locator("html:fullscreen")).to_have_count(1)
    for each in (page, wall):
        assert each.problems == []
        each.context.close()


def test_the_wall_goes_on_by_itself_after_a_restart(browser: Any, tmp_path: Any) -> None:
    with running(tmp_path) as room:
        page = browser.new_page()
        page.goto(room.wall_link)
        page.wait_for_selector("#counts li")
        room.stop(kill=True)
        expect(page.locator("#said")).to_contain_text("No connection")
        room.start()
        assert room.share(room.enter(), message()) == 200
        expect(page.locator("#counts strong").first).to_have_text("1")
        expect(page.locator("#said")).to_have_text("")
        page.close()
