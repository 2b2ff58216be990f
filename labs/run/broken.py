"""C kernels that are wrong on purpose, each beside its repaired twin.

Every file under `kernels_c/broken/` makes one mistake that was met in a published report or a tool,
and says so in the comment that it begins with:

    /*
     * Wrong on purpose: the C library answers from a cache, so that no system call is made.
     * Repaired: system_call --variant getppid
     * Run with: --samples 1000 --processes 1
     */

`Repaired` is the measurement that does it right, as one would type it after `labs measure`; `Run
with` is how the mistake was made, where that is a part of it. The file's C kernel and variant are
called like the repaired ones, because that is what its author believes to measure.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from labs.common import paths, spelling
from labs.run import measure, options

MOST_LINES = 60

_SAYS = re.compile(r"^ \* (Wrong on purpose|Repaired|Run with): (.+(?:\n \*   .+)*)$", re.MULTILINE)


class BadBroken(ValueError):
    """A broken C kernel whose comment does not say what is wrong, or what would be right."""


class NoSuchBroken(KeyError):
    """There is no broken C kernel of this name; the message names those there are."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class BrokenKernel:
    """One measurement that is wrong on purpose.

    `mistake` is one sentence; `twin` the words of the repaired measurement, `options` those of the
    broken one.
    """

    name: str
    path: Path
    mistake: str
    twin: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Its C."""
        return self.path.read_text(encoding="utf-8")

    def plan(self) -> measure.Plan:
        """How the broken one is run."""
        return _plan([str(self.path), *self.options])

    def twin_plan(self) -> measure.Plan:
        """How the repaired one is run."""
        return _plan(list(self.twin))


def names() -> tuple[str, ...]:
    """The broken C kernels, by name."""
    return tuple(sorted(path.stem for path in folder().glob("*.c")))


def folder() -> Path:
    """Where they lie. Raises paths.PartMissing."""
    return paths.kernels_c() / "broken"


def find(name: str) -> BrokenKernel:
    """The broken C kernel `name`. Raises NoSuchBroken and BadBroken."""
    path = folder() / f"{name}.c"
    if name not in names():
        raise NoSuchBroken(f"no broken C kernel {name!r}{spelling.suggestion(name, names())}")
    says = {
        key: re.sub(r"\s*\n \*\s*", " ", words)
        for key, words in _SAYS.findall(path.read_text(encoding="utf-8"))
    }
    missing = {"Wrong on purpose", "Repaired"} - set(says)
    if missing:
        raise BadBroken(f"{path.name}: its first comment lacks {' and '.join(sorted(missing))}")
    twin = tuple(shlex.split(says["Repaired"]))
    options = tuple(shlex.split(says.get("Run with", "")))
    return BrokenKernel(name, path, says["Wrong on purpose"], twin, options)


def _plan(words: list[str]) -> measure.Plan:
    """The plan of what one would type after `labs measure`."""
    parser = argparse.ArgumentParser(prog="labs measure", exit_on_error=False)
    options.add_line(parser)
    return options.plan_of_line(parser.parse_args(words))
