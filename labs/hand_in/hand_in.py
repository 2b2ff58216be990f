"""Hand in a lab: check everything once more, say what is missing, pack, submit where one can."""

from __future__ import annotations

import datetime
import hashlib
import io
import itertools
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs import limits
from labs.c_kernels.catalogue import sources_beside
from labs.course import answers, figures, guide, handed_in, lab_names, predictions
from labs.course.figures import BadFigures
from labs.course.handed_in import HANDED_IN
from labs.course.lab_names import folder_meant
from labs.files import read_bounded, write_atomically
from labs.hand_in import exchange


class CannotHandIn(ValueError):
    """There is nothing to hand in, or it cannot be read; the message says what to do."""


@dataclass(frozen=True)
class HandedIn:
    """An archive that was made: its path and hash, and that of its receipt."""

    archive: Path
    receipt: Path
    sha256: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What was handed in, and what the student should know about it.

    `points` are those of the check and the most there are. `missing` are figures that were not
    handed in and answers that are empty; `failed` are figures with their reason; `misplaced` says
    where the grader would not look for an answer, and what to do. `submitted` names
    the course whose exchange has the lab now; `trouble` says why one has not. `only_packed` if
    nobody has looked for an exchange. `notebook` is the name of a notebook that is not named like
    the lab.
    """

    made: HandedIn
    points: tuple[float, float]
    missing: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    submitted: str = ""
    trouble: str = ""
    only_packed: bool = False
    notebook: str = ""

    def as_json(self) -> dict[str, object]:
        """The object that `labs hand-in --json` prints."""
        return {
            "archive": str(self.made.archive),
            "receipt": str(self.made.receipt),
            "sha256": self.made.sha256,
            "files": list(self.made.files),
            "points": list(self.points),
            "missing": list(self.missing),
            "failed": list(self.failed),
            "misplaced": list(self.misplaced),
            "submitted": self.submitted or None,
            "trouble": self.trouble or None,
            "notebook": self.notebook or None,
        }

    def lines(self) -> list[str]:
        """The report, one line each."""
        got, most = self.points
        found = [f"archive: {self.made.archive} ({len(self.made.files)} files)"]
        if self.notebook:
            found.append(f"notebook: {self.notebook}, which has your answers")
        if self.submitted:
            found.append(f"submitted to the exchange of the course {self.submitted}")
        elif self.trouble:
            found.append(f"NOT submitted to an exchange: {self.trouble}")
        elif self.only_packed:
            found.append(
                "only packed, as you asked: upload the archive to the place that your course names"
            )
        else:
            found.append(
                "no nbgrader exchange has this lab: upload the archive to the place "
                "that your course names"
            )
        found.append(f"receipt: {self.made.receipt}")
        found.append(f"checked: {got:g} of {most:g} points for the figures")
        found += [f"missing: {each}" for each in self.missing]
        found += [f"not right yet: {each}" for each in self.failed]
        found += [f"answer in another place: {each}" for each in self.misplaced]
        return found


def lab_in(folder: Path) -> str:
    """The lab of the folder, by its name or its notebook. Raises CannotHandIn."""
    folder = folder.resolve()
    notebooks = [path.stem for path in folder.glob("*.ipynb")]
    known = lab_names.labs()
    # A copy of a notebook has another name, which begins with that of the lab; so has its folder.
    meant = {lab for lab in known for name in notebooks if name.startswith(lab)}
    if folder.name in (*notebooks, *known):
        meant = {folder.name}
    if len(meant) == 1 and (notebooks or (folder / figures.FILE_NAME).is_file()):
        return meant.pop()
    if (folder / figures.FILE_NAME).is_file():
        return folder.name
    if len(notebooks) == 1:
        return notebooks[0]
    if not folder.is_dir():
        raise CannotHandIn(f"there is no folder {folder}{folder_meant(folder)}")
    raise CannotHandIn(
        f"{folder} is not the folder of a lab: it holds no notebook with the name of the folder"
    )


def carry_out(folder: Path, *, submit: bool = True) -> Report:
    """Check, pack and submit the lab in `folder`. Raises CannotHandIn and files.CannotWrite.

    An incomplete lab is handed in too: whether it is good enough is for the student to say.
    """
    folder = folder.resolve()
    lab = lab_in(folder)
    notebooks = answers.notebooks_in(folder, lab)
    files = contents(folder, lab, notebooks)
    try:
        verdicts = handed_in.check(folder)
        misplaced = handed_in.misplaced(folder, lab)
    except handed_in.CannotCheck as error:
        raise CannotHandIn(f"{error}") from error
    further = {step.name for step in guide.of_lab(lab).steps if step.further}
    missing = [
        f"the figure {each.figure}{' (going further)' * (each.figure in further)}"
        for each in sorted(verdicts, key=lambda verdict: verdict.figure in further)
        if not each.handed_in
    ]
    if not notebooks:
        missing.append(f"the notebook {lab}.ipynb, with your answers")
    elif len(notebooks) == 1:
        answered = answers.empty(files[f"{lab}.ipynb"], lab)
        missing += [f"the answer in the cell {each}" for each in answered]
    else:
        names = " and ".join(each.name for each in notebooks)
        missing.append(
            f"your word on the notebook: {names} have different answers, and are all packed. Move "
            "those that do not count to another folder, and hand in again"
        )
    failed = [
        f"{each.figure}: {each.reason}"
        for each in verdicts
        if each.outcome != "passed" and each.handed_in
    ]
    points = sum(each.points for each in verdicts), sum(each.max_points for each in verdicts)
    said = [f"Points: {points[0]:g} of {points[1]:g}"]
    said += [f"{each.figure}: {each.outcome}. {each.reason}" for each in verdicts]
    made = write(folder, lab, files, "\n".join(said))
    submitted, trouble = _submitted(lab, folder) if submit else ("", "")
    found = tuple(missing), tuple(failed), misplaced
    other = notebooks[0].name if len(notebooks) == 1 and notebooks[0].stem != lab else ""
    return Report(made, points, *found, submitted, trouble, not submit, other)


def _submitted(lab: str, folder: Path) -> tuple[str, str]:
    """The course that the lab was submitted to, or why it was not."""
    try:
        courses = exchange.courses_with(lab)
    except exchange.NotSubmitted as error:
        return "", str(error)
    if len(courses) > 1:
        names = ", ".join(courses)
        how = f"run `nbgrader submit {lab} --course NAME`"
        return "", f"several courses have this lab ({names}); {how}"
    if not courses:
        return "", ""
    if folder.name != lab:
        return "", f"the folder must be called {lab}"
    try:
        exchange.submit(lab, folder.parent, courses[0])
    except exchange.NotSubmitted as error:
        return "", str(error)
    return courses[0], ""


# The one archive that a student hands in, and its receipt.
#
# nbgrader's `zip_collect`, Canvas and Moodle all take a zip file with the lab's folder in it.


def contents(folder: Path, lab: str, notebooks: Sequence[Path]) -> dict[str, bytes]:
    """The files to hand in, by path in the lab folder.

    These are the notebook, the figures, the predictions and answers, which nobody grades, and the
    recordings that the figures name, with their C. The only one of `notebooks` gets the name of the
    lab. Raises CannotHandIn.
    """
    found: dict[str, bytes] = {}
    try:
        figures.must_not_be_linked(folder)
        for each in notebooks:
            name = f"{lab}.ipynb" if len(notebooks) == 1 else each.name
            found[name] = read_bounded(each, limits.MOST_NOTEBOOK_BYTES)
        for name, most in _wanted(folder):
            path = folder / name
            if path.is_symlink() or path.exists():
                found[name] = read_bounded(path, most)
    except (OSError, BadFigures, figures.IsLinked) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CannotHandIn(f"{why}; repair it, then hand in again") from error
    if figures.FILE_NAME not in found:
        raise CannotHandIn(f"{folder} has no {figures.FILE_NAME}: no figure is stored yet")
    return found


def _wanted(folder: Path) -> Iterator[tuple[str, int]]:
    """Paths that are handed in if they exist, each with the most bytes that are read of it."""
    yield figures.FILE_NAME, limits.MOST_JSON_BYTES
    yield predictions.FILE_NAME, limits.MOST_JSON_BYTES
    yield answers.FILE_NAME, limits.MOST_JSON_BYTES
    for name in sorted(figures.evidence(folder)):
        yield name, limits.MOST_FILE_BYTES
        yield from ((str(each), limits.MOST_SOURCE_BYTES) for each in sources_beside(Path(name)))


def _free(folder: Path, stem: str) -> Path:
    """A path for an archive that does not exist yet."""
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := folder / f"{name}.zip").exists())


def write(folder: Path, lab: str, files: dict[str, bytes], checked: str) -> HandedIn:
    """Write the archive of `files` and its receipt beside the lab folder.

    `checked` is what the last check said, for the receipt. An earlier archive stays. Raises
    files.CannotWrite.
    """
    now = datetime.datetime.now(datetime.timezone.utc)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{lab}/{name}", content)
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    path = _free(folder.parent / HANDED_IN, f"{lab}-{now:%Y%m%dT%H%M%SZ}")
    receipt = path.with_name(f"{path.stem}-receipt.txt")
    lines = [
        f"Lab:      {lab}",
        f"Made:     {now.isoformat(timespec='seconds')}",
        f"Archive:  {path.name}, {packed.tell():,} bytes",
        f"SHA-256:  {digest}",
        "",
        "In it (SHA-256, bytes, file):",
        *(
            f"{hashlib.sha256(content).hexdigest()}  {len(content):>9,}  {name}"
            for name, content in files.items()
        ),
        "",
        "What the check said:",
        checked,
    ]
    write_atomically(path, packed.getvalue(), private=True)
    write_atomically(receipt, ("\n".join(lines) + "\n").encode(), private=True)
    return HandedIn(path, receipt, digest, tuple(files))
