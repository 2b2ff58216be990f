"""All labs with their wrong submissions: each package of this folder holds those of one lab."""

from __future__ import annotations

import importlib
import pkgutil

from bench.wrong.case import Lab
from bench.wrong.truth import Truth


def _packages() -> list[str]:
    """The names of the packages; none is named anywhere else."""
    found = (each.name for each in pkgutil.iter_modules(__path__) if each.ispkg)
    return sorted(f"{__name__}.{name}" for name in found)


LABS: tuple[Lab, ...] = tuple(importlib.import_module(name).LAB for name in _packages())

#: By lab and case: what would be a true naming of its cause.
TRUTHS: dict[str, dict[str, Truth]] = {
    lab.lab: importlib.import_module(f"{name}.truths").TRUTHS
    for lab, name in zip(LABS, _packages(), strict=True)
}
