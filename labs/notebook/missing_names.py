"""A cell uses a name that no cell has made: say which cells to run, before Python's own words.

That is how a cell that was skipped, cells out of order, and a Jupyter kernel that was restarted
show themselves.
"""

from __future__ import annotations

import difflib
from types import TracebackType
from typing import TYPE_CHECKING, Any

from labs.common import messages
from labs.common.messages import Message, Refused

if TYPE_CHECKING:
    from labs.notebook.run import Run


class Runs(dict[str, "Run"]):
    """The runs made in a notebook, by the name they are saved under."""

    def __missing__(self, name: str) -> Run:
        """Raises Refused, in plain words, for a run that is not there."""
        words = [
            "The cell that measures it has not run since this Jupyter kernel began, or its C did "
            "not build: run that cell, then this one again."
        ]
        if self:
            words.append(f"There is {', '.join(self)}.")
        raise Refused(Message("problem", f"there is no run {name!r} yet", tuple(words)))


def register() -> None:
    """Have this notebook explain a missing name. Registering again changes nothing."""
    shell: Any = messages.shell()
    shell.set_custom_exc((NameError,), _explain)


def of_name(name: str, known: list[str]) -> Message:
    """What to do about the missing `name`, where the notebook has the names `known`."""
    words = [
        "A cell above makes it, and has not run since this Jupyter kernel began, or did not get "
        "so far.",
        "In the menu Run choose Run All Above Selected Cell, then run this cell again.",
    ]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    if close:
        words.insert(0, f"Did you mean {close[0]}? If not:")
    # In quotes: in lab 06 a process is more than a name.
    return Message("problem", f"there is no '{name}' yet", tuple(words))


def _explain(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    name = getattr(error, "name", None)
    slip = isinstance(name, str) and not isinstance(error, UnboundLocalError)
    if slip and _in_a_cell(shell, trace):
        names = [each for each in shell.user_ns if not each.startswith("_")]
        messages.show(of_name(str(name), names))
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _in_a_cell(shell: Any, trace: TracebackType | None) -> bool:
    """Whether the name is missing in the notebook itself, not in a module that it imported."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals is shell.user_ns
