"""What a fuzzer starts from: the submissions under tests/fixtures, made small."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from grader.judging import lab_folder
from labs.course.figures import FILE_NAME, RECORDINGS
from testing.paths import FIXTURES

#: Rows of a recording that are kept: enough for a line through five batch sizes.
MOST_ROWS = 240

_HEADER = b"variant,process,sample,batch,ticks\n"
_OF_ALL_ROWS = re.compile(rb"^# samples\.(?:count|sha256): .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Submission:
    """A lab folder as bytes: its files by name, relative to the folder."""

    lab: str
    files: tuple[tuple[str, bytes], ...]

    def write(self, folder: Path) -> None:
        """Lay the files into `folder`, which is there and empty."""
        (folder / RECORDINGS).mkdir()
        for name, content in self.files:
            (folder / name).write_bytes(content)


@functools.lru_cache(maxsize=1)
def submissions() -> tuple[Submission, ...]:
    """Every fixture that is a lab folder, with recordings of few rows."""
    found = []
    for figures in sorted(FIXTURES.rglob(FILE_NAME)):
        folder = figures.parent
        files = [(FILE_NAME, figures.read_bytes())]
        for path in sorted((folder / RECORDINGS).glob("*")):
            if path.suffix in (".csv", ".c"):
                content = path.read_bytes()
                content = shortened(content) if path.suffix == ".csv" else content
                files.append((f"{RECORDINGS}/{path.name}", content))
        found.append(Submission(lab_folder.lab_of(folder), tuple(files)))
    return tuple(found)


def recordings() -> tuple[bytes, ...]:
    """Every recording of the submissions once, with a few rows."""
    contents = (content for each in submissions() for name, content in each.files if ".csv" in name)
    return tuple(dict.fromkeys(shortened(content, 20) for content in contents))


def figure_files() -> tuple[bytes, ...]:
    """Every figures.json of the submissions once."""
    contents = (content for each in submissions() for name, content in each.files)
    return tuple(dict.fromkeys(content for content in contents if content.startswith(b"{")))


def shortened(recording: bytes, most: int = MOST_ROWS) -> bytes:
    """The recording with some rows of every process, and no word of how many there were."""
    head, header, body = recording.partition(_HEADER)
    rows = body.splitlines(keepends=True)
    by_process: dict[bytes, list[bytes]] = {}
    for row in rows:
        cells = row.split(b",")
        by_process.setdefault(cells[1] if len(cells) > 1 else b"", []).append(row)
    each = max(most // max(len(by_process), 1), 1)
    kept = [row for of_process in by_process.values() for row in of_process[:each]]
    return _OF_ALL_ROWS.sub(b"", head) + header + b"".join(kept)
