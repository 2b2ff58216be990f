"""A table as a reader meets it, on a page or in plain text."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text under a caption; the first column names the row.

    Columns stand at the right, as numbers do; those whose index is in `left` at the left.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[int, ...] = ()

    def without_empty(self) -> Table:
        """The same without the columns in which no row has anything."""
        kept = [n for n in range(len(self.header)) if any(row[n] for row in self.rows)]
        rows = tuple(tuple(row[n] for n in kept) for row in self.rows)
        left = tuple(place for place, n in enumerate(kept) if n in self.left)
        return Table(self.caption, tuple(self.header[n] for n in kept), rows, left)

    def as_html(self) -> str:
        """A table with a caption, column headers and row headers; everything escaped."""
        cells = [
            f'style="text-align:{"left" if n in self.left else "right"};padding:.15em .7em"'
            for n in range(len(self.header))
        ]
        head = "".join(
            f'<th scope="col" {cell}>{html.escape(name)}</th>'
            for cell, name in zip(cells, self.header, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row" {cells[0]}>{html.escape(row[0])}</th>'
            + "".join(
                f"<td {cell}>{html.escape(text)}</td>"
                for cell, text in zip(cells[1:], row[1:], strict=False)
            )
            + "</tr>"
            for row in self.rows
        )
        return (
            '<div style="overflow-x:auto"><table style="border-collapse:collapse">'
            f'<caption style="text-align:left">{html.escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def as_text(self) -> str:
        """The same in plain text, in columns."""
        lines = [self.header, *self.rows]
        widths = [max(len(row[i]) for row in lines) for i in range(len(self.header))]
        told = [self.caption]
        for row in lines:
            cells = [
                text.ljust(widths[n]) if n in self.left else text.rjust(widths[n])
                for n, text in enumerate(row)
            ]
            told.append("  ".join(cells).rstrip())
        return "\n".join(told)

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        return self.as_text()
