"""Turns Markdown into HTML without scripts, for the formgrader and for feedback.

nbgrader shows a student's Markdown unchanged, even with scripts, in the browser of an instructor
who is signed in. This filter replaces nbconvert's.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

#: The tags that an answer may hold, as alternatives of a regular expression.
_KNOWN_TAG = (
    "a|abbr|acronym|b|blockquote|br|code|dd|del|div|dl|dt|em|h1|h2|h3|h4|h5|h6|hr|i|img|li|ol|p|"
    "pre|s|span|strong|sub|sup|table|tbody|td|th|thead|tr|ul"
)
_ATTRIBUTES = {
    "*": {"class", "id"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "acronym": {"title"},
    "img": {"alt", "src", "title"},
}
#: The beginning of any other tag: `<stdio.h>` in a sentence is text and stays in the answer.
_OTHER_TAG = re.compile(rf"<(?!/?(?:{_KNOWN_TAG})[\s/>])", re.IGNORECASE)


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute; None for an image outside the folder of the notebook.

    An image from another server would let its owner know who is grading, and when.
    """
    return None if (tag, name) == ("img", "src") and urlsplit(value).netloc else value


def _clean(page: str) -> str:
    """`page` without anything that could run; unknown tags appear as text."""
    return nh3.clean(
        _OTHER_TAG.sub("&lt;", page),
        tags=set(_KNOWN_TAG.split("|")),
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer",
    )


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
    return _clean(page)
