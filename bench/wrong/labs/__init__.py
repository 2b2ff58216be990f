"""All labs with their wrong submissions: each package of this folder holds those of one lab,
and `slips` those that all have in common."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from bench.wrong.case import Lab
from bench.wrong.labs import slips, truths_of_slips
from bench.wrong.truth import Truth


def _packages() -> list[str]:
    """The names of the packages; none is named anywhere else."""
    found = (each.name for each in pkgutil.iter_modules(__path__) if each.ispkg)
    return sorted(f"{__name__}.{name}" for name in found)


def _lab(name: str) -> Lab:
    lab: Lab = importlib.import_module(name).LAB
    return replace(lab, cases=(*lab.cases, *slips.SLIPS.get(lab.lab, ())))


LABS: tuple[Lab, ...] = tuple(map(_lab, _packages()))

#: By lab and case: what would be a true naming of its cause.
TRUTHS: dict[str, dict[str, Truth]] = {
    lab.lab: importlib.import_module(f"{name}.truths").TRUTHS
    | truths_of_slips.TRUTHS.get(lab.lab, {})
    for lab, name in zip(LABS, _packages(), strict=True)
}
