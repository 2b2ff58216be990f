"""Makes the students' labs from the source notebooks, with nbgrader's generate_assignment.

    python -m grader.with_nbgrader.release SOURCE DEST

SOURCE has one folder for each lab, with solutions; DEST gets the same folders without solutions.
The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooOldError, ValidationError
from nbgrader.preprocessors import ClearSolutions, SaveCells
from nbgrader.utils import compute_checksum, is_solution
from sqlalchemy.exc import OperationalError
from traitlets import Dict
from traitlets.config import Config

from grader.with_nbgrader import course_folder, locked_gradebook
from grader.with_nbgrader.careful_course import EXPORTER, OfOurCourses, trust_schemas
from labs.terminal import say
from labs.units import plural

# nbgrader's own steps, some replaced by ours. They are names and not classes, because the
# formgrader shows a course's settings as JSON.
RELEASE_STEPS = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "grader.with_nbgrader.release.ClearSolutionsByCell",
    "nbgrader.preprocessors.ClearOutput",
    "grader.with_nbgrader.course.NameCourse",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "grader.with_nbgrader.release.KeepCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

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


# A lab may be released again after hand-ins. nbgrader then removes the old release first, and ends
# in a traceback if a cell came or went. We make the new one beside the old one, say what changed,
# enter it into the gradebook, and swap the folders last. Earlier notebooks are kept: submissions
# that were made on them are matched with the new one (`grader.submissions.submitted_notebook`).

#: The folder of the earlier released notebooks, in that of the releases.
EARLIER = ".earlier"
_MOST_EARLIER = 20
_KINDS = ("grade", "solution", "task", "source")


def earlier_releases(release: Path, name: str) -> list[Path]:
    """The notebooks `name` of earlier releases of the lab in the folder `release`, newest first."""
    kept = (release.parent / EARLIER / release.name).glob(f"*/{escape(name)}.ipynb")
    return sorted(kept, reverse=True)[:_MOST_EARLIER]


class KeepCells(SaveCells):  # type: ignore[misc]
    """Finds the cells for the gradebook; :class:`CourseRelease` has them entered at the end."""

    def _create_notebook(self, nb: NotebookNode) -> None:
        converter = getattr(self.parent, "parent", None)
        if not isinstance(converter, CourseRelease):
            super()._create_notebook(nb)
            return
        later = SaveCells(parent=self.parent)
        for name in ("notebook_id", "assignment_id", *(f"new_{kind}_cells" for kind in _KINDS)):
            setattr(later, name, getattr(self, name))
        converter.to_enter.append((later, nb))


class CourseRelease(OfOurCourses, GenerateAssignment):  # type: ignore[misc]
    """Releases a lab; the old release stays until the new one stands."""

    of_nbgrader = GenerateAssignment

    @property
    def _output_directory(self) -> str:
        """Where nbgrader writes: beside the releases."""
        return str(Path(super()._output_directory) / course_folder.UNFINISHED)

    def convert_notebooks(self) -> None:
        """Releases each lab that was asked for. Raises NbGraderException, which says what to do."""
        for folder in sorted(self.assignments):
            self.notebooks = sorted(self.assignments[folder])
            self.to_enter: list[tuple[Any, NotebookNode]] = []
            self._release(Path(folder).name)

    def _release(self, lab: str) -> None:
        course = self.coursedir
        final = Path(course.format_path(course.release_directory, ".", lab))
        new = Path(os.path.normpath(self._format_dest(lab, ".")))
        old = new.with_name(f"{new.name}.old")
        if old.is_dir() and not final.exists():  # a run was ended between the two
            old.rename(final)
        course_folder.remove_left(new)
        if not self.force and all((final / Path(each).name).is_file() for each in self.notebooks):
            self.log.warning("%s stays as it is. To release the lab again, add --force.", final)
            return
        try:
            self.run_pre_convert_hook()
            if course.notebook_id != "*" and final.is_dir():  # the other notebooks stay
                shutil.copytree(final, new)
            BaseConverter.init_assignment(self, lab, ".")
            for notebook in self.notebooks:
                _demand_marks(Path(notebook))
                self.convert_single_notebook(notebook)
            self._enter(lab)
            self.set_permissions(lab, ".")
            _keep_earlier(final, new)
            if final.is_dir():
                final.rename(old)
            new.rename(final)
            self.run_post_convert_hook()
        except Exception as error:
            self.log.debug("%s", lab, exc_info=True)
            stays = f" {final} is as it was." if final.is_dir() else ""
            message = f"{lab} was not released: {_reason(error)}.{stays}"
            self.log.error("%s", message)
            raise NbGraderException(message) from error
        finally:
            course_folder.remove_left(new)
            course_folder.remove_empty_above(new)

    def _enter(self, lab: str) -> None:
        """Enters the lab and its cells into the gradebook, and says what changed."""
        if self.no_database:
            return
        course = self.coursedir
        with Gradebook(course.db_url, course.course_id) as gradebook:
            notebooks = [(step, _in_gradebook(gradebook, step)) for step, _ in self.to_enter]
            graded = max((len(of.submissions) for _, of in notebooks if of), default=0)
            changes = [words for step, of in notebooks if of for words in _changes(step, of)]
            for step, of in notebooks:
                if of is not None and of.submissions:
                    _raise_if_points_were_given(gradebook, step, of)
        super().init_assignment(lab, ".")
        with Gradebook(course.db_url, course.course_id) as gradebook:
            for step, nb in self.to_enter:
                step.gradebook = gradebook
                of = _in_gradebook(gradebook, step)
                if of is not None and of.submissions:
                    _change_cells(gradebook, step, of)
                step._create_notebook(nb)
        for words in changes:
            self.log.warning("%s: %s", lab, words)
        if changes and graded:
            self.log.warning(
                "%s: graded by an earlier release: %s. `grader autograde %s --force` grades by the "
                "new one, and keeps the points that a person gave.",
                lab, plural(graded, "submission"), lab,
            )  # fmt: skip


def _demand_marks(path: Path) -> None:
    """Refuses nbgrader's marks that it would refuse with a traceback. Raises ReleaseError."""
    node = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    try:
        MetadataValidator().validate_nb(node)
    except ValidationError as error:
        why = f"{error}".strip().partition("\n")[0]
        raise ReleaseError(f"the marks of nbgrader in {path.name} are wrong: {why}") from error


