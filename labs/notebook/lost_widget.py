"""The style of an output that stays in a saved notebook when its widget is lost.

The widgets of a cell live in the Jupyter kernel. A notebook that is opened with a new one shows an
error in their place, although the other output of the cell says everything. If the state of the
widgets was saved, it shows their picture, which answers nothing; so it does when the Jupyter kernel
has ended.
"""

from __future__ import annotations

from pathlib import Path

from labs.common.html import filled

_STYLE = Path(__file__).with_name("lost_widget.html.jinja")


def style(output: str, widget: str, *, repeats: bool = False) -> str:
    """Hides what stands in place of the widget of class `widget` while no such widget answers.

    `output` is the class of the output that stays. If it `repeats` what the widget shows, it is
    hidden where the widget lives.
    """
    return filled(_STYLE, output=output, widget=widget, repeats=repeats)
