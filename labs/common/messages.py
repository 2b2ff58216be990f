"""Messages to a student in a notebook: a box of plain text, never a Python traceback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labs.common.html import code_spans, filled
from labs.common.terminal import say
from labs.languages.words import of_reader, words

Tone = Literal["done", "note", "problem", "open"]

#: A border colour that is visible on light and dark backgrounds, and a word with the same meaning.
TONES: dict[Tone, tuple[str, str]] = {
    "done": ("#009E73", "Done"),
    "note": ("#56B4E9", "Note"),
    "problem": ("#D55E00", "Problem"),
    "open": ("#8C8C8C", "To do"),
}
_MESSAGE = Path(__file__).with_name("message.html.jinja")


@dataclass(frozen=True)
class Message:
    """A heading and sentences; `excerpt` is text that is shown unchanged, such as code."""

    tone: Tone
    heading: str
    sentences: tuple[str, ...] = ()
    excerpt: str = ""

    def as_html(self) -> str:
        """A box with a border at its left; all text is escaped."""
        shown = of_reader()
        word, heading = self._first_line()
        return filled(
            _MESSAGE,
            role="alert" if self.tone == "problem" else "status",
            colour=TONES[self.tone][0],
            word=word,
            heading=code_spans(heading),
            loud=self.tone != "open",
            excerpt=self.excerpt,
            sentences=[code_spans(shown.heading(sentence)) for sentence in self.sentences],
        )

    def _first_line(self) -> tuple[str, str]:
        """The word of the tone and the heading, both in one language."""
        word, shown = TONES[self.tone][1], of_reader()
        heading = shown.heading(self.heading)
        return (word if heading == self.heading else shown(word)), heading

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        shown = of_reader()
        lines = [": ".join(self._first_line())]
        lines += [self.excerpt] if self.excerpt else []
        return "\n".join([*lines, *map(shown.heading, self.sentences)])


class Refused(Exception):
    """The kit cannot do what a cell asked for; `message` says why and what to do.

    The notebook stops at the cell and shows the message. IPython calls `_render_traceback_` for it.
    """

    def __init__(self, message: Message) -> None:
        self.message = message
        self._shown = False
        super().__init__(repr(message))

    def _render_traceback_(self) -> list[str]:
        # IPython calls this more than once.
        if not self._shown:
            self._shown = True
            show(self.message)
        return [words("This cell stops here; the message says why.")]


def show(*things: object) -> None:
    """Show `things` as the output of the cell; outside a notebook, print them."""
    if in_notebook():
        from IPython.display import display

        display(*things)  # type: ignore[no-untyped-call]
        return
    for thing in things:
        say(thing)


def in_notebook() -> bool:
    """Whether IPython runs here."""
    return shell() is not None


def shell() -> Any:
    """IPython's shell, or None where there is none."""
    import sys

    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()