def _in_gradebook(gradebook: Gradebook, step: Any) -> Any:
    try:
        return gradebook.find_notebook(step.notebook_id, step.assignment_id)
    except MissingEntry:
        return None


def _changes(step: Any, of: Any) -> Iterator[str]:
    """What is graded otherwise than in the gradebook's notebook `of`, and which texts changed."""
    points = {each.name: float(each.max_score) for each in (*of.grade_cells, *of.task_cells)}
    cells = {**step.new_grade_cells, **step.new_task_cells}
    now = {name: float(info["max_score"]) for name, info in cells.items()}
    answers = {each.name for each in of.solution_cells} | set(step.new_solution_cells)
    for name in sorted({*points, *now}):
        kind = "answer" if name in answers else "figure"
        if name not in points:
            yield f"the {kind} {name} is new, with {plural(now[name], 'point')}"
        elif name not in now:
            yield f"the {kind} {name} is gone; it had {plural(points[name], 'point')}"
        elif points[name] != now[name]:
            yield f"the {kind} {name} has {plural(now[name], 'point')}, not {points[name]:g}"
    texts = {each.name: (each.source or "").strip() for each in of.source_cells}
    new = {name: info["source"].strip() for name, info in step.new_source_cells.items()}
    changed = sorted(name for name in texts if new.get(name, texts[name]) != texts[name])
    if changed:
        yield f"the text of {', '.join(changed)} changed"


def _gone(step: Any, of: Any, kind: str) -> list[Any]:
    new = getattr(step, f"new_{kind}_cells")
    return [each for each in getattr(of, f"{kind}_cells") if each.name not in new]


