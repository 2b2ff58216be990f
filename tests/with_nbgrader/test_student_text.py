"""A student's Markdown as an instructor's browser gets it: readable, and with nothing that runs."""

from __future__ import annotations

import re

import pytest
from jinja2 import Environment
from nbformat import NotebookNode

from grader.with_nbgrader.student_text import markdown2html

ANSWER = NotebookNode(metadata={"nbgrader": {"solution": True}}, attachments={})  # type: ignore[no-untyped-call]
RELEASED = NotebookNode(metadata={"nbgrader": {"solution": False}}, attachments={})  # type: ignore[no-untyped-call]


def page(source: str, cell: NotebookNode = ANSWER) -> str:
    context = Environment().from_string("").new_context({"cell": cell, "resources": {}})
    return markdown2html(context, source)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<SCRIPT src=//x.example/x.js></SCRIPT>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href='java&#115;cript:alert(1)'>x</a>",
        "<svg/onload=alert(1)>",
        "<p onclick=alert(1)>x</p>",
        "<p style='position:fixed'>x</p>",
        "<iframe src=//x.example></iframe>",
        "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
        "<b><script>alert(1)</script></b>",
        "<p\n/><script>alert(1)</script>",
        "<table><script>alert(1)</script></table>",
        "[x](javascript:alert(1))",
        "![x](data:text/html,alert(1))",
        "<!--><script>alert(1)</script>-->",
    ],
)
def test_nothing_runs(text: str) -> None:
    made = page(text)
    # What is in quotes or has lost its bracket is text.
    tags = re.findall(r"<[a-zA-Z/!][^>]*>", made)
    assert not [
        tag for tag in tags if re.search(r"<(script|svg|iframe|math|!)", tag, re.IGNORECASE)
    ]
    assert not [tag for tag in tags if re.search(r"\son\w+\s*=|style=", tag, re.IGNORECASE)], made
    assert not re.search(r"(href|src)=\"?\s*(javascript|data|vbscript)", made, re.IGNORECASE), made


def test_an_image_from_elsewhere_is_not_fetched() -> None:
    assert "spy.example" not in page("![x](//spy.example/x.png) <img src='//spy.example/y.png'>")
    assert 'src="plot.png"' in page("![x](plot.png)")


def test_what_a_student_writes_about_c_stays_there() -> None:
    assert "&lt;stdio.h&gt;" in page("I include <stdio.h> and compare a <b.")
    assert "&lt;threads.h&gt;" in page("`#include <threads.h>`")
    assert "<strong>2</strong>" in page("**2** ns")
    assert "<table>" in page("| a | b |\n|---|---|\n| 1 | 2 |")


def test_a_released_cell_may_hold_any_html() -> None:
    assert "<details>" in page("<details>more</details>", RELEASED)


def test_many_brackets_take_no_time() -> None:
    assert len(page("<" * 40_000)) >= 40_000
