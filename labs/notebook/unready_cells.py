"""Cells that cannot run yet, and widgets that are lost: they wait for the student, or for a name.

In a released lab, `...` marks each place where the student decides:

    cold = lab.measure("first_iteration", ..., samples=600, processes=...)

A cell with such a place is not run: one grey line says what is open, and the notebook runs on. The
names that it would assign are waiting until then, and so is every later cell that needs one of
them.
"""

from __future__ import annotations

import ast
import dis
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from labs import messages, terminal
from labs.html import filled
from labs.messages import Message, refused
from labs.units import plural

if TYPE_CHECKING:
    from labs.notebook.run import Run


class Waiting:
    """Looks at each cell before it runs. IPython calls `visit` with the syntax tree of the cell.

    `names` maps each waiting name to what must be done first: cells to fill in, by the name that
    they give in backticks, or a sentence.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.names: dict[str, tuple[str, ...]] = {}

    def visit(self, cell: ast.Module) -> ast.Module:
        """The cell itself, or an empty one in place of a cell that waits."""
        known = self._shell.user_ns
        self.names = {name: first for name, first in self.names.items() if name not in known}
        places = len(blanks(cell))
        read, assigned = _names(cell)
        first = tuple(dict.fromkeys(each for name in read for each in self.names.get(name, ())))
        if not places and not first:
            return cell
        for name in assigned:
            if name not in known:
                self.names[name] = (f"`{name}`",) if places else first
        heading = (
            f"replace each `...` in this cell: {plural(places, 'place')}"
            if places
            else _what_first(first)
        )
        messages.show(Message("open", heading))
        return ast.copy_location(ast.Module(body=[], type_ignores=[]), cell)

    def wait_for(self, name: str, first: str) -> None:
        """Let cells that need `name` show `first`, what must be done, until the name exists."""
        self.names[name] = (first,)


def _what_first(first: tuple[str, ...]) -> str:
    """What must be done before a cell can run, as one line."""
    names = [each for each in first if each.startswith("`")]
    told = [each for each in first if not each.startswith("`")]
    if names:
        *others, last = names
        listed = f"{', '.join(others)} and {last}" if others else last
        told.insert(
            0,
            f"fill in the cells above that give {listed}"
            if others
            else f"fill in the cell above that gives {listed}",
        )
    return "; ".join(told)


def register_waiting() -> Waiting:
    """Make this notebook wait for the student. A second call returns the same object."""
    shell: Any = messages.shell()
    for each in shell.ast_transformers:
        if isinstance(each, Waiting):
            return each
    mine = Waiting(shell)
    shell.ast_transformers.append(mine)
    return mine


def blanks(node: ast.AST) -> list[ast.AST]:
    """Each `...` that stands for a decision.

    A subscript such as `x[..., 0]`, or one to which Python assigns, and the body of a function may
    be `...` in finished Python.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    if isinstance(node, ast.Constant):
        return [node] if node.value is Ellipsis else []
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Subscript):
        whole = isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load)
        parts = [node.value, node.slice] if whole else [node.value]
    return [each for part in parts for each in blanks(part)]


_READING = ("LOAD_NAME", "LOAD_GLOBAL")


