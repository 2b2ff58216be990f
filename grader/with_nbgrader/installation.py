"""Puts our conversions where nbgrader's command line and formgrader look up its own.

nbgrader has no setting for these classes. Courses without our settings are converted as before.
"""

from __future__ import annotations

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.apps.generatefeedbackapp
from nbgrader.converters import Autograde, GenerateFeedback

from grader.with_nbgrader import careful_course
from grader.with_nbgrader.autograde import CourseAutograde
from grader.with_nbgrader.feedback import CourseFeedback

_PLACES = (
    (nbgrader.apps.autogradeapp, "Autograde", Autograde, CourseAutograde),
    (nbgrader.apps.api, "Autograde", Autograde, CourseAutograde),
    (nbgrader.apps.generatefeedbackapp, "GenerateFeedback", GenerateFeedback, CourseFeedback),
    (nbgrader.apps.api, "GenerateFeedback", GenerateFeedback, CourseFeedback),
)


def install() -> None:
    """Replaces them; a second call changes nothing.

    Raises RuntimeError if this nbgrader looks them up in other places than nbgrader 0.9.
    """
    for module, name, theirs, ours in _PLACES:
        if not issubclass(getattr(module, name, type), theirs):
            raise RuntimeError(f"{module.__name__} has no {name}: nbgrader 0.9 is needed")
        setattr(module, name, ours)
    careful_course.install()
