"""One lab as one self-contained HTML page, without scripts, fonts or images from other servers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbconvert.filters import strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from pygments.formatters import HtmlFormatter

from grader.pages.rerun import Rerun
from labs.common.html import filled, inline

Notebook = dict[str, Any]
Cell = dict[str, Any]

_HERE = Path(__file__).parent
_IMAGE = '<img alt="{{ said }}" src="data:image/png;base64,{{ image }}">'

_LINK_TO_LAB = re.compile(r'href="\.\./([\w-]+)/\1\.ipynb')
#: The pages come without the recordings of the runs that they show.
_LINK_TO_RECORDING = re.compile(r'<a href="recordings/[^"]*">(.*?)</a>')
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
    first, *rest = [_cell(cell, run) for cell in lab.notebook["cells"]]
    return _whole("lab", title=lab.title, first=first, rest=rest, before=before, after=after)


def index_page(labs: Sequence[Lab]) -> str:
    """The page that lists all labs."""
    return _whole("index", title="The labs", labs=labs)


def _whole(template: str, **values: object) -> str:
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    return filled(_HERE / f"{template}.html.jinja", style=style, light=_LIGHT, dark=_DARK, **values)


def _cell(cell: Cell, run: Rerun) -> str:
    source, marks = _source(cell), cell["metadata"].get("nbgrader", {})
    answered = bool(marks.get("solution"))
    if _is_text(cell):
        text = _markdown(source)
        return _framed("answer", "Your answer", text) if answered else text
    kind = "answer" if answered else "code"
    label = ""
    if answered:
        label = "Your answer"
    elif marks.get("grade"):
        points = marks["points"]
        label = f"Checked: {points:g} point{'s' if points != 1 else ''}"
    # What a decision leads to belongs to the text, and an explanation is opened by its reader. The
    # output of any other answer cell would reveal the answer.
    tags = set(cell["metadata"].get("tags", []))
    shown = not marks or bool(tags & {"decision", "answer"})
    outputs = "".join(map(_output, run.outputs.get(cell["id"], []))) if shown else ""
    folded = "Show one answer, and the explanation" if "answer" in tags else ""
    in_trouble = cell["id"] in run.troubles and shown
    return _framed(
        kind, label, _highlighted(source), outputs=outputs, in_trouble=in_trouble, folded=folded
    )


def _framed(kind: str, label: str, source: str, **more: object) -> str:
    values: dict[str, object] = {"outputs": "", "in_trouble": False, "folded": "", **more}
    return filled(_HERE / "cell.html.jinja", kind=kind, label=label, source=source, **values)


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
    magic = inline('<span class="nt">{{ line }}</span>', line=first)
    return code.replace("<pre>", f"<pre>{magic}\n", 1)


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _plain(str(output["text"])) if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        html = _LINK_TO_LAB.sub(r'href="\1.html', data["text/html"])
        html = _LINK_TO_RECORDING.sub(r"\1", html)
        return f"<div>{html}</div>"
    if "text/markdown" in data:
        return _markdown(data["text/markdown"])
    if "image/png" in data:
        said = (
            output.get("metadata", {}).get("image/png", {}).get("alt", data.get("text/plain", ""))
        )
        image = str(data["image/png"]).replace("\n", "")
        return inline(_IMAGE, said=said, image=image)
    return _plain(str(data["text/plain"])) if "text/plain" in data else ""


def _plain(text: str) -> str:
    said = str(strip_ansi(text)).rstrip("\n")  # type: ignore[no-untyped-call]
    return inline("<pre>{{ said }}</pre>", said=said)


def _is_text(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "markdown")


def _source(cell: Cell) -> str:
    return "".join(cell["source"])
