"""Read the rows of a recording, or of a C kernel's output: names and whole numbers.

Anybody may have written them, so every size is limited. An error names its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labs.common.limits import (
    MOST_BATCH_SIZES,
    MOST_PROCESS_CHANGES,
    MOST_RECORDING_ROWS,
    MOST_VARIANTS,
)
from labs.recording.distinct import distinct
from labs.recording.row_numbers import rows_of

Integers = NDArray[np.int64]

_NAME = rb"[a-z0-9][a-z0-9_-]{0,39}"
#: The most digits of sample, batch and ticks, by number of columns: rows of a C kernel have 4, and
#: rows of a recording add the process. The number of a sample may be negative.
_MOST_DIGITS = {4: (8, 10, 18), 5: (4, 8, 10, 18)}
_PIECE = 256 * 1024


def _row_form(most: tuple[int, ...]) -> re.Pattern[bytes]:
    """The pattern of one row without its line end."""
    numbers = [rb"\d{1,%d}" % digits for digits in most]
    numbers[-3] = b"-?" + numbers[-3]
    return re.compile(b",".join([_NAME, *numbers]))


_ROW_FORMS = {columns: _row_form(most) for columns, most in _MOST_DIGITS.items()}
_NAME_FORM = re.compile(_NAME)


class BadRecording(ValueError):
    """A recording cannot be read; the message names the file, the line and what is wrong."""

    def __init__(self, what: str, *, where: str = "recording", line: int | None = None) -> None:
        place = f"{where}, line {line}" if line is not None else where
        super().__init__(f"{place}: {what}")
        self.what = what
        self.line = line


def read_table(
    body: bytes, first_row: int, where: str, columns: int = 5
) -> tuple[tuple[str, ...], Integers]:
    """The names of the variants and the numbers in the rows `body`.

    The first row is line `first_row` of `where`. The array has the shape (rows, columns), and its
    first column indexes the names. A C kernel prints four columns, because it does not know the
    number of its process. Raises BadRecording, naming the line.
    """
    if body and not body.endswith(b"\n"):
        body += b"\n"
    count = body.count(b"\n")
    if count > MOST_RECORDING_ROWS:
        raise BadRecording(f"has {count} rows; at most {MOST_RECORDING_ROWS} are read", where=where)
    if count == 0:
        return (), np.empty((0, columns), dtype=np.int64)
    most = _MOST_DIGITS[columns]
    names: dict[bytes, int] = {}
    parts = []
    for begin, end in _pieces(body):
        piece = body[begin:end]
        rows = rows_of(piece, _NAME_FORM, most, names) if len(piece) <= _PIECE else None
        if rows is None:
            line = first_row + body.count(b"\n", 0, begin)
            raise _why_refused(piece.split(b"\n")[:-1], columns, line, where)
        parts.append(rows)
    table = np.concatenate(parts)
    _check_batch_sizes(table[:, -2], first_row, where)
    if columns == 5:
        _check_order(table[:, 1], first_row, where)
    return tuple(name.decode() for name in names), table


def _why_refused(rows: list[bytes], columns: int, first_row: int, where: str) -> BadRecording:
    """What is wrong with `rows`, of which the first one is line `first_row` of `where`."""
    for line, row in enumerate(rows, first_row):
        if _ROW_FORMS[columns].fullmatch(row) is None:
            return BadRecording(
                f"{_shown(row)} {_what_is_wrong(row, columns)}", where=where, line=line
            )
    return BadRecording(f"has more than {MOST_VARIANTS} variants", where=where)


def _check_batch_sizes(batch: Integers, first_row: int, where: str) -> None:
    """Raise BadRecording if `batch`, of shape (rows,), holds too many different sizes."""
    sizes = len(distinct(batch))
    if sizes > MOST_BATCH_SIZES:
        _, first_places = np.unique(batch, return_index=True)
        raise BadRecording(
            f"has {sizes} different batch sizes; at most {MOST_BATCH_SIZES} are read",
            where=where,
            line=first_row + int(np.sort(first_places)[MOST_BATCH_SIZES]),
        )


def _check_order(process: Integers, first_row: int, where: str) -> None:
    """Raise BadRecording if the process number, of shape (rows,), changes too often."""
    changes = np.flatnonzero(np.diff(process)) + 1
    if len(changes) > MOST_PROCESS_CHANGES:
        raise BadRecording(
            f"the process number changes {len(changes)} times; at most {MOST_PROCESS_CHANGES} "
            "are read: the rows of one process must be together, in the order of measurement",
            where=where,
            line=first_row + int(changes[MOST_PROCESS_CHANGES]),
        )


def _pieces(body: bytes) -> Iterator[tuple[int, int]]:
    """Where pieces of whole lines begin and end. Parsing needs many times a piece's memory."""
    begin = 0
    while begin < len(body):
        end = body.rfind(b"\n", begin, begin + _PIECE) + 1
        if end == 0:  # one line longer than a piece
            end = body.index(b"\n", begin) + 1
        yield begin, end
        begin = end


def _what_is_wrong(row: bytes, columns: int) -> str:
    ticks = re.search(rb",(\d{19,20})$", row)
    if ticks is not None and int(ticks[1]) >= 2**63:  # a negative number as an unsigned 64-bit one
        return "is a sample of less than 0 ticks: is the second reading subtracted from the first?"
    return f"is not a row of a variant and {columns - 1} whole numbers"


def _shown(row: bytes) -> str:
    """The beginning of a bad row, for a message."""
    return repr(row[:60].decode("utf-8", "replace")) + (" ..." if len(row) > 60 else "")
