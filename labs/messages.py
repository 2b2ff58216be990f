"""Messages to a student in a notebook, and advice that names options of a measurement.

A message is a box of plain text, never a Python traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal

from labs.html import filled, inline
from labs.terminal import say

Tone = Literal["done", "stored", "note", "problem", "open"]

#: A border colour that is visible on light and dark backgrounds, and a word with the same meaning.
TONES: dict[Tone, tuple[str, str]] = {
    "done": ("#009E73", "Done"),
    "stored": ("#8C8C8C", ""),  # whether it is right is not known yet
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

    @property
    def first_line(self) -> str:
        """The heading after the word of its tone, if that has one."""
        word = TONES[self.tone][1]
        return (
            f"{word}: {self.heading}" if word else f"{self.heading[:1].upper()}{self.heading[1:]}"
        )

    def as_html(self) -> str:
        """A box with a border at its left; all text is escaped."""
        return filled(
            _MESSAGE,
            role="alert" if self.tone == "problem" else "status",
            colour=TONES[self.tone][0],
            heading=self.first_line,
            loud=self.tone != "open",
            excerpt=self.excerpt,
            sentences=self.sentences,
        )

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        lines = [self.first_line]
        lines += [self.excerpt] if self.excerpt else []
        return "\n".join([*lines, *self.sentences])


@dataclass(frozen=True)
class Quiet:
    """One small line below something that matters more; no verdict, so it has no colour."""

    words: str

    def _repr_html_(self) -> str:
        return inline('<small style="opacity:.75">{{ words }}</small>', words=self.words)

    def __repr__(self) -> str:
        return self.words


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
        return ["This cell stops here; the message says why."]


def refused(heading: str, *sentences: str) -> Refused:
    """The error of a call that cannot be carried out: what is wrong, and what to do."""
    return Refused(Message("problem", heading, sentences))


def show(*things: object) -> None:
    """Show `things` as the output of the cell; outside a notebook, print them."""
    if in_notebook():
        from IPython.display import display

        display(*things)  # type: ignore[no-untyped-call]
        return
    for thing in things:
        say(thing)


def in_place_of(first: object) -> Callable[[object], object]:
    """Show `first` as `show` does, and return what shows another thing as the same output.

    Outside a notebook, it prints the other thing too.
    """
    if not in_notebook():
        show(first)
        return show
    from IPython.display import display

    return display(first, display_id=True).update  # type: ignore[no-untyped-call, no-any-return]


def in_notebook() -> bool:
    """Whether IPython runs here."""
    return shell() is not None


def running_cell() -> int | None:
    """The number of the cell that runs, or None outside a notebook."""
    number: int | None = getattr(shell(), "execution_count", None)
    return number


def shell() -> Any:
    """IPython's shell, or None where there is none."""
    import sys

    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()


# Advice is kept as data and put into words last: a terminal has `--samples 4000` where a notebook
# has `samples=4000`.

#: By option of a command, the argument of `lab.measure` that does the same.
ARGUMENTS = {
    name: "batches" if name == "batch" else name.replace("-", "_")
    for name in (
        "samples", "processes", "batch", "warmup", "cpu", "peer-cpu", "unit", "spread", "within",
        "at-most", "time-limit", "patience",
    )
}  # fmt: skip

#: A tuple is a list of batch sizes; `...` stands for a value that the reader chooses.
Value = int | float | str | tuple[int | str, ...] | EllipsisType


@dataclass(frozen=True)
class Option:
    """An option by its name in a command, and the `value` to give it; None: its name alone."""

    name: str
    value: Value | None = None

    def in_shell(self) -> str:
        """As a command has it: `--samples 4000`, `--batch 8,16`, `--batch`."""
        if self.value is None or self.value is ...:
            return f"--{self.name}"
        sizes = self.value if isinstance(self.value, tuple) else (self.value,)
        return f"--{self.name} {','.join(map(_plain, sizes))}"

    def in_python(self) -> str:
        """As `lab.measure` has it: `samples=4000`, `batches=[8, 16]`, `batches=...`."""
        name = ARGUMENTS[self.name]
        if self.value is None:
            return name
        if self.value is ...:
            return f"{name}=..."
        if isinstance(self.value, tuple):
            return f"{name}=[{', '.join(map(_plain, self.value))}]"
        if isinstance(self.value, str):
            return f'{name}="{self.value}"'
        return f"{name}={_plain(self.value)}"


@dataclass(frozen=True)
class Words:
    """Words that differ for a reader in a terminal and for one in a notebook."""

    shell: str
    python: str


Part = str | Option | Words


@dataclass(frozen=True)
class Advice:
    """A sentence on what to try, and what each `{name}` in it stands for. Options of one name are
    used together."""

    sentence: str
    values: tuple[tuple[str, tuple[Part | Advice, ...]], ...] = ()

    def __str__(self) -> str:
        return self.worded(python=False)

    def worded(self, *, python: bool) -> str:
        """The text, with options as arguments of `lab.measure` or as options of a command."""
        between = ", " if python else " "
        return self.sentence.format(
            **{
                name: between.join(_worded(each, python=python) for each in parts)
                for name, parts in self.values
            }
        )


def advice(sentence: str, **values: Part | Advice | tuple[Option, ...]) -> Advice:
    """The advice that `sentence` gives, with a value for each `{name}` in it."""
    return Advice(
        sentence,
        tuple(
            (name, each if isinstance(each, tuple) else (each,)) for name, each in values.items()
        ),
    )


def _worded(part: Part | Advice, *, python: bool) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Advice):
        return part.worded(python=python)
    if isinstance(part, Words):
        return part.python if python else part.shell
    return part.in_python() if python else part.in_shell()


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
