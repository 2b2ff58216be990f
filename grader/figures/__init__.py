"""The figures of every lab: which are asked, from which recordings, for how many points.

`lab_*.py` lists those of one lab. `spec.py` is what is asked of a figure, `expected.py` which
values are right, `case.py` a figure that was handed in, and `verdict.py` what a verdict is.

A new figure is a `FigureSpec`. Its steps, predictions and choices are in
`labs/course/hints/NN-name.json`, its cells in the notebook, and its row in the lab's script for
instructors. What makes its praise fail is in `tests/pitfalls/test_praise.py`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.figures.spec import FigureSpec

#: The pitfall that a conclusion is about, if its figure names no other.
CONCLUSIONS = "conclusion-against-table"


@functools.cache
def _by_lab() -> dict[str, tuple[FigureSpec, ...]]:
    """A module of this folder whose name begins with `lab_` has a LAB and its FIGURES."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name.startswith("lab_")
    )
    found = {
        module.LAB: tuple(_of_lab(figure, module.LAB) for figure in module.FIGURES)
        for module in modules
    }
    return dict(sorted(found.items()))


def _of_lab(figure: FigureSpec, lab: str) -> FigureSpec:
    """The figure with its lab, and a conclusion with the choices that the lab's guide lists."""
    from grader.figures.spec import FigureSpec, Quantity, choices_of

    if figure.quantity is not Quantity.CHOICE:
        return replace(figure, lab=lab)
    choices = figure.choices or choices_of(lab, figure.id)
    central = CONCLUSIONS if figure.central == FigureSpec.central else figure.central
    return replace(figure, lab=lab, choices=choices, central=central)


#: Every lab that has figures, in the order taught.
LABS: dict[str, tuple[FigureSpec, ...]]


def __getattr__(name: str) -> Any:
    """LABS is made when it is asked for: who needs a verdict alone reads no lab."""
    if name == "LABS":
        return _by_lab()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def figures_of(lab: str) -> tuple[FigureSpec, ...]:
    """The figures of `lab`, in the order asked. Raises KeyError, naming the labs there are."""
    labs = _by_lab()
    if lab not in labs:
        raise KeyError(f"no lab {lab!r} has figures; there is {', '.join(labs)}")
    return labs[lab]


def figure_named(figure_id: str) -> FigureSpec:
    """The figure with this id, of any lab. Raises KeyError, naming those there are."""
    for specs in _by_lab().values():
        for spec in specs:
            if spec.id == figure_id:
                return spec
    known = ", ".join(spec.id for specs in _by_lab().values() for spec in specs)
    raise KeyError(f"no figure {figure_id!r}; there is {known}")


def is_known(figure_id: str) -> bool:
    """Whether any lab asks for this figure."""
    return any(spec.id == figure_id for specs in _by_lab().values() for spec in specs)


def lab_of_figures(figure_ids: list[str]) -> str | None:
    """The one lab that all known ids of `figure_ids` belong to; None where that is not one."""
    labs = {spec.lab for specs in _by_lab().values() for spec in specs if spec.id in figure_ids}
    return labs.pop() if len(labs) == 1 else None
