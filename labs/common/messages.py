"""What the kit says to a student in a notebook: a box of plain words, never a Python traceback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labs.common.html import filled

Tone = Literal["done", "note", "problem"]

#: A border colour that shows on light and dark ground alike, and the word that says it too.
_TONES: dict[Tone, tuple[str, str]] = {
    "done": ("#009E73", "Done"),
    "note": ("#56B4E9", "Note"),
    "problem": ("#D55E00", "Problem"),
}
_MESSAGE = Path(__file__).with_name("message.html.jinja")


@dataclass(frozen=True)
class Message:
    """A heading and sentences, with text to be shown as it stands (`excerpt`)."""

    tone: Tone
    heading: str
    sentences: tuple[str, ...] = ()
    excerpt: str = ""

    def as_html(self) -> str:
        """A box with a border at its left; everything escaped."""
        colour, word = _TONES[self.tone]
        return filled(
            _MESSAGE,
            role="alert" if self.tone == "problem" else "status",
            colour=colour,
            word=word,
            heading=self.heading,
            excerpt=self.excerpt,
            sentences=self.sentences,
        )

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        lines = [f"{_TONES[self.tone][1]}: {self.heading}"]
        return "\n".join(lines + ([self.excerpt] if self.excerpt else []) + list(self.sentences))


class Refused(Exception):
    """Something a cell asked for cannot be done; `message` says why and what to do.

    A notebook stops at the cell and shows the message: IPython asks an exception how to be shown.
    """

    def __init__(self, message: Message) -> None:
        self.message = message
        self._shown = False
        super().__init__(repr(message))

    def _render_traceback_(self) -> list[str]:
        # IPython asks more than once.
        if not self._shown:
            self._shown = True
            show(self.message)
        return ["This cell stops here; the message says why."]


def show(*things: object) -> None:
    """Show things as the output of the cell; outside a notebook, print them."""
    if in_notebook():
        from IPython.display import display

        display(*things)  # type: ignore[no-untyped-call]
        return
    for thing in things:
        print(thing)


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
