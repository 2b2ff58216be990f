"""Read the rows of a recording, or of a C kernel's output: names and whole numbers.

Anybody may have written them, so every size is limited. An error names its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from labs.limits import MOST_BATCH_SIZES, MOST_PROCESS_CHANGES, MOST_RECORDING_ROWS, MOST_VARIANTS

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


# Find distinct numbers, without a sort if they are small.

#: Smaller numbers are counted in a table of this size, which is faster than sorting them.
TABLE_SIZE = 1 << 14


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values in ascending order; `values` has the shape (n,)."""
    if len(values) and values.min() >= 0 and values.max() < TABLE_SIZE:
        return np.flatnonzero(np.bincount(values))
    return np.unique(values)


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each of `values` among them.

    `values` has the shape (n,) and holds no number below 0.
    """
    found = distinct(values)
    if values.max(initial=0) >= TABLE_SIZE:
        return found, np.searchsorted(found, values)
    place = np.zeros(TABLE_SIZE, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[values]


# Read rows by operations on whole arrays, or refuse them; then `_why_refused` finds the bad row.
#
# Eight characters are read at once, as one number of 64 bits. They are checked, and then shifts and
# products make the digits one number (D. Lemire, "Quickly parsing eight digits", 2018). A pattern
# and numpy's own reader take more than twice as long.

_Words = NDArray[np.uint64]

_COMMA, _LINE_END, _MINUS = b",\n-"
_WORD = 8
#: Words may begin before the first field, and lie 40 characters, which a name may have, beyond the
#: begin of the last one.
_ROOM = b"\n" * (40 + _WORD)
#: For each number of characters of a field, from 0 to 8: the bits of a word that hold them, if the
#: word ends where the field ends, and if it begins where the field begins.
_ENDING = np.array([~(2 ** (64 - 8 * n) - 1) % 2**64 for n in range(9)], np.uint64)
_BEGINNING = np.array([2 ** (8 * n) - 1 for n in range(9)], np.uint64)
#: The same byte in all places of a word.
_ZEROS, _ABOVE_NINE, _HIGHEST = (np.uint64(byte * 0x0101010101010101) for byte in b"0\x76\x80")
_PAIRS = np.uint64(0x000000FF000000FF)
_MILLION_AND_100 = np.uint64(1_000_000 << 32 | 100)
_10000_AND_1 = np.uint64(10_000 << 32 | 1)
_8, _10, _16, _32 = map(np.uint64, (8, 10, 16, 32))


def rows_of(
    lines: bytes, name: re.Pattern[bytes], most: Sequence[int], names: dict[bytes, int]
) -> Integers | None:
    """The numbers of each row in `lines`, of shape (rows, 1 + columns); None if a row is unusual.

    Each line ends with a line end. `name` is the pattern of a name. `most` has the most digits of
    each number after the name; the third number from the end may have a sign. The first column
    holds the number of the name in `names`, to which new names are added in the order of the rows.
    If there is no result, some names may have been added too.
    """
    text = np.frombuffer(_ROOM + lines + _ROOM, np.uint8)
    inside = text[len(_ROOM) : -len(_ROOM)]
    is_line_end = inside == _LINE_END
    ends = np.flatnonzero((inside == _COMMA) | is_line_end) + len(_ROOM)
    columns, signed = 1 + len(most), len(most) - 2
    if len(ends) % columns:
        return None
    begin = np.concatenate(([len(_ROOM)], ends[:-1] + 1)).reshape(-1, columns)
    end = ends.reshape(-1, columns)
    if (text[end[:, -1]] != _LINE_END).any() or np.count_nonzero(is_line_end) != len(end):
        return None
    negative = text[begin[:, signed]] == _MINUS
    begin[:, signed] += negative
    length = end - begin
    if length.min(initial=1) < 1 or (length[:, 1:] > np.array(most)).any():
        return None
    words = np.ndarray((len(text) - _WORD + 1,), "<u8", text, strides=(1,))
    numbers = _numbers(words, end[:, 1:], length[:, 1:])
    named = _numbered(lines, words, begin[:, 0], length[:, 0], name, names)
    if numbers is None or named is None:
        return None
    table = np.column_stack((named, numbers))
    np.negative(table[:, signed], out=table[:, signed], where=negative)
    return table


def _numbers(words: _Words, end: Integers, length: Integers) -> Integers | None:
    """The numbers of so many digits that end before `end`; None if one has another character."""
    numbers = _in_words(words[end - _WORD], np.minimum(length, _WORD))
    long = length > _WORD
    if numbers is not None and long.any():  # it rarely is
        before = _numbers(words, end[long] - _WORD, length[long] - _WORD)
        if before is None:
            return None
        numbers[long] += before * 10**_WORD
    return numbers


def _in_words(word: _Words, length: Integers) -> Integers | None:
    """The number that the last characters of each word are; None if one is no digit."""
    digits = (word ^ _ZEROS) & _ENDING[length]
    if (((digits + _ABOVE_NINE) | digits) & _HIGHEST).any():
        return None
    digits = digits * _10 + (digits >> _8)
    digits = (digits & _PAIRS) * _MILLION_AND_100 + ((digits >> _16) & _PAIRS) * _10000_AND_1
    return (digits >> _32).astype(np.int64)


def _numbered(
    lines: bytes,
    words: _Words,
    begin: Integers,
    length: Integers,
    form: re.Pattern[bytes],
    names: dict[bytes, int],
) -> Integers | None:
    """The number of each row's name; None if a row has none, or if there are too many."""
    found = np.full(len(begin), -1, np.int64)
    known, left = list(names), np.arange(len(begin))
    while len(left):
        for name in known:
            same = length[left] == len(name)
            for place in range(0, len(name), _WORD):
                part = name[place : place + _WORD]
                word = words[begin[left] + place] & _BEGINNING[len(part)]
                same &= word == np.uint64(int.from_bytes(part, "little"))
            found[left[same]] = names[name]
            left = left[~same]
        if len(left):
            first = int(begin[left[0]]) - len(_ROOM)
            name = lines[first : first + int(length[left[0]])]
            if form.fullmatch(name) is None or len(names) >= MOST_VARIANTS:
                return None
            names[name], known = len(names), [name]
    return found
