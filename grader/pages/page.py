"""One lab as one self-contained HTML page, without scripts, fonts or images from other servers."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbconvert.filters import strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from pygments.formatters import HtmlFormatter

from grader.pages.rerun import Outputs, Rerun

Notebook = dict[str, Any]
Cell = dict[str, Any]

_LINK_TO_LAB = re.compile(r'href="\.\./([\w-]+)/\1\.ipynb')
_ANCHOR = re.compile(r'<a class="anchor-link"[^>]*>.*?</a>')
_MINUTES = re.compile(r"\*(\d+) minutes")

_LIGHT = HtmlFormatter(style="default").get_style_defs(".highlight")
_DARK = HtmlFormatter(style="github-dark").get_style_defs(".highlight")


@dataclass(frozen=True)
class Lab:
    """A released lab: its name, and its notebook as students receive it."""

    name: str
    notebook: Notebook

    @property
    def title(self) -> str:
        """The first heading, without Markdown marks."""
        found = re.search(r"^# (.+)$", self._first_text, re.MULTILINE)
        return re.sub(r"[*_`]", "", found[1]).strip() if found else self.name

    @property
    def minutes(self) -> str:
        """How long the lab takes, if its first cell says so."""
        found = _MINUTES.search(self._first_text)
        return f"{found[1]} minutes" if found else ""

    @property
    def number(self) -> int:
        """The number of the lab, with which its name begins."""
        found = re.match(r"\d+", self.name)
        return int(found[0]) if found else 0

    @property
    def page(self) -> str:
        """The file name of its page."""
        return f"{self.name}.html"

    @property
    def _first_text(self) -> str:
        texts = (_source(cell) for cell in self.notebook["cells"] if _is_text(cell))
        return next(texts, "")


def lab_page(lab: Lab, run: Rerun, before: Lab | None = None, after: Lab | None = None) -> str:
    """The page of `lab`, with the output of its cells in `run`, and links to its neighbours."""
    body = [
        '<p class="about">This page shows saved runs of one machine. To measure on your machine, '
        "open the lab in JupyterLab: <code>labs start</code>. The answers are yours to write.</p>"
    ]
    # The title comes first, and the remarks about the page follow below it.
    first, *rest = lab.notebook["cells"]
    body.insert(0, _cell(first, run))
    body += [_cell(cell, run) for cell in rest]
    ways = [("index.html", "All labs", "")]
    ways += [(before.page, f"Before: {before.title}", ' rel="prev"')] if before else []
    ways += [(after.page, f"Next: {after.title}", ' rel="next"')] if after else []
    links = "".join(
        f'<li><a href="{page}"{rel}>{html.escape(words)}</a></li>' for page, words, rel in ways
    )
    return _whole(lab.title, "\n".join(body), f'<nav aria-label="Labs"><ul>{links}</ul></nav>')


def index_page(labs: Sequence[Lab]) -> str:
    """The page that lists all labs."""
    items = "".join(
        f'<li value="{lab.number}"><a href="{lab.page}">{html.escape(lab.title)}</a>'
        f"{f' ({lab.minutes})' if lab.minutes else ''}</li>"
        for lab in labs
    )
    body = (
        "<h1>Ticklab: what does it cost, and how do you know?</h1>"
        "<p>Here you can read the labs. Their plots and results come from saved runs of one "
        "machine. To measure on your machine and to answer, open them in JupyterLab with "
        "<code>labs start</code>.</p>"
        f"<ol>{items}</ol>"
    )
    return _whole("The labs", body, "")


def _whole(title: str, body: str, nav: str) -> str:
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        # An empty icon, because a browser would otherwise request one.
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)} · Ticklab</title>\n<style>\n{style}\n{_LIGHT}\n"
        f"@media (prefers-color-scheme: dark) {{\n{_DARK}\n}}\n</style>\n</head>\n<body>\n"
        f"{_around('header', nav)}<main>\n{body}\n</main>\n{_around('footer', nav)}"
        "</body>\n</html>\n"
    )


def _around(tag: str, nav: str) -> str:
    return f"<{tag}>{nav}</{tag}>\n" if nav else ""


def _cell(cell: Cell, run: Rerun) -> str:
    source, marks = _source(cell), cell["metadata"].get("nbgrader", {})
    answered = bool(marks.get("solution"))
    if _is_text(cell):
        text = _markdown(source)
        return f'<div class="answer">{_label("Your answer")}{text}</div>' if answered else text
    kind = "answer" if answered else "code"
    if answered:
        label = _label("Your answer")
    elif marks.get("grade"):
        points = marks["points"]
        label = _label(f"Checked: {points:g} point{'s' if points != 1 else ''}")
    else:
        label = '<span class="unseen">Code:</span>'
    # The output of an answer cell would reveal the answer.
    shown = "" if marks else _outputs(run.outputs.get(cell["id"], []))
    if cell["id"] in run.troubles and not marks:
        shown = '<p class="output">Run this cell in JupyterLab to see its output.</p>'
    return f'<div class="{kind}">{label}{_highlighted(source)}</div>{shown}'


def _label(words: str) -> str:
    return f'<p class="label">{html.escape(words)}</p>'


def _markdown(source: str) -> str:
    """Markdown as HTML: headings keep their ids, and links to labs lead to their pages."""
    text = _ANCHOR.sub("", str(markdown2html_mistune(source)))
    text = _LINK_TO_LAB.sub(r'href="\1.html', text)
    return text.replace("<th>", '<th scope="col">')


def _highlighted(source: str) -> str:
    """Code with highlighting; a `%%ckernel` cell is highlighted as C."""
    first, _, rest = source.partition("\n")
    colours = Highlight2HTML()  # type: ignore[no-untyped-call]
    if not first.startswith("%%ckernel"):
        return str(colours(source, language="ipython3"))
    code = str(colours(rest, language="c"))
    magic = f'<span class="nt">{html.escape(first)}</span>\n'
    return code.replace("<pre>", f"<pre>{magic}", 1)


def _outputs(outputs: Outputs) -> str:
    shown = "".join(_output(output) for output in outputs)
    if not shown:
        return ""
    return f'<div class="output"><span class="unseen">Output:</span>{shown}</div>'


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _plain(str(output["text"])) if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    if "text/markdown" in data:
        return _markdown(data["text/markdown"])
    if "image/png" in data:
        said = (
            output.get("metadata", {}).get("image/png", {}).get("alt", data.get("text/plain", ""))
        )
        image = str(data["image/png"]).replace("\n", "")
        return f'<img alt="{html.escape(said)}" src="data:image/png;base64,{image}">'
    return _plain(str(data["text/plain"])) if "text/plain" in data else ""


def _plain(text: str) -> str:
    said = html.escape(str(strip_ansi(text)).rstrip("\n"))  # type: ignore[no-untyped-call]
    return f"<pre>{said}</pre>"


def _is_text(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "markdown")


def _source(cell: Cell) -> str:
    return "".join(cell["source"])
