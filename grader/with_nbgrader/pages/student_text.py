"""Turns Markdown into HTML that can do nothing, for the formgrader and for feedback.

nbgrader shows a student's Markdown unchanged, even with scripts, in the browser of an instructor
who is signed in. This filter replaces nbconvert's. It parses an answer and writes it anew from a
list of what is allowed. Nothing in the result is loaded from anywhere: the only pictures are those
in the notebook, and formulas, which we draw.
"""

from __future__ import annotations

import base64
import io
import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from labs.html import inline
from labs.limits import MOST_FORMULA, MOST_FORMULAS

#: The tags that an answer may hold, as alternatives of a regular expression.
_KNOWN_TAG = (
    "a|abbr|acronym|b|blockquote|br|code|dd|del|div|dl|dt|em|h1|h2|h3|h4|h5|h6|hr|i|img|li|ol|p|"
    "pre|s|span|strong|sub|sup|table|tbody|td|th|thead|tr|ul"
)
#: Only the colours of code have classes: any other class or id may be one that the page uses.
_ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "acronym": {"title"},
    "div": {"class"},
    "img": {"alt", "src", "title", "width", "height"},
    "span": {"class"},
}
_CODE_CLASS = re.compile(r"highlight|[a-z][a-z0-9]{0,2}")
#: The beginning of any other tag: `<stdio.h>` in a sentence is text and stays in the answer.
_OTHER_TAG = re.compile(rf"<(?!/?(?:{_KNOWN_TAG})[\s/>])", re.IGNORECASE)


class _Renderer(IPythonRenderer):
    """Writes the HTML of Markdown; `pictures` are the addresses of those that may be shown."""

    def __init__(self, attachments: dict[str, dict[str, str]], trusted: bool) -> None:
        super().__init__(
            escape=False,
            allow_harmful_protocols=trusted,
            attachments=attachments,
            exclude_anchor_links=not trusted,
        )
        self.trusted = trusted
        self.pictures: set[str] = set()
        self.formulas = 0

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture of the notebook; from any other place only a released cell shows one."""
        name = url.removeprefix("attachment:")
        png = self.attachments.get(name, {}).get("image/png") if name != url else None
        if png is None and self.trusted:
            return str(super().image(text, url, title))
        if png is None:
            return inline("<em>[picture left out: {{ of }}]</em>", of=text or url)
        address = f"data:image/png;base64,{png}"
        self.pictures.add(address)
        return inline('<img alt="{{ alt }}" src="{{ address }}">', alt=text, address=address)

    def _formula(self, tex: str) -> str:
        self.formulas += 1
        if self.formulas > MOST_FORMULAS:
            return inline("<code>{{ tex }}</code>", tex=tex)
        page, address = formula(tex)
        self.pictures.add(address)
        return page

    def inline_math(self, body: str) -> str:
        return self._formula(body)

    def block_math(self, body: str) -> str:
        return f"<p>{self._formula(body)}</p>"

    def latex_environment(self, name: str, body: str) -> str:
        return f"<p>{self._formula(body)}</p>"

    def task_list_item(self, text: str, checked: bool = False) -> str:
        """An item with a drawn box; a form's element could be taken for one of the page."""
        box = "\N{BALLOT BOX WITH CHECK}" if checked else "\N{BALLOT BOX}"
        return f"<li>{box} {text}</li>\n"

    def block_mermaidjs(self, code: str) -> str:
        """The source of a diagram: the program that draws it would be loaded from elsewhere."""
        return inline("<pre>{{ code }}</pre>", code=code)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The HTML of `source` as nbconvert makes it; we clean it unless the cell is a released one.

    Only answer cells hold a student's text. Released cells may use any HTML.
    """
    cell: Any = context.get("cell") or {}
    marks = (cell.get("metadata") or {}).get("nbgrader") or {}
    pictures = cell.get("attachments") or {}
    return (
        student_html(source, pictures) if marks.get("solution") else released_html(source, pictures)
    )


def student_html(source: str, pictures: dict[str, dict[str, str]]) -> str:
    """The HTML of a student's Markdown, in which nothing can run, load or cover."""
    renderer = _Renderer(pictures, trusted=False)
    return _clean(str(MarkdownWithMath(renderer=renderer).render(source)), renderer.pictures)


def released_html(source: str, pictures: dict[str, dict[str, str]]) -> str:
    """The HTML of the Markdown of a released cell."""
    renderer = _Renderer(pictures, trusted=True)
    return str(MarkdownWithMath(renderer=renderer).render(source))


def _clean(page: str, pictures: set[str]) -> str:
    """`page` without anything that could run, load or cover; unknown tags appear as text."""

    def allowed(tag: str, name: str, value: str) -> str | None:
        if (tag, name) == ("img", "src"):
            return value if value in pictures else None
        if name == "class":
            return value if _CODE_CLASS.fullmatch(value) else None
        if name == "href":
            address = urlsplit(value)
            return value if address.scheme in ("http", "https") and address.netloc else None
        return value

    return nh3.clean(
        _OTHER_TAG.sub("&lt;", page),
        tags=set(_KNOWN_TAG.split("|")),
        attributes=_ATTRIBUTES,
        attribute_filter=allowed,
        url_schemes={"http", "https", "data"},
        link_rel="noopener noreferrer",
    )


# Formulas of an answer as pictures: each is a box of its own size and can cover nothing.
#
# A page that typesets TeX in the browser lets a formula draw over the scores around it, and loads
# the program that typesets. matplotlib's mathtext knows the TeX of formulas and no commands that
# draw.

#: In points: matplotlib counts 72 to an inch, and so many are as high as the text of a page.
_SIZE, _DPI = 11, 72
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_FORMULA = (
    '<img alt="{{ alt }}" title="{{ alt }}" src="{{ picture }}"'
    ' width="{{ width }}" height="{{ height }}">'
)


def formula(tex: str) -> tuple[str, str]:
    """The HTML of a formula and the address of its picture; "" where it is shown as its source.

    It is shown as its source where it is too long or mathtext does not know one of its commands.
    """
    drawn = _drawn(tex.strip()) if len(tex) <= MOST_FORMULA else None
    if drawn is None:
        return inline("<code>{{ tex }}</code>", tex=tex), ""
    picture, width, height = drawn
    page = inline(_FORMULA, alt=tex.strip(), picture=picture, width=width, height=height)
    return page, picture


@lru_cache(maxsize=1_000)
def _drawn(tex: str) -> tuple[str, int, int] | None:
    """The address of the picture, and its width and height in pixels of a page."""
    # Here: it takes longer than the pages of a whole class without a formula.
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    text = "$" + tex.replace("$", r"\$").replace("\n", " ") + "$"
    font, file = FontProperties(size=_SIZE), io.BytesIO()
    try:
        width, height, depth, *_ = MathTextParser("path").parse(text, dpi=_DPI, prop=font)
        figure = Figure(figsize=(max(width, 1) / _DPI, max(height, 1) / _DPI))
        figure.text(0, depth / max(height, 1), text, fontproperties=font)
        with mpl.rc_context({"svg.hashsalt": "formula"}):
            figure.savefig(file, format="svg", transparent=True, metadata=_NO_METADATA)
    # The parser raises exceptions of many kinds, also for too deep nesting.
    except (ValueError, RecursionError, RuntimeError, ArithmeticError, LookupError):
        return None
    pixels = 96 / _DPI
    address = "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode("ascii")
    return address, round(max(width, 1) * pixels), round(max(height, 1) * pixels)
