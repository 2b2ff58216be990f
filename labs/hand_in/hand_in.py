"""Hand in a lab: check everything once more, say what is missing, pack, submit where one can."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labs.course import answers, handed_in
from labs.course.figures import FILE_NAME
from labs.course.lab_names import folder_meant
from labs.hand_in import archive, exchange
from labs.hand_in.archive import CannotHandIn, HandedIn


@dataclass(frozen=True)
class Report:
    """What was handed in, and what the student should know about it.

    `points` are those of the check and the most there are. `missing` are figures that were not
    handed in and answers that are empty; `failed` are figures with their reason. `submitted` names
    the course whose exchange has the lab now; `trouble` says why one has not. `only_packed` if
    nobody has looked for an exchange.
    """

    made: HandedIn
    points: tuple[float, float]
    missing: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    submitted: str = ""
    trouble: str = ""
    only_packed: bool = False

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
            "submitted": self.submitted or None,
            "trouble": self.trouble or None,
        }

    def lines(self) -> list[str]:
        """The report, one line each."""
        got, most = self.points
        found = [f"archive: {self.made.archive} ({len(self.made.files)} files)"]
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
        return found


def lab_in(folder: Path) -> str:
    """The lab of the folder, by its name or its notebook. Raises CannotHandIn."""
    folder = folder.resolve()
    notebooks = [path.stem for path in folder.glob("*.ipynb")]
    if folder.name in notebooks or (folder / FILE_NAME).is_file():
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
    files = archive.contents(folder, lab)
    try:
        verdicts = handed_in.check(folder)
    except handed_in.CannotCheck as error:
        raise CannotHandIn(f"{error}") from error
    missing = [f"the figure {each.figure}" for each in verdicts if not each.handed_in]
    notebook = files.get(f"{lab}.ipynb")
    if notebook is None:
        missing.append(f"the notebook {lab}.ipynb, with your answers")
    else:
        missing += [f"the answer in the cell {each}" for each in answers.empty(notebook, lab)]
    failed = [
        f"{each.figure}: {each.reason}"
        for each in verdicts
        if each.outcome != "passed" and each.handed_in
    ]
    points = sum(each.points for each in verdicts), sum(each.max_points for each in verdicts)
    said = [f"Points: {points[0]:g} of {points[1]:g}"]
    said += [f"{each.figure}: {each.outcome}. {each.reason}" for each in verdicts]
    made = archive.write(folder, lab, files, "\n".join(said))
    submitted, trouble = _submitted(lab, folder) if submit else ("", "")
    found = tuple(missing), tuple(failed)
    return Report(made, points, *found, submitted, trouble, only_packed=not submit)


def _submitted(lab: str, folder: Path) -> tuple[str, str]:
    """The course that the lab was submitted to, or why it was not."""
    courses = exchange.courses_with(lab)
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
