"""The outputs of a cell in a page like that of VS Code, which has other classes than JupyterLab.

VS Code puts each output of a cell into an `.output_container` of its own, and gives every widget a
white ground, also in a dark theme.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright")

from bench.labs import jupyterlab
from labs.notebook import unready_cells
from labs.notebook.session import Session
from support.pressed_panel import press, set_to

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed"),
]

LIVE = '<div class="jupyter-widgets ticklab-panel">the panel</div>'
#: What VS Code shows in place of a widget that it cannot draw.
LOST = '<div class="no-renderer-error">Could not render</div>'
OF_ANOTHER = '<div class="jupyter-widgets">a widget of somebody else</div>'


@pytest.fixture(scope="module")
def plot(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The plot of a panel that has measured."""
    panel = Session("x", tmp_path_factory.mktemp("lab")).panel("timer_overhead", ("fenced",))
    set_to(panel, samples="200", processes="2")
    press(panel)
    return str(panel.controls.plot.value)


@pytest.fixture(scope="module")
def browser(plot: str) -> Iterator[Any]:
    """A browser; nothing can be measured while it is open, because both need the event loop."""
    with jupyterlab.chromium() as browser:
        yield browser


def shown(browser: Any, *cells: tuple[str, ...], theme: str = "vscode-light") -> Any:
    """A page with these cells, each of several outputs."""
    page = browser.new_page()
    page.set_content(
        f'<html><body class="{theme}" style="background: #111">'
        "<style>code { color: #808080; background: #222 }</style>"
        + "".join(
            '<div class="cell_container">'
            + "".join(
                f'<div class="output_container"><div class="output">{each}</div></div>'
                for each in outputs
            )
            + "</div>"
            for outputs in cells
        )
    )
    return page


@pytest.mark.parametrize(("widget", "saved_is_seen"), [(LIVE, False), (LOST, True)])
def test_of_the_panel_and_its_saved_result_one_is_seen(
    browser: Any, widget: str, saved_is_seen: bool
) -> None:
    style = unready_cells.style("ticklab-kept", "ticklab-panel", repeats=True)
    saved = f'<div class="ticklab-kept">the last result{style}</div>'
    page = shown(browser, (saved, widget), (OF_ANOTHER,), (LOST,))
    assert page.get_by_text("the last result").is_visible() == saved_is_seen
    assert page.get_by_text("the panel").count() == (not saved_is_seen)
    # Outputs of other cells stay as they are.
    assert page.get_by_text("a widget of somebody else").is_visible()
    assert page.get_by_text("Could not render").last.is_visible()
    assert page.get_by_text("Could not render").first.is_visible() == (not saved_is_seen)
    page.close()


def test_a_form_and_its_line_are_both_seen(browser: Any) -> None:
    style = unready_cells.style("ticklab-form-line", "ticklab-form")
    line = f'<div class="ticklab-form-line">lab.predict(...){style}</div>'
    form = '<div class="jupyter-widgets ticklab-form">the form</div>'
    page = shown(browser, (form, line), (LOST, line))
    assert page.get_by_text("the form").is_visible()
    assert [each.is_visible() for each in page.get_by_text("lab.predict").all()] == [True, True]
    assert not page.get_by_text("Could not render").is_visible()
    page.close()


def test_in_a_dark_theme_plot_and_code_of_the_panel_are_dark_on_white(
    browser: Any, plot: str
) -> None:
    style = unready_cells.style_of_widgets()
    on_white = (
        '<div class="cell-output-ipywidget-background" style="background: white; color: black">'
        f'<div class="ticklab-panel">{style}<code>lab.measure</code>{plot}</div></div>'
    )
    page = shown(browser, (on_white,), (plot,), theme="vscode-dark")
    of_widget, of_saved = page.evaluate(
        "() => [...document.querySelectorAll('.ticklab-plot')].map(plot => {"
        " const style = getComputedStyle(plot); return [style.filter, style.mixBlendMode] })"
    )
    assert of_widget == ["none", "normal"]
    # On the ground of the theme, a plot is inverted.
    assert of_saved == ["invert(1) hue-rotate(180deg)", "screen"]
    code = "() => { const style = getComputedStyle(document.querySelector('code'));"
    colours = page.evaluate(f"{code} return [style.color, style.backgroundColor] }}")
    assert colours == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"]
    page.close()
