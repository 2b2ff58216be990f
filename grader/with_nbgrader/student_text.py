"""Turns Markdown into HTML for the formgrader and for feedback, with no script in it.

nbgrader shows a student's Markdown as it is, script and all, in the browser of an instructor who is
signed in. This filter takes the place of nbconvert's.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_TAGS = {
    *(
        "a",
        "abbr",
        "acronym",
        "b",
        "blockquote",
        "br",
        "code",
        "del",
        "div",
        "em",
        "hr",
        "i",
        "img",
    ),
    *(
        "i",
        "img",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "pre",
        "s",
        "span",
        "strong",
        "sub",
        "sup",
    ),
    *("dd", "dl", "dt", "li", "ol", "ul", "table", "tbody", "td", "th", "thead", "tr"),
}
_ATTRIBUTES = {
    "*": {"class", "id"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "acronym": {"title"},
    "img": {"alt", "src", "title"},
}
#: Where a tag begins that is none of these: `<stdio.h>` in a sentence is text, and stays there.
_OTHER_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(_TAGS))})[\s/>])", re.IGNORECASE)


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute; None for an image that does not lie beside the notebook.

    One from elsewhere would tell its owner who is grading, and when.
    """
    return None if (tag, name) == ("img", "src") and urlsplit(value).netloc else value


def _clean(page: str) -> str:
    """`page` without anything that could run, and with other tags as text."""
    return nh3.clean(
        _OTHER_TAG.sub("&lt;", page),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer",
    )


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The HTML of `source`, as nbconvert makes it; cleaned, unless it is a released cell.

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
    return _clean(page)
