"""Collects from nbgrader's exchange, as `nbgrader collect --update` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError

from grader.evening.collect.decide import Did, files_of_student
from grader.evening.collect.items import NotTaken
from grader.evening.collect.run import Line, Report
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.exchange.collect import NEW, NEWER, SAME, CarefulCollect
from grader.with_nbgrader.exchange.collected import Collected

_DID = {NEW: Did.NEW, NEWER: Did.NEWER, SAME: Did.SAME}


def collect(app: Any, lab: str, dry: bool) -> Report:
    """Collects `lab` from the exchange of the course.

    What is odd or refused is logged; the report counts it. Raises NotTaken, with a sentence, if
    nothing could be collected.
    """
    course = app.coursedir
    course.assignment_id = lab
    collector = CarefulCollect(coursedir=course, authenticator=app.authenticator, parent=app)
    collector.update, collector.dry = True, dry
    try:
        collector.start()
    except ExchangeError as error:
        if not collector.refused:
            raise NotTaken(str(error) or "the exchange cannot be read") from error
    place = printable(str(Path(collector.root) / course.course_id))
    report = Report(place, lab, "nbgrader's exchange", dry, refused=collector.refused)
    collected = Collected(course, lab)
    for student, did in sorted(collector.did.items()):
        when: str | None
        if dry:
            entry = collector.chosen[student]
            when, files, origin = entry.when.isoformat(), None, entry.name
        else:
            record = collected.record(student)
            when, files = record.get("when"), files_of_student(record.get("sha256", ()))
            origin = str(record.get("entry", ""))
        report.lines.append(Line(student, _DID[did], origin, when, None, files, 0, ()))
    return report
