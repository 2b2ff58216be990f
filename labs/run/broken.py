"""C kernels that are wrong on purpose, each with its repaired twin.

Every file under `kernels_c/broken/` makes one mistake from a published report or a tool. The
comment at its beginning describes the mistake:

    /*
     * Wrong on purpose: the C library answers from a cache, so that no system call is made.
     * Repaired: system_call --variant getppid
     * Run with: --samples 1000 --processes 1
     */

`Repaired` is the correct measurement, as you would type it after `labs measure`. `Run with` gives
the options of the broken one, if they are part of the mistake. The broken C kernel and its variant
have the names of the repaired ones, because this is what its author thinks it measures.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labs import paths, terminal
from labs.run import declared_options

if TYPE_CHECKING:
    from labs.run.plan import Plan

MOST_LINES = 60

_SAYS = re.compile(r"^ \* (Wrong on purpose|Repaired|Run with): (.+(?:\n \*   .+)*)$", re.MULTILINE)


class BadBroken(ValueError):
    """The comment of a broken C kernel does not state the mistake or the repaired measurement."""


class NoSuchBroken(LookupError):
    """There is no broken C kernel of this name; the message suggests one, or how to list them."""


@dataclass(frozen=True)
class BrokenKernel:
    """One measurement that is wrong on purpose.

    `mistake` is one sentence. `twin` holds the arguments of the repaired measurement, and `options`
    those of the broken one.
    """

    name: str
    path: Path
    mistake: str
    twin: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def repaired(self) -> str:
        """The name of the C kernel that does not make this mistake."""
        return self.twin[0]

    def as_json(self) -> dict[str, str]:
        """The object of a list."""
        return {"name": self.name, "mistake": self.mistake, "repaired": " ".join(self.twin)}

    @property
    def source(self) -> str:
        """Its C source."""
        return self.path.read_text(encoding="utf-8")

    def plan(self) -> Plan:
        """The plan of the broken measurement."""
        return _plan([str(self.path), *self.options])

    def twin_plan(self) -> Plan:
        """The plan of the repaired measurement."""
        return _plan(list(self.twin))


def names() -> tuple[str, ...]:
    """The names of the broken C kernels."""
    return tuple(sorted(path.stem for path in folder().glob("*.c")))


def all_of_them() -> list[BrokenKernel]:
    """Every broken C kernel, by name. Raises BadBroken."""
    return [read_from(folder() / f"{name}.c") for name in names()]


def folder() -> Path:
    """The folder of the broken C kernels. Raises paths.PartMissing."""
    return paths.kernels_c() / "broken"


def find(name: str) -> BrokenKernel:
    """The broken C kernel `name`. Raises NoSuchBroken and BadBroken."""
    if name not in names():
        close = terminal.meant(name, names())
        suggestion = (
            f": did you mean {close}?" if close else "; `labs broken` in a terminal lists all."
        )
        raise NoSuchBroken(f"no broken C kernel {name!r}{suggestion}")
    return read_from(folder() / f"{name}.c")


def read_from(path: Path) -> BrokenKernel:
    """The broken C kernel in the file `path`. Raises BadBroken."""
    says = {
        key: re.sub(r"\s*\n \*\s*", " ", words)
        for key, words in _SAYS.findall(path.read_text(encoding="utf-8"))
    }
    missing = {"Wrong on purpose", "Repaired"} - set(says)
    if missing:
        raise BadBroken(f"{path.name}: its first comment lacks {' and '.join(sorted(missing))}")
    twin = tuple(shlex.split(says["Repaired"]))
    options = tuple(shlex.split(says.get("Run with", "")))
    return BrokenKernel(path.stem, path, says["Wrong on purpose"], twin, options)


def _plan(words: list[str]) -> Plan:
    """The plan from the arguments of `labs measure`."""
    # Here: what makes plans takes long to load, and a list of the mistakes needs none.
    from labs.run import variants

    parser = argparse.ArgumentParser(prog="labs measure", exit_on_error=False)
    declared_options.add_line(parser)
    return variants.plan_of_line(parser.parse_args(words))
