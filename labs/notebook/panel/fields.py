"""One setting of a panel: its control, and a line below it that says what is wrong or why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from labs.common.html import inline
from labs.languages.words import words
from labs.notebook.panel import numbers
from labs.notebook.panel.meaning import Meaning

_LABEL = {"description_width": "96px"}
CELL = {"width": "auto", "min_width": "0"}
_QUIET = '<div class="ticklab-quiet ticklab-note">{{ translated(words) }}</div>'
_WRONG = '<div class="ticklab-wrong" role="alert">{{ translated(words) }}</div>'


class Field:
    """A control with the line below it; `widget` holds both."""

    def __init__(self, control: Any) -> None:
        self.control = control
        self._note = widgets.HTML(layout={"display": "none", "margin": "0 2px 2px 100px"})
        self._meaning = Meaning()
        self._wrong = ""
        self.widget = widgets.VBox([control, self._note], layout=dict(CELL))

    @property
    def wrong(self) -> str:
        """What is wrong with the value; '' if nothing is."""
        return self._wrong

    @property
    def usable(self) -> bool:
        """Whether the setting has a meaning now."""
        return self._meaning.usable

    def means(self, meaning: Meaning) -> None:
        """Grey the control out where it has no meaning, and say why."""
        self._meaning = meaning
        self.control.disabled = not meaning.usable
        self.control.tooltip = words(meaning.words) or None
        self._show()

    def find_wrong(self, found: str) -> None:
        """Say beside the control what is wrong with its value; '' takes the words away."""
        self._wrong = found
        self._show()

    def on_change(self, call: Callable[[], None]) -> None:
        """Call `call` after each change of the value."""
        self.control.observe(lambda _: call(), "value")

    def _show(self) -> None:
        wrong = self._wrong if self._meaning.usable else ""
        template, said = (_WRONG, wrong) if wrong else (_QUIET, self._meaning.words)
        self._note.value = inline(template, words=said) if said else ""
        self._note.layout.display = None if said else "none"


class Menu(Field):
    """A setting that is chosen from a list of words, each with its value."""

    def __init__(self, label: str, options: Sequence[tuple[str, Any]]) -> None:
        super().__init__(
            widgets.Dropdown(
                options=[(words(text), value) for text, value in options],
                description=words(label),
                style=_LABEL,
                layout=dict(CELL),
            )
        )

    @property
    def value(self) -> Any:
        """What is chosen."""
        return self.control.value


class NumberBox(Field):
    """A whole number that is typed; it is checked with every key.

    A text box and not a box for numbers: in a browser, those take 1e3 for 13 or for nothing.
    """

    def __init__(self, label: str, value: int, ends: tuple[int, int], hint: str) -> None:
        self._ends = ends
        self._hint = hint
        self.number: int | None = value
        control = widgets.Text(
            value=numbers.shown_number(value),
            description=words(label),
            placeholder=words("{number_1} to {number_2}").format(
                number_1=f"{ends[0]:,}", number_2=f"{ends[1]:,}"
            ),
            tooltip=words(hint),
            continuous_update=True,
            style=_LABEL,
            layout=dict(CELL),
        )
        super().__init__(control)
        control.observe(lambda _: self._read(), "value")

    def means(self, meaning: Meaning) -> None:
        """As for every setting; without other words, the tooltip says what the number is."""
        super().means(meaning)
        self.control.tooltip = words(meaning.words or self._hint)

    def show(self, number: int) -> None:
        """Show a number, unless the text there says the same."""
        if number != self.number:
            self.control.value = numbers.shown_number(number)

    def _read(self) -> None:
        try:
            self.number = numbers.read_number_within(self.control.value, *self._ends)
        except numbers.NotANumber as error:
            self.number = None
            self.find_wrong(str(error))
        else:
            self.find_wrong("")
