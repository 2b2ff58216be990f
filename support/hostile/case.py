"""One hostile submission: how it is laid out, and what its check must say."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import support.hostile
from support.paths import FIXTURES

HONEST = FIXTURES / "honest"


@dataclass(frozen=True)
class Hostile:
    """A submission of `lab`. `write` fills an empty folder.

    `points` is what all figures get together; None if the case does not decide it. `keeps` are the
    points of the figures that the case leaves alone: they are not lost. `says` must stand in the
    reason or the evidence of one verdict. `not_graded` figures stay open. `notebook` changes the
    notebook with the answers, where a class hands in one too.
    """

    name: str
    kind: str
    lab: str
    write: Callable[[Path], None]
    points: float | None = None
    keeps: float = 0.0
    says: str = ""
    not_graded: int = 0
    notebook: Callable[[Path], None] | None = None


def all_cases() -> list[Hostile]:
    """The cases of every kind, in the order of their modules."""
    names = (each.name for each in pkgutil.iter_modules(support.hostile.__path__))
    modules = (importlib.import_module(f"support.hostile.{name}") for name in names)
    return [case for module in modules for case in getattr(module, "CASES", ())]


def changed(lab: str, change: Callable[[Path], None]) -> Callable[[Path], None]:
    """Lays out the honest submission of `lab` and then changes it."""
    return functools.partial(_write, HONEST / lab, change)


def changed_fixture(fixture: Path, change: Callable[[Path], None]) -> Callable[[Path], None]:
    """As `changed`, from another saved submission."""
    return functools.partial(_write, fixture, change)


def _write(saved: Path, change: Callable[[Path], None], folder: Path) -> None:
    shutil.copytree(saved, folder, dirs_exist_ok=True)
    change(folder)
