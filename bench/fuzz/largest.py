"""Inputs as large as a reader takes, and larger: size itself as the mistake."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.fuzz.checks import WHERE, Wrong
from grader.cases.verdict import Outcome
from grader.figures import figures_of
from grader.judging import lab_folder
from labs.common.limits import MOST_JSON_BYTES
from labs.common.limits import MOST_RECORDING_BYTES as MOST_BYTES
from labs.common.limits import MOST_RECORDING_ROWS as MOST_ROWS
from labs.course import figures
from labs.course.figures import BadFigures
from labs.recording.file import BadRecording, parse

HEAD = (
    b"# ticklab recording: 1\n# kernel: timer_overhead\n# counter: tsc\n# cpu.asked: none\n"
    b"# counter.frequency_hz: 2.6e9\n# core_cycle_ticks: 0.7\n"
    b"# clock.fenced.frequency_hz: 2.6e9\n# clock.fenced.step: 1\n"
)
HEADER = b"variant,process,sample,batch,ticks\n"


def cases() -> Iterator[tuple[str, Callable[[], None]]]:
    """Name and check of each; a check raises what went wrong."""
    for name, content, good in _recordings():
        yield name, lambda content=content, good=good: _read(content, good)  # type: ignore[misc]
    for name, content in _figures():
        yield name, lambda content=content: _read_figures(content)  # type: ignore[misc]
    content = largest()
    yield "folder of largest recordings", lambda: _folder_of_largest(content)
    for name, lay in (("FIFO", os.mkfifo), ("folder", os.mkdir), ("link to itself", _loop)):
        yield f"{name} for a recording", lambda lay=lay: _folder_with(lay)  # type: ignore[misc]


def largest(rows: int = MOST_ROWS, processes: int = 10) -> bytes:
    """A recording of so many rows, all of them good."""
    head = HEAD + b"".join(b"# process.%d: {}\n" % number for number in range(processes))
    each = rows // processes
    lines = (
        b"fenced,%d,%d,%d,%d\n" % (i // each, i % each, (0, 64, 128, 256, 512)[i % 5], 40 + i % 9)
        for i in range(each * processes)
    )
    return head + HEADER + b"".join(lines)


def _recordings() -> Iterator[tuple[str, bytes, bool]]:
    row = b"fenced,0,1,64,100\n"
    one = HEAD + b"# process.0: {}\n"
    yield "most rows", largest(), True
    yield "a row too many", one + HEADER + row * (MOST_ROWS + 1), False
    yield "longest rows", one + HEADER + b"%b,0,1,1,%b\n" % (b"a" * 40, b"9" * 18) * 120_000, True
    yield "a bad last row", largest()[:-1] + b"x\n", False
    yield "most bytes of one line", one + HEADER + b"a" * (MOST_BYTES - len(one) - 99), False
    yield "a million columns", one + HEADER + b"1," * 1_000_000 + b"\n", False
    yield "a byte too many", one + HEADER + b"\n" * MOST_BYTES, False
    yield "nothing but lines", b"\n" * MOST_BYTES, False
    yield "nothing but zeros", b"\0" * MOST_BYTES, False
    yield "a million conditions", HEAD + b"".join(b"# a%d: b\n" % i for i in range(500_000)), False
    yield "a long condition", HEAD + b"# a: " + b"b" * 1_000_000 + b"\n" + HEADER + row, False
    yield "many processes", HEAD + b"".join(
        b"# process.%d: {}\n" % i for i in range(100_000)
    ) + HEADER, False  # fmt: skip
    yield "deep JSON", HEAD + b"# process.0: " + b"[" * 16_000 + b"\n" + HEADER, False
    yield "a long number", HEAD + b'# process.0: {"a": ' + b"9" * 16_000 + b"}\n" + HEADER, False
    names = b"".join(b"v%d,0,1,64,100\n" % i for i in range(200_000))
    yield "a variant a row", one + HEADER + names, False
    yield "almost rows", one + HEADER + row * 200_000 + b"fenced,0,1,64,1e5\n", False


def _figures() -> Iterator[tuple[str, bytes]]:
    most = MOST_JSON_BYTES
    yield "figures: deep", b"[" * most
    yield "figures: deep objects", b'{"a":' * (most // 5)
    yield "figures: a long number", b'{"a": ' + b"9" * (most - 7) + b"}"
    yield "figures: a long fraction", b'{"a": 0.' + b"9" * (most - 9) + b"}"
    yield "figures: a long name", b'{"' + b"a" * (most - 7) + b'": 1}'
    yield "figures: many", json.dumps({f"f{i}": 1 for i in range(20_000)}).encode()
    yield "figures: one name", b'{"a": 1' + b', "a": 1' * 25_000 + b"}"
    yield "figures: escapes", b'{"a": "' + b"\\u0000" * 40_000 + b'"}'
    yield "figures: a byte too many", b" " * (most + 1)


def _read(content: bytes, good: bool) -> None:
    try:
        parse(content, where=WHERE)
    except BadRecording as error:
        if good or WHERE not in str(error) or len(str(error)) > 500:
            raise Wrong(f"says {str(error)[:200]}") from error
        return
    if not good:
        raise Wrong("was read")


def _read_figures(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / figures.FILE_NAME).write_bytes(content)
        try:
            found = figures.read(Path(name))
        except BadFigures as error:
            if figures.FILE_NAME not in str(error) or len(str(error)) > 500:
                raise Wrong(f"says {str(error)[:200]}") from error
            return
        if any(len(each.id) > 64 for each in found.values()):
            raise Wrong("keeps a name of any length")


def _folder_of_largest(content: bytes) -> None:
    """Three recordings, each as large as it may be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _figures_naming(folder, 3)
        for number in range(3):
            (folder / f"recordings/run{number}.csv").write_bytes(content)
        for each in lab_folder.check_folder(folder, "01-timer-overhead"):
            if each.outcome is Outcome.NOT_GRADED:
                raise Wrong(each.reason)


def _folder_with(lay: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _figures_naming(folder, 1)
        lay(folder / "recordings/run0.csv")
        first = lab_folder.check_folder(folder, "01-timer-overhead")[0]
        if [finding.code for finding in first.findings] != ["recording-unreadable"]:
            raise Wrong(f"is reported as {first.findings}")


def _figures_naming(folder: Path, count: int) -> None:
    ids = [spec.id for spec in figures_of("01-timer-overhead")]
    entries = {
        figure: {"value": 15, "unit": "ns", "recording": f"recordings/run{number}.csv"}
        for number, figure in enumerate(ids[:count])
    }
    (folder / "recordings").mkdir()
    (folder / figures.FILE_NAME).write_text(json.dumps(entries))


def _loop(path: Path) -> None:
    path.symlink_to(path)
