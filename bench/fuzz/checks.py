"""What must hold of the readers of figures and recordings for any input; if not, what is wrong."""

from __future__ import annotations

import json
import logging
import re
import tempfile
import traceback
import zlib
from pathlib import Path

from bench.fuzz.good_inputs import Submission, with_c_source
from grader.figures.verdict import Outcome, Verdict
from grader.judging import lab_folder
from grader.judging.presentation import as_html, as_text, evidence_html, plot_svg
from labs.c_kernels import toolchain
from labs.course import figures
from labs.course.figures import BadFigure, BadFigures
from labs.recording.file import BadRecording, parse
from labs.results import event_counts
from support.paths import REPOSITORY

WHERE = "recordings/run.csv"
MOST_MESSAGE = 500
#: Characters of counts of 64 variants, and of reasons for events that were not counted.
MOST_OF_COUNTS = 100_000
#: How the paths of our own code begin.
OURS = tuple(f"{REPOSITORY / each}/" for each in ("labs", "grader"))
_SOURCE = re.compile(rb"^# source\.sha256: .*$", re.MULTILINE)


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
        self.places: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep where the exception of this record came from."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self.places.append(f"{type(error).__name__} at {place_of(error)}: {str(error)[:200]}")


_FAULTS = _Faults()
_LOG = logging.getLogger("grader.judging.lab_folder")
_LOG.addHandler(_FAULTS)
_LOG.propagate = False


class Wrong(AssertionError):
    """A reader did something forbidden without raising an unexpected exception."""


def recording(content: bytes) -> bool:
    """Whether `parse` reads it: then it survives being written, else the error names the place."""
    try:
        read = parse(content, where=WHERE)
    except BadRecording as error:
        if not str(error).startswith(WHERE) or not error.what.strip():
            raise Wrong(f"names no place: {str(error)[:200]}") from error
        if len(str(error)) > MOST_MESSAGE:
            raise Wrong(f"says {len(str(error))} characters") from error
        return False
    again = parse(read.as_bytes(), where=WHERE)
    if again.rows != read.rows or again.kernel.split() != read.kernel.split():
        raise Wrong("is another recording once it was written and read")
    for variant in read.variants:
        json.dumps(event_counts.as_json(read, variant), allow_nan=False)
    if len("".join(event_counts.as_lines(read, read.variants))) > MOST_OF_COUNTS:
        raise Wrong("shows too much text of counts of events")
    return True


def figures_file(content: bytes) -> bool:
    """Whether `figures.read` gives figures and bad figures by id; else the error names the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / figures.FILE_NAME).write_bytes(content)
        try:
            found = figures.read(folder)
        except BadFigures as error:
            if figures.FILE_NAME not in str(error) or len(str(error)) > MOST_MESSAGE:
                raise Wrong(f"names no place: {str(error)[:200]}") from error
            return False
    for each in found.values():
        text = each.what if isinstance(each, BadFigure) else each.unit
        if not text or len(text) > MOST_MESSAGE or len(each.id) > 64:
            raise Wrong(f"entry {each.id!r} is not described well: {text!r}")
        f"{each.id}{text}".encode()  # whatever is read can be written
    return True


def submission(content: bytes) -> bool:
    """`check_folder` grades every figure, and its verdicts can be shown and written."""
    with tempfile.TemporaryDirectory() as name:
        _graded(Submission.from_bytes(content), Path(name))
    return True


def shown(content: bytes) -> bool:
    """As `submission`, and what an instructor sees of it: one plot, and the evidence."""
    with tempfile.TemporaryDirectory() as name:
        verdicts = _graded(Submission.from_bytes(content), Path(name))
        drawn = [each for each in verdicts if each.recording]
        if drawn:
            plot_svg(drawn[zlib.crc32(content) % len(drawn)], Path(name))
        evidence_html(verdicts, Path(name)).encode()
    return True


def c_source(content: bytes) -> bool:
    """C that a student measured; a number in the first line chooses the submission it is in."""
    line, _, source = content.partition(b"\n")
    number = re.fullmatch(rb"// (\d{1,4})", line)
    every = with_c_source()
    one = every[int(number[1]) % len(every) if number else 0]
    try:
        stated = toolchain.source_hash(source.decode()).encode()
    except UnicodeDecodeError:
        stated = b"0" * 64
    files = []
    for name, old in one.files:
        new = source if name.endswith(".c") else _SOURCE.sub(b"# source.sha256: " + stated, old)
        files.append((name, new))
    return submission(Submission(one.lab, tuple(files)).as_bytes())


def _graded(submitted: Submission, folder: Path) -> list[Verdict]:
    """The verdicts on `submitted`, written to `folder`; each has an outcome, points and words."""
    submitted.write(folder)
    _FAULTS.places.clear()
    verdicts = lab_folder.check_folder(folder, submitted.lab)
    if _FAULTS.places:
        raise Wrong("; ".join(_FAULTS.places))
    for verdict in verdicts:
        if verdict.outcome is Outcome.NOT_GRADED:
            raise Wrong(f"{verdict.figure}: {verdict.reason}")
        if not 0 <= verdict.points <= verdict.max_points or not verdict.reason.strip():
            raise Wrong(f"{verdict.figure}: {verdict.points} points, reason {verdict.reason!r}")
        text = as_text(verdict) + as_html(verdict)
        (text + json.dumps(verdict.as_json(), ensure_ascii=False, allow_nan=False)).encode()
    return verdicts
