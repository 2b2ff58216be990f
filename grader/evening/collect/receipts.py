"""Receipts of what was collected: one text for each student, and one table of the class.

They say only what the records in the collected folders say. So a second run writes the same bytes,
and a receipt that was lost can be made again.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from grader.evening.collect.decide import Record, files_of_student, fingerprint
from grader.evening.collect.students import NotCollected
from grader.submissions.names import trouble_with_name
from grader.submissions.safe_copy import printable
from grader.with_nbgrader.exchange.collected import Collected
from grader.with_nbgrader.places import students_in
from labs.common.files import read_bounded, remove_unfinished, write_atomically
from labs.common.units import plural

FOLDER = "receipts"
_COLUMNS = (
    "student",
    "version",
    "handed in (UTC)",
    "late",
    "file",
    "SHA-256",
    "name in the source",
)
_MOST_BYTES = 64_000_000
#: A spreadsheet computes a cell that begins like this.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(course: Any, lab: str, not_collected: Iterable[NotCollected] = ()) -> Path:
    """Writes the receipts of all students of `lab`; returns the table of the class.

    A file that is as it must be is not written again. Raises files.CannotWrite, and BlockingIOError
    if a collect of this lab is running.
    """
    collected = Collected(course, lab)
    with collected.alone():
        return _write_all(course, lab, collected, not_collected)


def _write_all(
    course: Any, lab: str, collected: Collected, not_collected: Iterable[NotCollected]
) -> Path:
    folder = Path(course.root) / FOLDER
    table = folder / f"{lab}.csv"
    # What a run that was killed has left: `write_atomically` writes into such a file first.
    for unfinished in (folder / lab).glob(".*.txt.*"):
        unfinished.unlink()
    remove_unfinished(table)
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for student in sorted(students_in(course, course.submitted_directory, lab, "*")):
        record = collected.record(student)
        if trouble_with_name(student) or not _hashes(record):
            continue
        earlier = [each for each in collected.earlier_records(student) if _hashes(each)]
        _write(folder / lab / f"{student}.txt", receipt(lab, student, record, earlier))
        versions = [("counts", record)]
        versions += [(f"earlier {n}", each) for n, each in enumerate(earlier, 1)]
        for version, each in versions:
            for path, digest in sorted(_hashes(each).items()):
                name = _cell(each.get("entry"))
                late = _late(each)
                rows.writerow([student, version, _time(each), late, _cell(path), digest, name])
    for left in not_collected:
        rows.writerow(
            ["", "not collected", "", "", _cell(left.why.replace("\n", " ")), "", _cell(left.name)]
        )
    _write(table, text.getvalue())
    return table


def receipt(lab: str, student: str, record: Record, earlier: Iterable[Record] = ()) -> str:
    """The receipt of one student."""
    hashes = _hashes(record)
    lines = [
        f"Lab:        {lab}",
        f"Student:    {student}",
        f"Handed in:  {_time(record) or 'time not known'}{' (late)' if record.get('late') else ''}",
        f"Name:       {_text(record.get('entry'))}",
    ]
    if record.get("archive"):
        lines.append(f"Archive:    SHA-256 {_text(record['archive'])}")
    lines += [
        f"Files:      SHA-256 {fingerprint(hashes)} of the lines below",
        "",
        "SHA-256, file:",
        *(f"{digest}  {_text(path)}" for path, digest in sorted(hashes.items())),
    ]
    left_out = record.get("left_out")
    if isinstance(left_out, list) and left_out:
        lines += ["", "Left out:", *(_text(each) for each in left_out)]
    versions = [
        f"{_time(each) or 'time not known'}: {plural(files_of_student(_hashes(each)), 'file')}, "
        f"SHA-256 {fingerprint(_hashes(each))}"
        for each in earlier
    ]
    if versions:
        lines += ["", "Earlier submissions, kept and not graded:", *versions]
    return "\n".join(lines) + "\n"


def _hashes(record: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of the files by their paths; empty if the record has none."""
    found = record.get("sha256")
    if not isinstance(found, dict):
        return {}
    return {str(path): str(digest) for path, digest in found.items()}


def _time(record: Record) -> str:
    when = record.get("when")
    return "" if not isinstance(when, str) else _text(when.replace("T", " ")[:19])


def _late(record: Record) -> str:
    return {True: "late", False: "in time"}.get(record.get("late"), "")  # type: ignore[arg-type]


def _text(value: object) -> str:
    """A text that is one line: a student chose a part of it."""
    return printable(str(value or ""), 300)


def _cell(value: object) -> str:
    """A text that no spreadsheet takes for a formula."""
    text = _text(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _write(path: Path, text: str) -> None:
    content = text.encode("utf-8")
    with contextlib.suppress(OSError):
        if read_bounded(path, _MOST_BYTES) == content:
            return
    write_atomically(path, content)
