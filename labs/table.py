"""A table as a reader meets it, on a page or in plain text."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text under a caption; the first column names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def without_empty(self) -> Table:
        """The same without the columns in which no row has anything."""
        kept = [n for n in range(len(self.header)) if any(row[n] for row in self.rows)]
        rows = tuple(tuple(row[n] for n in kept) for row in self.rows)
        return Table(self.caption, tuple(self.header[n] for n in kept), rows)

    def as_html(self) -> str:
        """A table with a caption, column headers and row headers; everything escaped."""
        cell = 'style="text-align:right;padding:.15em .7em"'
        head = "".join(f'<th scope="col" {cell}>{html.escape(name)}</th>' for name in self.header)
        body = "".join(
            f'<tr><th scope="row" {cell}>{html.escape(row[0])}</th>'
            + "".join(f"<td {cell}>{html.escape(text)}</td>" for text in row[1:])
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
        return "\n".join(
            [self.caption]
            + ["  ".join(text.rjust(width) for text, width in zip(row, widths)) for row in lines]  # noqa: B905
        )

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        return self.as_text()
