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
    "spread": "spread",
    "within": "within",
    "at-most": "at_most",
    "time-limit": "time_limit",
    "patience": "patience",
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
    """What to try: a whole sentence, so that it can be translated as one, and what its `{name}`
    stand for. Options of one name are used together."""

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
    return part.in_python() if python else part.in_shell()


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
