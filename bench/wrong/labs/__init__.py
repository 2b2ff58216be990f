"""All labs with their wrong submissions: each module `lab_` of this folder holds those of one lab,
and `slips` those that all have in common."""

from __future__ import annotations

import importlib
import pkgutil

from bench.wrong.case import Lab


def _lab(name: str) -> Lab:
    lab: Lab = importlib.import_module(f"{__name__}.{name}").LAB
    importlib.import_module(f"{__name__}.slips").add_to(lab)
    return lab


LABS: tuple[Lab, ...] = tuple(
    _lab(each.name)
    for each in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name)
    if each.name.startswith("lab_")
)
