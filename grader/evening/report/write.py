"""Writes the report on a graded lab: the page, and the class's figures for its students."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.evening.report.data_set import class_figures
from grader.evening.report.graded_class import GradedClass, course_in, read_class
from grader.evening.report.page import page_of
from grader.evening.report.pseudonyms import pseudonyms_of
from labs.common.files import remove_unfinished, write_atomically
from labs.course import class_figures as class_file

PAGE = "report.html"


@dataclass(frozen=True)
class Written:
    """What was written; `data_set` is None if too few figures were accepted for one."""

    graded: GradedClass
    page: Path
    data_set: Path | None


def write_report(course: Path, lab: str, to: Path | None = None, *, names: bool = False) -> Written:
    """Reads the graded submissions of `lab` and writes their report into the folder `to`.

    By default that is `report/LAB` in the course folder. A page with `names` is for its owner only.
    Raises NoReport, BadPseudonyms and files.CannotWrite.
    """
    found = course_in(course)
    graded = read_class(found, lab)
    root = Path(found.root)
    folder = course / "report" / lab if to is None else to
    pseudonyms = None if names else pseudonyms_of(root, graded.students)
    rows = class_figures(graded)
    data_set = folder / class_file.FILE_NAME
    for path in (data_set, folder / PAGE):
        remove_unfinished(path)
    if rows:
        class_file.write(data_set, rows)
    else:
        data_set.unlink(missing_ok=True)  # one of an earlier report would be taken for today's
    page = page_of(graded, pseudonyms, data_set.name if rows else "")
    write_atomically(folder / PAGE, page.encode("utf-8"), private=names)
    return Written(graded, folder / PAGE, data_set if rows else None)
