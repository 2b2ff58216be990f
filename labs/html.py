"""HTML from templates, and warnings and tables for a reader as HTML or plain text.

The templates are the files `*.html.jinja` beside the modules that fill them. A template escapes
every value. What is HTML already passes the filter `safe` in the template, where a reader can see
it. The filter `unbroken` has no line end inside a figure, and `coded` has elements for backticks.
"""

from __future__ import annotations

import errno
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from labs.files import CannotWrite, write_atomically
from labs.terminal import lines_of, parts, safe, typeset, unbroken
from labs.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_HERE = Path(__file__).parent


def filled(template: Path, **values: object) -> str:
    """The HTML of a template file. A name that it uses and that has no value raises
    `jinja2.UndefinedError`."""
    return _environment(template.parent).get_template(template.name).render(values)


#: The type of a drawing in the output of a cell.
SVG = "image/svg+xml"


def image_address(svg: str) -> str:
    """The address of an image that holds the drawing `svg`. In an image, nothing of it can run."""
    return f"data:{SVG},{quote(svg, safe=_PLAIN)}"


#: What may stand in an address between double quotes as it is. A colon may, but would look like the
#: address of another page.
_PLAIN = " !$'()*+,-./;=?@_~"


def code_spans(text: str) -> list[tuple[str, bool]]:
    """The parts of a text, each with whether it is code, which stands between backticks."""
    found = text.split("`")
    if len(found) % 2 == 0:
        return [(text, False)]
    return [(part, number % 2 == 1) for number, part in enumerate(found) if part]


def inline(source: str, **values: object) -> str:
    """The same of a template of one line, given as text."""
    return _line(source).render(values)


@cache
def _line(source: str) -> Template:
    return _environment(_HERE).from_string(source)


@cache
def _environment(folder: Path) -> Environment:
    # Here: a command that shows no HTML starts faster without.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What nobody sees is shown. HTML, of another type, has been through here.
        finalize=lambda value: typeset(value) if type(value) is str else value,
    )
    made.filters["unbroken"] = unbroken
    made.filters["coded"] = coded
    return made


def coded(text: str) -> str:
    """The text as HTML in which code, between backticks, is an element; all text is escaped."""
    from markupsafe import Markup, escape

    shown = (
        inline("<code>{{ text }}</code>", text=part) if is_code else escape(typeset(part))
        for part, is_code in code_spans(text)
    )
    return Markup("").join(map(Markup, shown))


def own_words(text: str) -> str:
    """Words that a student wrote, as they are: what nobody sees is shown, and no unit changes."""
    from markupsafe import Markup, escape

    return Markup(escape(safe(text)))


_BOX = Path(__file__).with_name("warned.html.jinja")


def warnings_as_html(warnings: Sequence[str]) -> str:
    """The symptom of the first warning in one line, which unfolds; '' if there are no warnings."""
    if not warnings:
        return ""
    first, _, rest = warnings[0].partition("; ")
    rest = f"{rest[:1].upper()}{rest[1:]}"
    return filled(_BOX, first=first.rstrip("."), more=[rest, *warnings[1:]] if rest else [])


def warnings_as_lines(warnings: Sequence[str]) -> list[str]:
    """A line of plain text for each warning."""
    return [f"warning: {warning}" for warning in warnings]


#: Longer text is aligned left even if it begins with a number.
_LONG = 30
#: A cell of at most this many characters stays on one line: `60 %`, `1,000 ns`, `k = 512`.
_SHORT = 9
#: A longer command in a narrow column is broken, too.
_WIDEST_COMMAND = 20
_NUMBER = re.compile(r"[-+−±~<>≤≥]?\s*[\d.]")
#: In a narrow window, columns stand closer together, so that the table fits the page.
_CELL = "text-align:{side};padding:.15em clamp(.15em,1.2vw - 5px,.7em)"
_WHOLE = ";white-space:nowrap"
_TABLE = Path(__file__).with_name("table.html.jinja")


