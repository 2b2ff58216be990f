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
from labs.messages import Refused, refused
from labs.notebook import run_errors, unready_cells
from labs.run import declared_options, variants
from labs.run.plan import Plan

if TYPE_CHECKING:
    from labs.notebook.measuring import Measuring
    from labs.notebook.run import Run

#: The magic itself is line 1 of the cell, as the editor counts.
FIRST_LINE = 2

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in plain words instead of ending the Jupyter kernel."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        raise refused(f"%%ckernel: {message}", f"Usage: {usage}")


def register(session: Measuring, waiting: unready_cells.Waiting) -> None:
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
                stub = refused.message.tone == "open"
                first = "complete the C above" if stub else "mend the C above as its cell says"
                waiting.wait_for(name, f"{first}, then run its cell")
            if refused.message.tone != "open":
                raise
            # A stub that waits for its answer: no mistake, so that the notebook runs on.
            messages.show(refused.message)
            return None
        shell.user_ns[name] = run
        return run

    shell.register_magic_function(ckernel, "cell", "ckernel")
    if magic_first not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(magic_first)


def magic_first(lines: list[str]) -> list[str]:
    """The lines of a cell with its `%%ckernel` in the first one, where IPython looks for it.

    What stands above it, comments or nothing, becomes empty lines below it, so that the lines of
    the C keep their numbers. A magic that lost one `%` gets it back.
    """
    for number, line in enumerate(lines):
        if re.match(r"%%?ckernel\s", line):
            return [f"%%{line.lstrip('%')}", *["\n"] * number, *lines[number + 1 :]]
        if line.strip() and not line.lstrip().startswith(("#", "//", "/*", "*")):
            break
    return lines


def measure_cell(session: Measuring, line: str, cell: str) -> Run:
    """Build and run the C of a cell as `line` asks; the run is kept under the cell's name.

    Raises Refused, which a notebook shows as a message: a compile error names the line of the cell.
    """
    arguments = _arguments(line)
    try:
        plan = plan_of_cell(line, cell)
    except Refused as refused:
        session.failed([arguments.save or arguments.name], refused.message)
        raise
    run = session.carry_out(plan, arguments.save or arguments.name, arguments.unit)
    session.runs[arguments.name] = run
    for missed in (run_errors.of_pages, run_errors.of_registers):
        message = missed(run.recording, cell)
        if message is not None:
            messages.show(message)
    return run


def plan_of_cell(line: str, cell: str) -> Plan:
    """The plan that the words `line` after the magic make of the C in `cell`. Raises Refused."""
    arguments = _arguments(line)
    return variants.plan_of_words(
        arguments.name, arguments, source=cell, shown_as="cell", first_line=FIRST_LINE
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
