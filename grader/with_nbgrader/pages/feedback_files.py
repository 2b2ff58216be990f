"""The files of one student's feedback, made from the folder of the graded notebook.

Nothing here loads nbgrader: a process that makes pages starts in half the time without.
"""

from __future__ import annotations

import json
from pathlib import Path

from grader.submissions.safe_copy import read_regular
from grader.with_nbgrader.pages.feedback_page import feedback_page
from grader.with_nbgrader.pages.given import Grades
from grader.with_nbgrader.record import RECORD
from labs.common.limits import MOST_FOLDER_BYTES

#: What lies next to a page: when the work was handed in, and what the release of feedback needs.
KEPT = ("timestamp.txt", "submission_secret.txt", RECORD)
_MOST_KEPT_BYTES = 1_000_000


def page_of(path: Path, lab: str, grades: Grades, site: str = "") -> str:
    """The page for the graded notebook at `path`. Raises OSError and ValueError if it is none.

    `site` is the address of the docs, or empty.
    """
    raw = read_regular(path, MOST_FOLDER_BYTES)
    try:
        page = feedback_page(json.loads(raw), lab, grades, site)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no graded notebook: {error!r}") from error
    # JSON may hold halves of characters, which no file can.
    return page.encode("utf-8", "replace").decode("utf-8")


def keep_beside(source: Path, destination: Path) -> None:
    """Copies what lies next to a page; the evidence stays with the graded notebook.

    Raises OSError if `destination` cannot be written.
    """
    destination.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        try:
            content = read_regular(source / name, _MOST_KEPT_BYTES)
        except OSError:  # no such file, or none that a person may read; release says what it misses
            continue
        if len(content) <= _MOST_KEPT_BYTES:
            (destination / name).write_bytes(content)
