"""Tables as files that spreadsheets open: CSV in, CSV out, and no cell that is a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from labs.common.files import read_bounded, remove_unfinished, write_atomically

#: A gradebook of 5,000 students and 100 columns has about 5 MB.
MOST_BYTES = 64 * 1024 * 1024
#: A spreadsheet computes a cell that begins so. (OWASP, "CSV Injection":
#: https://owasp.org/www-community/attacks/CSV_Injection; its ASVS, 1.2.10, asks for the quote.)
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20].")
#: Not text: a number with its sign.
_SIGNED = re.compile(r"\s*[+-]\d+([.,]\d+)?\s*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

Cell = str | float | int | None


class BadTable(Exception):
    """A file is no table as it was expected; the message says what is missing."""


def guarded(text: str) -> str:
    """`text` as a spreadsheet shows it and does not compute it; control characters are blanks."""
    plain = _CONTROL.sub(" ", text)
    computed = _FORMULA.match(plain) and not _SIGNED.fullmatch(plain)
    return f"'{plain}" if computed else plain


def as_csv(rows: Iterable[Sequence[Cell]]) -> bytes:
    """The rows as CSV (RFC 4180, UTF-8). Text is guarded; a number stays one."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_shown(cell) for cell in row])
    return out.getvalue().encode("utf-8")


def write_table(path: Path, rows: Iterable[Sequence[Cell]]) -> None:
    """Puts the rows at `path` as a whole, as CSV. Raises OSError, which says what to do."""
    remove_unfinished(path)
    write_atomically(path, as_csv(rows))


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    return guarded(cell) if isinstance(cell, str) else f"{cell:.10g}"


def read_table(path: Path) -> list[list[str]]:
    """The rows of a CSV file that another system wrote; commas or semicolons separate its cells.

    Raises BadTable if it is no text or too long, and OSError.
    """
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTable(f"{path} is not a CSV file in UTF-8: {error.reason}") from error
    first = text.partition("\n")[0]
    separator = ";" if first.count(";") > first.count(",") else ","
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row
        ]
    except csv.Error as error:
        raise BadTable(f"{path} is not a CSV file: {error}") from error
    if not rows:
        raise BadTable(f"{path} is empty")
    return rows
