"""A student's Markdown as an instructor's browser gets it: readable, and with nothing that runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from jinja2 import Environment
from nbformat import NotebookNode

from grader.with_nbgrader.pages.student_text import markdown2html
from labs.limits import MOST_ANSWER
from support.hostile.in_answers import ANSWERS, HONEST_ANSWER

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


class Tags(HTMLParser):
    """The tags of a page with their attributes, as a browser reads them."""

    def __init__(self, made: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(made)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def faults(made: str) -> list[str]:
    """Each attribute of a page that loads, runs, moves something, or leads to no web page."""
    allowed = {
        "href": r"https?://.+", "src": r"data:image/(png|svg\+xml);base64,.*", "rel": ".*",
        "class": r"highlight|[a-z][a-z0-9]{0,2}", "width": r"\d+", "height": r"\d+",
        "alt": r"(?s).*", "title": r"(?s).*",
    }  # fmt: skip
    return [
        f"{tag} {name}={value}"
        for tag, attributes in Tags(made).found
        for name, value in attributes.items()
        if name not in allowed or not re.fullmatch(allowed[name], value or "")
    ]


@pytest.mark.parametrize("kind", ANSWERS)
def test_no_hostile_answer_has_more_than_text_and_pictures_of_the_notebook(kind: str) -> None:
    """In Chromium, with all else that a page has: `python -m bench hostile_class`."""
    made = page(ANSWERS[kind])
    assert made.strip() and faults(made) == []
    tags = {tag for tag, _ in Tags(made).found}
    assert not tags & {"script", "style", "link", "meta", "base", "iframe", "form", "input", "svg"}


def test_an_honest_answer_keeps_its_form() -> None:
    made = page(HONEST_ANSWER)
    assert faults(made) == []
    assert {"table", "strong", "img", "a"} <= {tag for tag, _ in Tags(made).found}
    assert faults(f"{made}<p style='position:fixed'>") == ["p style=position:fixed"]


def test_a_picture_that_is_not_in_the_notebook_is_left_out() -> None:
    for address in (
        "//spy.example/x.png",
        "http:///spy.example/x.png",
        "https:spy.example/x.png",
        "\\\\spy.example/x.png",
        "plot.png",
        "data:image/png;base64,AAAA",
        "attachment:gone.png",
    ):
        made = page(f"![the plot]({address}) <img src='{address}'> <img src={address}>")
        assert "src=" not in made.replace("&lt;img src=", ""), address
        assert "[picture left out: the plot]" in made, address


def test_a_pasted_picture_is_shown() -> None:
    cell = NotebookNode(**ANSWER)  # type: ignore[no-untyped-call]
    cell["attachments"] = {"image.png": {"image/png": "AAAA"}}
    assert '<img alt="the plot" src="data:image/png;base64,AAAA">' in page(
        "![the plot](attachment:image.png)", cell
    )


def test_a_link_leads_to_a_web_page_or_nowhere() -> None:
    assert 'href="https://example.org/a"' in page("[a](https://example.org/a)")
    for address in ("//spy.example/x", "http:///spy.example/x", "https:spy.example", "x.html"):
        assert "href" not in page(f"[a]({address})"), address


def test_no_class_or_id_of_the_page_is_taken() -> None:
    made = page("<div class='navbar-fixed-top' id='score'>x</div>\n\n```c\nint x;\n```")
    assert "navbar" not in made.replace("&lt;div class='navbar", "")
    assert 'class="highlight"' in made and 'class="kt"' in made


def test_a_formula_is_a_picture_of_its_own_size() -> None:
    made = page(r"$\frac{T(k)}{k}$ and $$x^2$$")
    assert made.count('src="data:image/svg+xml;base64,') == 2
    assert 'alt="\\frac{T(k)}{k}"' in made
    assert page("$x$", RELEASED).count("data:image/svg") == 1


def test_a_formula_that_cannot_be_drawn_is_shown_as_its_source() -> None:
    for tex in (
        r"\smash{\rlap{\rule{900em}{900em}}}",
        r"\href{https://spy.example}{x}",
        r"\begin{cases}1\end{cases}",
        "x^" * 90,
        "{" * 90 + "x" + "}" * 90,
        "x" * 201,
    ):
        made = page(f"${tex}$")
        assert "<img" not in made, tex
        assert "<code>" in made, tex


def test_what_a_student_writes_about_c_stays_there() -> None:
    assert "&lt;stdio.h&gt;" in page("I include <stdio.h> and compare a <b.")
    assert "&lt;threads.h&gt;" in page("`#include <threads.h>`")
    assert "<strong>2</strong>" in page("**2** ns")
    assert "<table>" in page("| a | b |\n|---|---|\n| 1 | 2 |")


def test_a_released_cell_may_hold_any_html() -> None:
    assert "<details>" in page("<details>more</details>", RELEASED)


@pytest.mark.slow
def test_an_answer_of_one_part_over_and_over_is_shown() -> None:
    for part in ("<", "[", "*a ", "# \n", "\\\\(", "$x$ ", "> ", "|a|\n"):
        assert len(page(part * (MOST_ANSWER // len(part)))) > 1_000
