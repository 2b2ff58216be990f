"""Makes the students' labs from the source notebooks, with nbgrader's generate_assignment.

    python -m grader.with_nbgrader.release SOURCE DEST

SOURCE has one folder for each lab, with solutions; DEST gets the same folders without solutions.
The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import compute_checksum, is_solution
from traitlets import Dict
from traitlets.config import Config

from grader.with_nbgrader.settings import RELEASE_STEPS, configure
from labs.terminal import say

# The files that a run of a lab leaves in its folder; they are never part of a lab.
LEFT_BY_RUNNING = (
    "recordings",
    "figures.json",
    "predictions.json",
    "answers.json",
    ".ipynb_checkpoints",
    "__pycache__",
    ".*",
)

#: What begins a line that takes the place of a solution; in C, inside a `//` comment.
STUB = "### STUB"

STUB_LINE = re.compile(rf"(\s*)(?:// )?{STUB} ?(.*)")


class ReleaseError(Exception):
    """A source folder cannot be released; the message says which and why."""


class ClearSolutionsByCell(ClearSolutions):  # type: ignore[misc]
    """Replaces each solution by a stub in the cell's own language, or by the cell's own stub.

    nbgrader knows only one language for each notebook, but a lab has C in its `%%ckernel` cells.
    There, a Python comment would be a syntax error that explains nothing to a student.

    Lines of the solution that begin with `### STUB ` hold what the student gets in its place, such
    as `### STUB run = lab.measure("system_call", ...)`; in C, they are `//` comments.

    A cell that comes out of a release has no solution to clear, and stays: a course may start from
    released labs. nbgrader writes a checksum into each cell that it releases. If the cell has
    changed since then, it is cleared as any other.
    """

    code_stub = Dict(
        {
            "python": "pass  # your answer here",
            "c": '#error "complete this region, then run the cell again"',
        },
        help="The text that replaces a solution, by the language of the cell.",
    ).tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if "text_stub" not in self.config.ClearSolutions:
            self.text_stub = "Write your answer here."

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Clears one cell. Raises RuntimeError for a solution region that is not closed."""
        if is_solution(cell) and self._is_released(cell):
            return cell, resources
        first, _, rest = cell.source.partition("\n")
        if cell.cell_type == "code" and is_solution(cell) and STUB in cell.source:
            cell.source = self._with_own_stubs(cell.source)
        elif cell.cell_type != "code" or not first.startswith("%%ckernel"):
            super().preprocess_cell(cell, resources, cell_index)
        elif is_solution(cell) and self.begin_solution_delimeter not in rest:
            # nbgrader would replace the whole cell, also the first line, which makes it C.
            cell.source = f"{first}\n{self.code_stub['c']}"
        else:
            super().preprocess_cell(cell, {**resources, "language": "c"}, cell_index)
        return cell, resources

    def _is_released(self, cell: NotebookNode) -> bool:
        """Whether the cell is as nbgrader released it."""
        if self.begin_solution_delimeter in cell.source:
            return False
        checksum: object = cell.metadata.nbgrader.get("checksum")
        return checksum is not None and checksum == compute_checksum(cell)

    def _with_own_stubs(self, source: str) -> str:
        """The source with each solution replaced by the stub that it holds.

        Raises RuntimeError for a region that is not closed, or that has no stub.
        """
        region = re.compile(
            rf"^[^\n]*{re.escape(self.begin_solution_delimeter)}[^\n]*\n(.*?)"
            rf"^[^\n]*{re.escape(self.end_solution_delimeter)}[^\n]*$",
            re.M | re.S,
        )
        cleared = region.sub(_own_stub, source)
        if self.begin_solution_delimeter in cleared:
            raise RuntimeError(f"a solution is not closed: {source}")
        return cleared


def _own_stub(solution: re.Match[str]) -> str:
    found = map(STUB_LINE.fullmatch, solution[1].splitlines())
    stub = [line[1] + line[2] for line in found if line is not None]
    if not stub:
        raise RuntimeError(
            f"where one solution of a cell has a stub, each needs one: {solution[0]}"
        )
    return "\n".join(stub)


def release(source: Path, destination: Path) -> None:
    """Releases every lab under `source` to `destination`, and replaces that folder as a whole.

    A lab is a folder with a notebook of the same name. Raises ReleaseError if there is none, or if
    nbgrader refuses one; `destination` is then unchanged.
    """
    labs = sorted(
        folder for folder in source.iterdir() if (folder / f"{folder.name}.ipynb").is_file()
    )
    if not labs:
        raise ReleaseError(f"{source} holds no lab: a folder with a notebook of the same name")
    for lab in labs:
        _demand_ids(lab / f"{lab.name}.ipynb")
    destination = destination.absolute()
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".release-") as scratch:
        course = Path(scratch)
        copy_labs(source, course / "source")
        for lab in labs:
            _generate(course, lab.name)
        _replace(course / "release", destination, course / "old")


def copy_labs(source: Path, destination: Path) -> None:
    """Copies the labs under `source` to `destination`, without files that a run left there."""
    shutil.copytree(
        source,
        destination,
        ignore=shutil.ignore_patterns(*LEFT_BY_RUNNING),
        dirs_exist_ok=True,
    )


def _demand_ids(path: Path) -> None:
    """Refuses a notebook whose cells have no ids: each reading would make up new ids."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        ids = [cell.get("id") for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(f"{path} is not a notebook of format 4: {error}") from error
    if None in ids or len(set(ids)) != len(ids):
        raise ReleaseError(f"{path}: each cell needs its own id; save it as nbformat 4.5")


def _generate(course: Path, lab: str) -> None:
    """Runs nbgrader's generate_assignment for one lab of a temporary course."""
    config = Config()
    configure(config, course)
    # We grade nobody here, so we make no gradebook, which would take a second for each lab; and
    # these labs are of no course.
    steps = [step for step in RELEASE_STEPS if not step.endswith((".SaveCells", ".NameCourse"))]
    config.GenerateAssignment.preprocessors = steps
    config.GenerateAssignment.no_database = True
    folder = CourseDirectory(config=config, root=str(course), assignment_id=lab)
    converter = GenerateAssignment(coursedir=folder, config=config)
    converter.log.setLevel(logging.ERROR)
    try:
        converter.start()
    except NbGraderException as error:
        raise ReleaseError(f"nbgrader could not release {lab}: {error}") from error


def _replace(new: Path, destination: Path, old: Path) -> None:
    """Replaces `destination` by `new`; it only renames folders."""
    if destination.exists():
        destination.replace(old)
    try:
        new.replace(destination)
    except OSError:
        if old.exists():
            old.replace(destination)
        raise


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit status 1 with a message if a lab cannot be released."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.with_nbgrader.release", description="release labs"
    )
    parser.add_argument("source", type=Path, help="the folder that holds one folder for each lab")
    parser.add_argument("destination", type=Path, help="folder for the released labs")
    chosen = parser.parse_args(arguments)
    try:
        release(chosen.source, chosen.destination)
    except (ReleaseError, OSError) as error:
        say(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
