"""If a cell uses an undefined name, say which cells to run, before Python's own error message.

This error appears if a cell was skipped, if cells ran out of order, or if the Jupyter kernel was
restarted.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from labs.common import messages, spelling
from labs.common.messages import Message, Refused

if TYPE_CHECKING:
    from labs.notebook.run import Run


class Runs(dict[str, "Run"]):
    """The runs of a notebook, by the names of their recordings."""

    def __missing__(self, name: str) -> Run:
        """Raises Refused with a plain message for a run that does not exist."""
        words = [
            "The cell that measures it has not run since this Jupyter kernel started, or its C did "
            "not compile: run that cell, then this one again."
        ]
        if self:
            words.append(f"There is {', '.join(self)}.")
        raise Refused(Message("problem", f"there is no run {name!r} yet", tuple(words)))


def register() -> None:
    """Make this notebook explain an undefined name. A second call changes nothing."""
    shell: Any = messages.shell()
    shell.set_custom_exc((NameError,), _explain)


def of_name(name: str, known: list[str]) -> Message:
    """The message about the undefined `name` in a notebook that has the names `known`."""
    words = [
        "No cell has defined it since the Jupyter kernel started. A cell above may define it, or "
        "the name is misspelt.",
        "If a cell above defines it, choose Run All Above Selected Cell in the menu Run, then run "
        "this cell again.",
    ]
    close = spelling.meant(name, known, alike=0.75)
    if close:
        words.insert(0, f"Did you mean {close}? If not:")
    # The quotes show that it is a name: lab 06 has a variable `process`.
    return Message("problem", f"there is no '{name}' yet", tuple(words))


def _explain(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    name = getattr(error, "name", None)
    undefined = isinstance(name, str) and not isinstance(error, UnboundLocalError)
    if undefined and _in_a_cell(shell, trace):
        names = [each for each in shell.user_ns if not each.startswith("_")]
        messages.show(of_name(str(name), names))
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _in_a_cell(shell: Any, trace: TracebackType | None) -> bool:
    """Whether the name is undefined in the notebook itself, not in an imported module."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals is shell.user_ns
