"""The widgets of the form of a prediction, and their layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from labs.course.predictions import Prediction
from labs.html import inline
from labs.languages.words import words
from labs.notebook.typed_numbers import as_python

#: In the colours of the page that it stands in, light or dark.
_STYLE = """<style>
.ticklab-form { border: 1px solid var(--jp-border-color2, #ccc); border-radius: 6px;
  padding: 10px min(16px, 2vw) 12px; max-width: 560px; box-sizing: border-box; }
.ticklab-form .widget-label { text-align: left; color: var(--jp-content-font-color1, inherit); }
.ticklab-form .widget-html-content { line-height: 1.45; flex: 1 1 0; min-width: 0; }
.ticklab-form .ticklab-title { font-weight: 600; white-space: normal; overflow-wrap: anywhere; }
.ticklab-form .ticklab-quiet { color: var(--jp-content-font-color2, #555); white-space: normal; }
.ticklab-form select { background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/\
2000/svg' viewBox='0 0 18 18'%3E%3Cpath fill='%23808080' d='M5 7l4 4 4-4z'/%3E%3C/svg%3E"); }
.ticklab-form :is(button, input, select, textarea):focus-visible {
  outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 1px; }
</style>"""

#: JupyterLab takes the arrow keys and letters for its own commands even where the focus is in a
#: menu; Lumino leaves an element with this attribute alone. ipywidgets sets no attributes.
_KEYS = """<img hidden alt="" src="data:," onerror="
  document.addEventListener('focusin', (event) => {
    if (event.target.matches('.ticklab-form select'))
      event.target.setAttribute('data-lm-suppress-shortcuts', 'true');
  })">"""

_TITLE = '<div class="ticklab-title">{{ words }}</div>'
_LABEL = {"description_width": "88px"}
_CELL = {"width": "auto", "min_width": "0"}


class Fields:
    """Number, unit, reason and confidence, with the button that stores them.

    `said` is the line of words that answers what is typed. All but the unit begin with what is
    `stored`.
    """

    def __init__(
        self, question: str, units: Sequence[tuple[str, str]], stored: Prediction | None
    ) -> None:
        self.number = widgets.Text(
            value="" if stored is None else as_python(stored.value),
            description=words("Number"),
            placeholder=words("such as 200 or 1e3"),
            style=_LABEL,
            layout=_CELL,
        )
        self.unit = widgets.Dropdown(
            options=list(units), description=words("Unit"), style=_LABEL, layout=_CELL
        )
        self.because = widgets.Textarea(
            value="" if stored is None else stored.because,
            description=words("Reason"),
            placeholder=words("why you expect this"),
            rows=2,
            style=_LABEL,
            layout=_CELL,
        )
        self.sure = widgets.Text(
            value="" if stored is None or stored.sure is None else f"{100 * stored.sure:g}",
            description=words("Sure, in %"),
            placeholder=words("0 (a guess) to 100 (certain)"),
            style=_LABEL,
            layout=_CELL,
        )
        self.store = widgets.Button(
            description=words("Store"),
            button_style="primary",
            layout={"width": "104px", "flex": "none"},
        )
        self.said = widgets.HTML(layout={"flex": "1 1 160px", "width": "auto", "margin": "2px 8px"})
        parts = [
            widgets.HTML(_STYLE + _KEYS + inline(_TITLE, words=question)),
            self.number,
            self.unit,
            self.because,
            self.sure,
            widgets.HBox([self.store, self.said], layout={"flex_flow": "row wrap"}),
        ]
        self.widget = widgets.VBox(parts)
        self.widget.add_class("ticklab-form")

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of a field."""
        for field in (self.number, self.unit, self.because, self.sure):
            field.observe(lambda _: call(), "value")
