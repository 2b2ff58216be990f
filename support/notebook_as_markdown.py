"""The notebook of a lab as Markdown, to be written and compared in an editor, and back.

`python -m support.notebook_as_markdown 03-system-call` prints the notebook as Markdown; with
`--from FILE` it makes the notebook of this Markdown.

A line `<!-- ID -->` begins a cell of text; `<!-- ID: answer -->` one that a person grades. A block
of Python whose first line names one of KINDS and an id is a code cell:

    ```python decision calls-run
    ### BEGIN SOLUTION
    calls = lab.measure("system_call", "getppid, invalid", save="calls")
    ### STUB calls = lab.measure("system_call", ..., save="calls")
    ### END SOLUTION
    ```

What nbgrader must know of a cell follows from its text: a cell with a solution is the student's,
and `check("ID")` is locked and has the points of that figure. An answer has those of its rubric.
Of the cell of text FOLDED, a notebook shows the heading alone, and folds away what follows it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.figures import figure_named
from labs.course import rubric
from labs.files import write_atomically
from support.paths import REPOSITORY

NOTEBOOKS = REPOSITORY / "notebooks"
#: Each code cell of a lab has one of these as its tag: what the student does there.
KINDS = ("run-only", "prediction", "decision", "c", "answer", "figure")

#: The cell above those in which a student does nothing.
FOLDED = "for-the-grader"

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_TEXT_BEGINS = re.compile(r"<!-- ([\w-]+)(: answer)? -->")
_CODE_BEGINS = re.compile(rf"```python ({'|'.join(KINDS)}) ([\w-]+)")
_CODE_ENDS = "```"
_CHECK = re.compile(r'check\("([^"]+)"\)')
_SOLUTION = "### BEGIN SOLUTION"


class BadText(ValueError):
    """The Markdown is no notebook; the message says where, and why."""


@dataclass(frozen=True)
class Cell:
    """A cell: its id, its text, its kind if it is code, and whether it is a graded answer."""

    id: str
    text: str
    kind: str = ""
    is_answer: bool = False


def as_text(notebook: dict[str, Any]) -> str:
    """The Markdown of a notebook."""
    parts = []
    for cell in notebook["cells"]:
        source, name = "".join(cell["source"]), cell["id"]
        if cell["cell_type"] == "code":
            (kind,) = cell["metadata"]["tags"]
            parts.append(f"```python {kind} {name}\n{source}\n{_CODE_ENDS}\n")
        else:
            mark = ": answer" if "nbgrader" in cell["metadata"] else ""
            parts.append(f"<!-- {name}{mark} -->\n{source}\n")
    return "\n".join(parts)


def of_text(lab: str, text: str) -> dict[str, Any]:
    """The notebook of `lab` that this Markdown is.

    Raises BadText, and KeyError for a figure or an answer without points.
    """
    cells = tuple(_cells(text))
    for name, count in Counter(cell.id for cell in cells).items():
        if count > 1:
            raise BadText(f"{count} cells have the id {name}: give each another one")
    made = [_made(lab, cell) for cell in cells]
    return {"cells": made, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def of_code(*sources: str) -> dict[str, Any]:
    """A notebook of cells of code, whose ids are cell-0, cell-1 and so on."""
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [
        {**empty, "id": f"cell-{number}", "source": source, "execution_count": None}
        for number, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def as_file(notebook: dict[str, Any]) -> str:
    """The text of the .ipynb file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _cells(text: str) -> Iterator[Cell]:
    now: Cell | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        in_code = now is not None and now.kind != ""
        code, prose = _CODE_BEGINS.fullmatch(line), _TEXT_BEGINS.fullmatch(line)
        if now is not None and (line == _CODE_ENDS if in_code else code or prose):
            yield _with(now, lines)
            now, lines = None, []
        elif now is not None:
            lines.append(line)
            continue
        if not in_code and code:
            now = Cell(code[2], "", kind=code[1])
        elif not in_code and prose:
            now = Cell(prose[1], "", is_answer=prose[2] is not None)
        elif now is None and line.strip() and not in_code:
            raise BadText(
                f"line {number}: {line!r} belongs to no cell. Begin one by <!-- ID -->, or by "
                f"```python KIND ID, where KIND is one of {', '.join(KINDS)}"
            )
    if now is not None and now.kind:
        raise BadText(f"the code cell {now.id} has no end: write {_CODE_ENDS} below it")
    if now is not None:
        yield _with(now, lines)


def _with(cell: Cell, lines: list[str]) -> Cell:
    return Cell(cell.id, "\n".join(lines).strip("\n"), cell.kind, cell.is_answer)


def _made(lab: str, cell: Cell) -> dict[str, Any]:
    metadata: dict[str, Any] = {"tags": [cell.kind]} if cell.kind else {}
    if cell.id == FOLDED:
        metadata["jp-MarkdownHeadingCollapsed"] = True
    check = _CHECK.fullmatch(cell.text)
    if cell.is_answer:
        points = sum(each.points for each in rubric.of_labs()[lab][cell.id])
        metadata["nbgrader"] = _for_nbgrader("markdown", cell.id, solution=True, points=points)
    elif cell.kind and check:
        points = figure_named(check[1]).max_points
        metadata["nbgrader"] = _for_nbgrader("code", check[1], solution=False, points=points)
    elif cell.kind and _SOLUTION in cell.text:
        metadata["nbgrader"] = _for_nbgrader("code", cell.id, solution=True)
    made = {
        "cell_type": "code" if cell.kind else "markdown",
        "id": cell.id,
        "metadata": metadata,
        "source": cell.text.splitlines(keepends=True),
    }
    return {**made, "outputs": [], "execution_count": None} if cell.kind else made


def _for_nbgrader(
    kind: str, name: str, *, solution: bool, points: float | None = None
) -> dict[str, Any]:
    given = {} if points is None else {"points": int(points) if points % 1 == 0 else points}
    return {
        "cell_type": kind,
        "grade": points is not None,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
        **given,
    }


def main(words: list[str] | None = None) -> int:
    """The command line; status 1 if the Markdown is no notebook."""
    parser = argparse.ArgumentParser(prog="python -m support.notebook_as_markdown")
    parser.add_argument("lab", help="the name of the lab, such as 03-system-call")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="the Markdown")
    chosen = parser.parse_args(words)
    path = NOTEBOOKS / chosen.lab / f"{chosen.lab}.ipynb"
    if chosen.source is None:
        print(as_text(json.loads(path.read_text(encoding="utf-8"))), end="")
        return 0
    try:
        made = of_text(chosen.lab, chosen.source.read_text(encoding="utf-8"))
    except BadText as error:
        print(f"{chosen.source}: {error}", file=sys.stderr)
        return 1
    except KeyError as error:
        print(
            f"{chosen.lab}: {error.args[0]}. A check needs its figure in grader/figures, and an "
            "answer its rubric in labs/course/rubrics.json.",
            file=sys.stderr,
        )
        return 1
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, as_file(made).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
