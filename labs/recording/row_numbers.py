"""Reads rows of names and whole numbers by operations on whole arrays, or says that it cannot.

:mod:`labs.recording.rows` says what a row may be, and finds out what is wrong with a row that this
module refuses. Eight characters are read at once, as one number of 64 bits. They are checked, and
then shifts and products make the digits one number (D. Lemire, "Quickly parsing eight digits",
2018). A pattern and numpy's own reader take more than twice as long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labs.common.limits import MOST_VARIANTS

Integers = NDArray[np.int64]
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