@dataclass(frozen=True)
class Table:
    """Rows of text under a caption; the first column names the row.

    Columns of numbers are aligned right, and columns of text are aligned left. A row that has only
    its name is a heading of those below it. `warnings` are those
    of the runs that the table shows; a cell that ends in the table shows them below it.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...] = ()

    def without_empty(self) -> Table:
        """The same table without the columns that are empty in every row."""
        filled = [n for n in range(len(self.header)) if any(row[n] for row in self.rows)]
        rows = tuple(tuple(row[n] for n in filled) for row in self.rows)
        return Table(self.caption, tuple(self.header[n] for n in filled), rows, self.warnings)

    def at_left(self, column: int) -> bool:
        """Whether a column holds text and not numbers."""
        cells = [row[column] for row in self.rows if row[column]]
        numbers = sum(bool(_NUMBER.match(text)) for text in cells)
        return column == 0 or 2 * numbers < len(cells) or max(map(len, cells), default=0) > _LONG

    def as_html(self) -> str:
        """A table with a caption, column headers and row headers; all text is escaped."""
        sides = ["left" if self.at_left(n) else "right" for n in range(len(self.header))]
        styles = [_CELL.format(side=side) for side in sides]
        header = [
            {"style": style, "text": text} for style, text in zip(styles, self.header, strict=True)
        ]
        rows = [
            [
                {"style": style + _WHOLE * (len(text) <= _SHORT), "text": text}
                for style, text in zip(styles, row if any(row[1:]) else row[:1], strict=False)
            ]
            for row in self.rows
        ]
        return filled(_TABLE, caption=self.caption, header=header, rows=rows)

    def as_text(self, width: int | None = None) -> str:
        """The same table in plain text, which fits `width` if one is given and texts allow it."""
        to_the_right = [n for n in range(len(self.header)) if not self.at_left(n)]
        lines = in_columns([self.header, *self.rows], to_the_right, width)
        return "\n".join([self.caption, *lines])

    def _repr_html_(self) -> str:
        return self.as_html() + warnings_as_html(self.warnings)

    def __repr__(self) -> str:
        return "\n".join([self.as_text(), *warnings_as_lines(self.warnings)])


def in_columns(
    lines: Sequence[Sequence[str]], to_the_right: Collection[int] = (), width: int | None = None
) -> list[str]:
    """Each line with its cells below those of the line before it.

    All lines have as many cells. Those of the columns `to_the_right` are aligned right. If the
    lines are longer than `width`, the texts of the widest columns are broken between words.
    """
    widths = _widths(lines, to_the_right, width)
    found = []
    for line in lines:
        cells = [lines_of(text, each, further=0) for text, each in zip(line, widths, strict=True)]
        for row in itertools.zip_longest(*cells, fillvalue=""):
            found.append(
                "  ".join(
                    text.rjust(each) if n in to_the_right else text.ljust(each)
                    for n, (text, each) in enumerate(zip(row, widths, strict=True))
                ).rstrip()
            )
    return found


def _widths(
    lines: Sequence[Sequence[str]], to_the_right: Collection[int], width: int | None
) -> list[int]:
    """How wide each column is: its longest text, or less where all columns exceed `width`."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if width is None:
        return widths
    least = [
        max(_least(text, n in to_the_right) for text in column) for n, column in enumerate(columns)
    ]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        broad = [n for n in range(len(widths)) if widths[n] > least[n]]
        if not broad:
            break
        widths[max(broad, key=lambda n: widths[n])] -= 1
    return widths


def _least(text: str, to_the_right: bool) -> int:
    """The least width of a cell with this text: a number stays whole, words may be broken."""
    if to_the_right and (len(text) <= _SHORT or _NUMBER.match(text)):
        return len(text)
    return max(len(part) for part in parts(text, _WIDEST_COMMAND))


# Pages in one file that load nothing: filled, and written.
#
# A page can be read on a phone, in the dark, and on paper.


_PAGE = Path(__file__).with_name("page.html.jinja")
_STYLE = Path(__file__).with_name("page.css")


@cache
def page_style() -> str:
    """The style sheet that all pages in one file share."""
    return _STYLE.read_text(encoding="utf-8")


def page(title: str, command: str, template: Path, **values: object) -> str:
    """A whole page with the `template` as its content. `command` made it, such as `labs survey`."""
    name = generator(command)
    return filled(
        _PAGE,
        title=title,
        generator=name,
        made_by=f"Made by {name}, version {__version__}.",
        style=page_style(),
        content=filled(template, title=title, **values),
    )


def generator(command: str) -> str:
    """What a page states as the program that made it."""
    return f"Ticklab: {command}"


# A page or a PDF is written in one piece, and never in place of a file that somebody else made.

#: Pages state the program in their head, and PDFs in their last line.
_HEAD, _TAIL = 2_000, 200


def write_page(path: Path, text: str, command: str) -> None:
    """Write a page that `command` made. Raises CannotWrite."""
    refuse_others(path, command)
    write_atomically(path, text.encode("utf-8"))


def refuse_others(path: Path, command: str) -> None:
    """Raise CannotWrite if something is at `path` that `command` did not make."""
    if not path.is_symlink() and not path.exists():
        return
    if not _is_own(path, command):
        what = f"{path} was not made by `{command}`, so it stays as it is"
        raise CannotWrite(errno.EEXIST, f"{what}; choose another name, or move that file")


def _is_own(path: Path, command: str) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(max(path.stat().st_size - _TAIL, 0))
            tail = file.read()
    except OSError:
        return False
    mark = generator(command).encode()
    if head.startswith(b"%PDF-"):
        return tail.endswith(b"% " + mark + b"\n")
    return b'<meta name="generator" content="' + mark + b'">' in head
