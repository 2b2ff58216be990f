"""Advice that names options of a measurement: kept as data, and put into words last.

A terminal has `--samples 4000` where a notebook has `samples=4000`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType

#: By option of a command, the argument of `lab.measure` that does the same.
ARGUMENTS = {
    "samples": "samples",
    "processes": "processes",
    "batch": "batches",
    "warmup": "warmup",
    "cpu": "cpu",
    "peer-cpu": "peer_cpu",
    "unit": "unit",
    "within": "within",
    "at-most": "at_most",
}

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

    def in_shell(self) -> str:
        return self.shell

    def in_python(self) -> str:
        return self.python


Part = str | Option | Words


@dataclass(frozen=True)
class Advice:
    """What to try, in parts: words, and the options between them. Options side by side are used
    together."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return self.worded(python=False)

    def worded(self, *, python: bool) -> str:
        """The text, with options as arguments of `lab.measure` or as options of a command."""
        text, between = "", ", " if python else " "
        for before, each in zip((None, *self.parts), self.parts, strict=False):
            if isinstance(each, str):
                text += each
                continue
            text += between if isinstance(before, Option) and isinstance(each, Option) else ""
            text += each.in_python() if python else each.in_shell()
        return text


def advice(*parts: Part | Advice) -> Advice:
    """The advice that these parts make, one after the other."""
    flat: list[Part] = []
    for each in parts:
        flat += each.parts if isinstance(each, Advice) else (each,)
    return Advice(tuple(flat))


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
