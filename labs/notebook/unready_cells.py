"""Cells that cannot run yet, and widgets that are lost: they wait for the student, or for a name.

In a released lab, `...` marks each place where the student decides:

    cold = lab.measure("first_iteration", ..., samples=600, processes=...)

A cell with such a place is not run: one grey line says what is open, and the notebook runs on. The
names that it would assign are waiting until then, and so is every later cell that needs one of
them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from labs import messages, terminal
from labs.html import filled
from labs.messages import Message, Refused

if TYPE_CHECKING:
    from labs.notebook.run import Run


#: More names or places than these are counted and not listed.
_MOST_LISTED = 4


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
        open_places = blanks(cell)
        first = dict.fromkeys(each for name in _read(cell) for each in self.names.get(name, ()))
        if not open_places and not first:
            return cell
        for name in _assigned(cell):
            if name not in known:
                self.names[name] = (f"`{name}`",) if open_places else tuple(first)
        heading = (
            f"replace each `...` in this cell: {_as_text(open_places, known)}"
            if open_places
            else _what_first(tuple(first))
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


def blanks(cell: ast.Module) -> list[tuple[ast.AST, str]]:
    """Each `...` that stands for a decision: the node around it, and its place there as text.

    A subscript such as `x[..., 0]` and the body of a function may be `...` in finished Python.
    """
    return list(_blanks_in(cell))


def _blanks_in(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    if isinstance(node, ast.Subscript):
        yield from _blanks_in(node.value)
        return
    for field, value in ast.iter_fields(node):
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.Constant) and child.value is Ellipsis:
                place = f"{field} {number}" if isinstance(value, list) else field
                if isinstance(node, ast.keyword):
                    place = node.arg or place
                yield node, place
            elif isinstance(child, ast.AST):
                yield from _blanks_in(child)


def _as_text(places: list[tuple[ast.AST, str]], known: dict[str, Any]) -> str:
    """The open places in words: arguments by their names, others by their number."""
    named = [_argument(node, place, known) for node, place in places]
    listed = [name for name in dict.fromkeys(named) if name][:_MOST_LISTED]
    rest = len(places) - sum(name in listed for name in named)
    more = f"{rest} {'more ' if listed else ''}place{'s' if rest > 1 else ''}" if rest else ""
    return " and ".join([", ".join(listed)] * bool(listed) + [more] * bool(more))


def _argument(node: ast.AST, place: str, known: dict[str, Any]) -> str:
    """The name of the argument that is open; '' where it has none."""
    if isinstance(node, ast.keyword):
        return place
    if not (isinstance(node, ast.Call) and place.startswith("args ")):
        return ""
    number = int(place.removeprefix("args "))
    try:
        names = _parameters(node.func, known)
    except (TypeError, ValueError, AttributeError, KeyError):
        return ""
    return names[number] if number < len(names) else ""


def _parameters(function: ast.AST, known: dict[str, Any]) -> list[str]:
    """The parameters that a function takes by their place, or a method without its object.

    Raises if the function is unknown.
    """
    if isinstance(function, ast.Name):
        return _by_place(known[function.id])
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        raise KeyError(ast.dump(function))
    owner = known[function.value.id]
    if inspect.ismodule(owner):
        return _by_place(getattr(owner, function.attr))
    # By the class of the object: nothing of the object itself is to run.
    return _by_place(getattr(type(owner), function.attr))[1:]


def _by_place(function: Any) -> list[str]:
    """The parameters before those that have a name only: a further `...` is one of these."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    every = inspect.signature(function).parameters.values()
    return [each.name for each in every if each.kind in kinds]


def _assigned(cell: ast.Module) -> list[str]:
    """The names that the cell assigns, outside its functions and classes."""
    return [node.id for node in _names(cell) if isinstance(node.ctx, ast.Store)]


def _read(cell: ast.Module) -> list[str]:
    """The names that the cell reads before it assigns them, in the order in which Python does."""
    own: set[str] = set()
    read: dict[str, None] = {}
    for node in _names(cell):
        if isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif node.id not in own:
            read[node.id] = None
    return list(read)


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    """Names in the order of use, without those that only a function or a comprehension knows."""
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    if isinstance(tree, ast.Name):
        yield tree
    if isinstance(tree, ast.AugAssign) and isinstance(tree.target, ast.Name):
        yield ast.Name(tree.target.id, ast.Load())
    names = (name for child in _in_order(tree) for name in _names(child))
    hidden = _names_of_its_own(tree)
    yield from (name for name in names if name.id not in hidden)


def _in_order(node: ast.AST) -> list[ast.AST]:
    """The parts of a node as Python goes through them: what is assigned follows its value."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.iter, node.target, *node.body, *node.orelse]
    parts = list(ast.iter_child_nodes(node))
    targets = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr
    return parts[::-1] if isinstance(node, targets) else parts


def _names_of_its_own(node: ast.AST) -> set[str]:
    """The names that exist only within this comprehension or lambda."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        targets = [name for each in node.generators for name in ast.walk(each.target)]
        return {name.id for name in targets if isinstance(name, ast.Name)}
    if isinstance(node, ast.Lambda):
        return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    return set()


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
        raise Refused(Message("problem", f"there is no run {name!r} yet", tuple(words)))


def register_missing_names() -> None:
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
    close = terminal.meant(name, known, alike=0.75)
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
