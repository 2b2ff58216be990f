"""A table as a reader meets it, on a page or in plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from labs.common.html import filled

#: Text of more characters stands at the left even if it begins with a number.
_LONG = 30
#: A cell of at most so many characters is not broken into lines: `60 %`, `1,000 ns`, `k = 512`.
_SHORT = 9
_NUMBER = re.compile(r"[-+−±~<>≤≥]?\s*[\d.]")
#: Less room between columns in a narrow window, where a table is else wider than its page.
_CELL = "text-align:{side};padding:.15em clamp(.15em,1.2vw - 5px,.7em)"
_TABLE = Path(__file__).with_name("table.html.jinja")


@dataclass(frozen=True)
class Table:
    """Rows of text under a caption; the first column names the row.

    Columns of numbers stand at the right, names and words at the left.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def without_empty(self) -> Table:
        """The same without the columns in which no row has anything."""
        kept = [n for n in range(len(self.header)) if any(row[n] for row in self.rows)]
        rows = tuple(tuple(row[n] for n in kept) for row in self.rows)
        return Table(self.caption, tuple(self.header[n] for n in kept), rows)

    def at_left(self, column: int) -> bool:
        """Whether a column holds names or words."""
        cells = [row[column] for row in self.rows if row[column]]
        numbers = sum(bool(_NUMBER.match(text)) for text in cells)
        return column == 0 or 2 * numbers < len(cells) or max(map(len, cells), default=0) > _LONG

    def as_html(self) -> str:
        """A table with a caption, column headers and row headers; everything escaped."""
        styles = [
            _CELL.format(side="left" if self.at_left(n) else "right")
            for n in range(len(self.header))
        ]
        return filled(
            _TABLE,
            caption=self.caption,
            header=[
                {"style": style, "text": text}
                for style, text in zip(styles, self.header, strict=True)
            ],
            rows=[
                [
                    {"style": _of_cell(style, text), "text": text}
                    for style, text in zip(styles, row, strict=False)
                ]
                for row in self.rows
            ],
        )

    def as_text(self) -> str:
        """The same in plain text, in columns."""
        lines = [self.header, *self.rows]
        left = [self.at_left(n) for n in range(len(self.header))]
        widths = [max(len(row[i]) for row in lines) for i in range(len(self.header))]
        told = [self.caption]
        for row in lines:
            cells = [
                text.ljust(widths[n]) if left[n] else text.rjust(widths[n])
                for n, text in enumerate(row)
            ]
            told.append("  ".join(cells).rstrip())
        return "\n".join(told)

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        return self.as_text()


def _of_cell(style: str, text: str) -> str:
    """The style of a cell with this text."""
    return style + (";white-space:nowrap" if len(text) <= _SHORT else "")
