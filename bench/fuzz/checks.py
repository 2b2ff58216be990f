"""What must hold of every reader for any input at all: what is wrong if it does not, in words."""

from __future__ import annotations

import json
import logging
import tempfile
import traceback
from pathlib import Path

from bench.fuzz.good_inputs import Submission
from bench.fuzz.guide import OURS
from grader.cases.verdict import Outcome
from grader.judging import lab_folder
from grader.judging.presentation import as_html, as_text
from labs.course import figures
from labs.course.figures import BadFigure, BadFigures
from labs.recording.file import BadRecording, parse

WHERE = "recordings/run.csv"
MOST_MESSAGE = 500


def place_of(error: BaseException) -> str:
    """The last line of our own code that an exception came through, and its caller."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(OURS)
    ]
    return " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames[:-3:-1])


class _Faults(logging.Handler):
    """The exceptions that the grader logged as faults of its own, each as its last place."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep where the exception of this record came from."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self.messages.append(f"{type(error).__name__} at {place_of(error)}: {str(error)[:200]}")


_FAULTS = _Faults()
_LOG = logging.getLogger("grader.judging.lab_folder")
_LOG.addHandler(_FAULTS)
_LOG.propagate = False


class Wrong(AssertionError):
    """A reader did what it must not, short of raising something unexpected."""


def recording(content: bytes) -> None:
    """`parse` gives a recording that survives being written, or names the place."""
    try:
        read = parse(content, where=WHERE)
    except BadRecording as error:
        if not str(error).startswith(WHERE) or not error.what.strip():
            raise Wrong(f"names no place: {error}") from error
        if len(str(error)) > MOST_MESSAGE:
            raise Wrong(f"says {len(str(error))} characters") from error
        return
    again = parse(read.as_bytes(), where=WHERE)
    if again.rows != read.rows or again.kernel.split() != read.kernel.split():
        raise Wrong("is another recording once it was written and read")


def figures_file(content: bytes) -> None:
    """`figures.read` gives figures and bad figures by id, or names the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / figures.FILE_NAME).write_bytes(content)
        try:
            found = figures.read(folder)
        except BadFigures as error:
            if figures.FILE_NAME not in str(error) or len(str(error)) > MOST_MESSAGE:
                raise Wrong(f"names no place: {str(error)[:200]}") from error
            return
    for each in found.values():
        text = each.what if isinstance(each, BadFigure) else each.unit
        if not text or len(text) > MOST_MESSAGE or len(each.id) > 64:
            raise Wrong(f"entry {each.id!r} has an unusable text: {text!r}")
        f"{each.id}{text}".encode()  # whatever is read can be written


def submission(submitted: Submission) -> None:
    """`check_folder` grades every figure, and what it says can be shown and written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        submitted.write(folder)
        _FAULTS.messages.clear()
        verdicts = lab_folder.check_folder(folder, submitted.lab)
    if _FAULTS.messages:
        raise Wrong("; ".join(_FAULTS.messages))
    for verdict in verdicts:
        if verdict.outcome is Outcome.NOT_GRADED:
            raise Wrong(f"{verdict.figure}: {verdict.reason}")
        if not 0 <= verdict.points <= verdict.max_points or not verdict.reason.strip():
            raise Wrong(f"{verdict.figure}: {verdict.points} points, reason {verdict.reason!r}")
        text = as_text(verdict) + as_html(verdict)
        (text + json.dumps(verdict.as_json(), ensure_ascii=False, allow_nan=False)).encode()