def _names(cell: ast.Module) -> tuple[list[str], list[str]]:
    """The names that the cell reads before it assigns them, and those that it assigns.

    Names within its functions and classes are not among them. A cell that Python will refuse has
    none.
    """
    try:
        code = compile(cell, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError:
        return [], []
    read: dict[str, None] = {}
    assigned: dict[str, None] = {}
    for instruction in _instructions(code):
        if instruction.opname == "STORE_NAME":
            assigned[instruction.argval] = None
        elif instruction.opname in _READING and instruction.argval not in assigned:
            read[instruction.argval] = None
    return list(read), list(assigned)


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    """What Python carries out, with its comprehensions and lambdas in their places."""
    for each in dis.get_instructions(code):
        yield each
        if isinstance(each.argval, CodeType) and each.argval.co_name.startswith("<"):
            yield from _instructions(each.argval)


# A name is undefined if a cell was skipped, if cells ran out of order, or if the Jupyter kernel was
# restarted. The student reads which cells to run before Python's own error message.


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
        raise refused(f"there is no run {name!r} yet", *words)


def register_missing_names() -> None:
    """Make this notebook explain an undefined name, an attribute that a result or a number lacks,
    and a number in place of a list.

    A second call changes nothing.
    """
    shell: Any = messages.shell()
    shell.set_custom_exc((NameError, AttributeError, TypeError), _explain)


def of_name(name: str, known: list[str]) -> Message:
    """The message about the undefined `name` in a notebook that has the names `known`."""
    words = [
        "No cell has defined it since the Jupyter kernel started. A cell above may define it, or "
        "the name is misspelt.",
        "If a cell above defines it, choose Run All Above Selected Cell in the menu Run, then run "
        "this cell again.",
    ]
    close = terminal.meant(name, known, alike=0.75)
    if close:
        words.insert(0, f"Did you mean {close}? If not:")
    # The quotes show that it is a name: lab 06 has a variable `process`.
    return Message("problem", f"there is no '{name}' yet", tuple(words))


#: What a student asks a result of the kit for.
ASKED_FOR = (
    *("value", "unit", "interval", "parts", "broken", "repaired", "naive_value"),
    *("difference", "ratio", "side"),
)


def of_attribute(name: str, owner: object) -> Message | None:
    """The message about the attribute `name` that `owner` lacks; None if `owner` is not the kit's.

    Most calls of the kit return something that displays itself, and a few return None.
    """
    if owner is None:
        nothing = (
            "What stands before the dot is None: there is no result yet, or the call that it comes "
            "from only shows something.",
            "A value comes from a run: `run = lab.measure(...)`, then `run.value`.",
        )
        return Message("problem", f"None has no `{name}`", nothing)
    if isinstance(owner, int | float):
        what = f"What stands before the dot is the number {owner:.6g}: leave out `.{name}`."
        return Message("problem", f"a number has no `{name}`", (what,))
    kind = type(owner)
    if kind.__module__.partition(".")[0] not in ("labs", "grader"):
        return None
    known = [each for each in dir(owner) if not each.startswith("_")]
    words = [f"Did you mean `{close}`?"] if (close := terminal.meant(name, known)) else []
    if shown := [f"`{each}`" for each in ASKED_FOR if each in known]:
        words.append(f"It has {', '.join(shown)}.")
    return Message("problem", f"this {kind.__name__.lower()} has no `{name}`", tuple(words))


#: What Python says of `mean(5.0)`.
_NO_LIST = re.compile(r"'(?:int|float)' object is not (?:iterable|subscriptable)")
_ONE_NUMBER = Message(
    "problem",
    "this is one number, and Python needs a list of numbers",
    ("`mean`, `median` and `min` take a list, such as all samples. One number stands for itself.",),
)


def _explain(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    name = getattr(error, "name", None)
    known = isinstance(name, str) and not isinstance(error, UnboundLocalError)
    if known and _in_a_cell(shell, trace):
        if isinstance(error, AttributeError):
            found = of_attribute(str(name), error.obj)
        else:
            found = of_name(str(name), [each for each in shell.user_ns if not each.startswith("_")])
        if found is not None:
            messages.show(found)
    elif isinstance(error, TypeError) and _NO_LIST.fullmatch(str(error)):
        messages.show(_ONE_NUMBER)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _in_a_cell(shell: Any, trace: TracebackType | None) -> bool:
    """Whether the name is undefined in the notebook itself, not in an imported module."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals is shell.user_ns


# What a saved notebook shows where the widgets of a cell are lost.
#
# The widgets of a cell live in the Jupyter kernel. A notebook that is opened with a new one shows
# an error in their place, although the other output of the cell says everything. If the state of
# the widgets was saved, the notebook shows their picture, which answers nothing. It does the same
# when the Jupyter kernel has ended.

_STYLE = Path(__file__).with_name("lost_widget.html.jinja")


def style(output: str, widget: str, *, repeats: bool = False) -> str:
    """Hides what stands in place of the widget of class `widget` while no such widget answers.

    `output` is the class of the output that stays. If it `repeats` what the widget shows, it is
    hidden where the widget lives.
    """
    return filled(_STYLE, output=output, widget=widget, repeats=repeats)


_WIDGETS = Path(__file__).with_name("widgets.html.jinja")


def style_of_widgets() -> str:
    """The style of the panel and of the forms, for a widget of theirs."""
    return filled(_WIDGETS)


# The cell of a panel has a second output in plain HTML, which needs no Jupyter kernel. A page that
# shows the panel hides it.

_SAVED = Path(__file__).with_name("saved.html.jinja")


class SavedOutput:
    """The second output of a panel's cell; each of `show` and `update` replaces its content."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._handle: Any = None
        self.html = ""

    def show(self) -> None:
        """Add it to the cell that runs now. Outside a notebook there is no such output."""
        if messages.in_notebook():
            from IPython.display import display

            self._handle = display(self._bundle(), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def update(self, result: str, plot: str, comparison: str, runs: str) -> None:
        """Show this result with its plot, the comparison and the table of runs, all as HTML."""
        self.html = filled(
            _SAVED,
            kernel=self._kernel,
            result=result,
            plot=plot,
            comparison=comparison,
            runs=runs,
            style=style("ticklab-kept", "ticklab-panel", repeats=True),
        )
        if self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        instead = (
            f"Panel of {self._kernel}: to get it back, run the first cell of the lab, and then "
            "this one."
        )
        return {"text/html": self.html, "text/plain": instead}
