"""The cell magic `%%ckernel`: C in a cell, built and run in place, its source kept as evidence.

%%ckernel NAME [--variant V] [--samples N] [--batch K,...] [--warmup N] [--cpu N]
               [--peer-cpu N] [--processes N] [--within PERCENT] [--at-most SECONDS]
               [--replace SECONDS] [--flags=-O2] [--unit U] [--time-limit S] [--patience S]
               [--save RECORDING]
"""

from __future__ import annotations

import argparse
import re
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from labs import messages
from labs.messages import Message, Refused, show
from labs.notebook import explain
from labs.run import declared_options, options
from labs.run.plan import Plan

if TYPE_CHECKING:
    from labs.notebook.measuring import Measuring
    from labs.notebook.run import Run
    from labs.notebook.unready_cells import Waiting

#: The magic itself is line 1 of the cell, as the editor counts.
FIRST_LINE = 2

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in plain words instead of ending the Jupyter kernel."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        raise Refused(Message("problem", f"%%ckernel: {message}", (f"Usage: {usage}",)))


def register(session: Measuring, waiting: Waiting) -> None:
    """Make `%%ckernel` of this notebook work for `session`.

    The run of a cell becomes a variable with the name under which it is saved.
    """
    shell: Any = messages.shell()

    def ckernel(line: str, cell: str) -> Run | None:
        name = variable_of(line)
        try:
            run = measure_cell(session, line, cell)
        except Refused as refused:
            if name not in shell.user_ns:
                waiting.wait_for(name, "complete the C above, then run its cell")
            if refused.message.tone != "open":
                raise
            # A stub that waits for its answer: no mistake, so that the notebook runs on.
            messages.show(refused.message)
            return None
        shell.user_ns[name] = run
        return run

    shell.register_magic_function(ckernel, "cell", "ckernel")


def measure_cell(session: Measuring, line: str, cell: str) -> Run:
    """Build and run the C of a cell as `line` asks; the run is kept under the cell's name.

    Raises Refused, which a notebook shows as a message: a compile error names the line of the cell.
    """
    arguments = _arguments(line)
    try:
        plan = plan_of(line, cell)
    except Refused as refused:
        session.failed([arguments.save or arguments.name], refused.message)
        raise
    run = session.carry_out(plan, arguments.save or arguments.name, arguments.unit)
    session.runs[arguments.name] = run
    for missed in (explain.of_pages, explain.of_registers):
        message = missed(run.recording, cell)
        if message is not None:
            show(message)
    return run


def plan_of(line: str, cell: str) -> Plan:
    """The plan that the words `line` after the magic make of the C in `cell`. Raises Refused."""
    arguments = _arguments(line)
    return options.plan_of_words(
        arguments.name,
        arguments,
        source=cell,
        shown_as="cell",
        first_line=FIRST_LINE,
    )


def variable_of(line: str) -> str:
    """The variable that holds the run of a cell with the words `line` after the magic.

    Raises Refused.
    """
    arguments = _arguments(line)
    return re.sub(r"\W", "_", arguments.save or arguments.name)


def _arguments(line: str) -> argparse.Namespace:
    parser = _Parser(prog="%%ckernel", add_help=False, allow_abbrev=False)
    parser.add_argument("name", metavar="NAME")
    declared_options.add_options(parser)
    parser.add_argument("--save", metavar="RECORDING")
    try:
        words = shlex.split(line)
    except ValueError as error:
        parser.error(str(error))
    arguments = parser.parse_args(words)
    if _NAME.fullmatch(arguments.name) is None:
        parser.error(f"{arguments.name!r} is not a name: letters, digits, hyphen and underscore")
    return arguments