def _raise_if_points_were_given(gradebook: Gradebook, step: Any, of: Any) -> None:
    """Raises ReleaseError if a cell that is gone has points or comments of a person."""
    for cell in (each for kind in _KINDS for each in _gone(step, of, kind)):
        count = max(
            gradebook.db.query(table).filter(table.cell_id == cell.id, by.isnot(None)).count()
            for table, by in ((Grade, Grade.manual_score), (Comment, Comment.manual_comment))
        )
        if count:
            raise ReleaseError(
                f"{cell.name} is gone, and a person graded it for "
                f"{plural(count, 'student')}: the gradebook would lose that. Put the cell back, "
                "or give the changed lab another name"
            )


def _change_cells(gradebook: Gradebook, step: Any, of: Any) -> None:
    """Removes the cells that are gone, and adds new ones, also for the submissions that exist.

    Their grade of a new cell waits for a person until they are graded again.
    """
    db = gradebook.db
    for kind in _KINDS:
        known = {each.name for each in getattr(of, f"{kind}_cells")}
        for cell in _gone(step, of, kind):
            for table in (Grade, Comment):
                db.query(table).filter(table.cell_id == cell.id).delete()
            db.delete(cell)
        for name, info in getattr(step, f"new_{kind}_cells").items():
            if name in known:
                continue
            create = getattr(gradebook, f"update_or_create_{kind}_cell")
            cell = create(name, step.notebook_id, step.assignment_id, **info)
            for submission in of.submissions:
                if kind in ("grade", "task"):
                    db.add(Grade(cell_id=cell.id, notebook=submission, needs_manual_grade=True))
                if kind in ("solution", "task"):
                    db.add(Comment(cell_id=cell.id, notebook=submission))
    db.commit()
    db.expire_all()


def _keep_earlier(final: Path, new: Path) -> None:
    """Keeps the released notebooks that will be replaced by others."""
    changed = [
        path
        for path in final.glob("*.ipynb")
        if not (new / path.name).is_file() or (new / path.name).read_bytes() != path.read_bytes()
    ]
    if changed:
        above = final.parent / EARLIER / final.name
        number = max((int(each.name) for each in above.glob("[0-9]*")), default=0) + 1
        folder = above / f"{number:06}"
        folder.mkdir(parents=True)
        for path in changed:
            shutil.copy(path, folder)


def _reason(error: Exception) -> str:
    """Why a lab was not released, as a clause; what to do about it, if nbgrader knows."""
    words = locked_gradebook.cause_of(error) or f"{error}" or type(error).__name__
    if isinstance(error, SchemaTooOldError):
        words = "its cells have an old form of nbgrader's marks; back the course up, and run "
        words += "`nbgrader update .`"
    elif isinstance(error, OperationalError) and not locked_gradebook.cause_of(error):
        words = f"{error.orig}; if the gradebook is of an older nbgrader, back it up, and run "
        words += "`nbgrader db upgrade`"
    return words.strip().rstrip(".")


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
    trust_schemas()
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
    left = shutil.ignore_patterns(*LEFT_BY_RUNNING)
    shutil.copytree(source, destination, ignore=left, dirs_exist_ok=True)


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
    config.Autograde.exporter_class = EXPORTER  # these are our settings
    # We grade nobody here, so we make no gradebook, which would take a second for each lab; and
    # these labs are of no course.
    steps = [step for step in RELEASE_STEPS if not step.endswith((".KeepCells", ".NameCourse"))]
    config.GenerateAssignment.preprocessors = steps
    config.GenerateAssignment.no_database = True
    folder = CourseDirectory(config=config, root=str(course), assignment_id=lab)
    converter = CourseRelease(coursedir=folder, config=config)
    converter.log.setLevel(logging.CRITICAL)  # what is wrong comes as an exception
    try:
        converter.start()
    except NbGraderException as error:
        raise ReleaseError(str(error)) from error


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
