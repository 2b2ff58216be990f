"""Why each figure has its points, as the autograded notebooks say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grader.submissions.folders import opened
from grader.submissions.safe_copy import read_regular
from grader.with_nbgrader.places import trouble_with, trusted_part
from labs.common.limits import MOST_JUDGEMENT_BYTES

#: More characters of one reason are left out.
_MOST_CHARACTERS = 2_000


def reasons_of(course: Any, lab: str, student: str) -> dict[str, str]:
    """The reason for each figure of one student, by figure; empty if none can be read.

    The notebook is one that our grading wrote. Its folder is opened without following a link, and
    a reason is text and no more, since it may quote what the student wrote.
    """
    step = course.autograded_directory
    if trouble_with(course, step, lab, student) is not None:
        return {}
    folder = Path(course.format_path(step, student, lab))
    try:
        with opened(folder, trusted_part(course, step)) as top:
            notebook = json.loads(read_regular(f"{lab}.ipynb", MOST_JUDGEMENT_BYTES, top))
        stated = [cell["metadata"].get("ticklab", {}) for cell in notebook["cells"]]
        return {
            str(each["figure"]): str(each["reason"])[:_MOST_CHARACTERS]
            for each in stated
            if "figure" in each and "reason" in each
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
