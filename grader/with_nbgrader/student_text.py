"""Turns Markdown into HTML without scripts, for the formgrader and for feedback.

nbgrader shows a student's Markdown unchanged, even with scripts, in the browser of an instructor
who is signed in. This filter replaces nbconvert's.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import bleach
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_TAGS = {
    *bleach.ALLOWED_TAGS,
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "div", "span", "del", "s", "img"),
    *("table", "thead", "tbody", "tr", "th", "td", "sub", "sup", "dl", "dt", "dd"),
}


def _image_attribute(tag: str, name: str, value: str) -> bool:
    """Allows only images in the folder of the notebook.

    An image from another server would let its owner know who is grading, and when.
    """
    return name in {"alt", "title"} or (name == "src" and not urlsplit(value).netloc)


_ATTRIBUTES = {"*": ["class", "id"], "a": ["href", "title"], "img": _image_attribute}


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The HTML of `source` as nbconvert makes it; we clean it unless the cell is a released one.

    Only answer cells hold a student's text. Released cells may use any HTML.
    """
    cell: Any = context.get("cell") or {}
    resources: Any = context.get("resources") or {}
    marks = (cell.get("metadata") or {}).get("nbgrader") or {}
    renderer = IPythonRenderer(
        escape=False,
        allow_harmful_protocols=not marks.get("solution"),
        attachments=cell.get("attachments", {}),
        path=(resources.get("metadata") or {}).get("path", ""),
    )
    page = str(MarkdownWithMath(renderer=renderer).render(source))
    if not marks.get("solution"):
        return page
    return str(bleach.clean(page, tags=_TAGS, attributes=_ATTRIBUTES, protocols={"http", "https"}))
