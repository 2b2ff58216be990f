"""The pages that show a student's work load nothing, run nothing of theirs, and hide no score."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.server_extensions.formgrader.handlers as handlers
import pytest
from nbconvert.exporters import HTMLExporter
from PIL import Image
from traitlets.config import Config

from bench.exchange.recorded_browser import HEIGHT, WIDTH
from bench.exchange.score_in_sight import Picture, alike, looked_at
from bench.labs import jupyterlab
from grader.submissions.submitted_notebook import read_submitted, rebuild
from grader.with_nbgrader.pages.feedback_page import Given, Grades, feedback_page
from grader.with_nbgrader.pages.formgrader import StudentPages
from grader.with_nbgrader.settings import configure
from support.paths import REPOSITORY

LAB = "01-timer-overhead"
KINDS = ("feedback", "formgrade")
#: Addresses that a browser takes for another server, TeX and HTML that would cover the page.
HOSTILE = r"""
![x](http:///spy.example/a.png) ![x](https:spy.example/b.png) ![x](\\\\spy.example/c.png)
<img src=//spy.example/d.png> <link rel=stylesheet href=//spy.example/e.css>
<style>@import url(//spy.example/f.css)</style> <script src=//spy.example/g.js></script>
$\smash{\rlap{\rule[-500em]{900em}{900em}}}$ \\(\color{black}\rule{900em}{900em}\\)
<div class="navbar-fixed-top modal-backdrop" style="position:fixed;inset:0;background:#000">X</div>

| wide | table |
|---|---|
| %s | x |

$$x$$
""" % ("W" * 3_000)


def released() -> Any:
    """The notebook of lab 01 that students get."""
    path = REPOSITORY / f"build/released/{LAB}/{LAB}.ipynb"
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def answers(notebook: Any) -> list[Any]:
    """The cells in which a student answers in words."""
    marks = ((cell, cell.metadata.get("nbgrader", {})) for cell in notebook.cells)
    return [cell for cell, of in marks if cell.cell_type == "markdown" and of.get("solution")]


def page(kind: str, answer: str, exporter: type[HTMLExporter] = StudentPages) -> str:
    """The page of this kind on which every answer in words is `answer`."""
    notebook = released()
    for cell in answers(notebook):
        cell.source = answer
    return page_of(kind, notebook, exporter)


def page_of(kind: str, notebook: Any, exporter: type[HTMLExporter] = StudentPages) -> str:
    """The page of this kind that shows this notebook; each cell has one point."""
    if kind == "feedback" and exporter is StudentPages:
        marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
        scores = {
            each["grade_id"]: Given(1.0, each["points"], False)
            for each in marks
            if each.get("grade")
        }
        return feedback_page(notebook, LAB, Grades(18.0, 0.0, scores))
    return _by_template(kind, notebook, exporter)


def _by_template(template: str, notebook: Any, exporter: type[HTMLExporter]) -> str:
    """The page that nbconvert makes from a template of nbgrader."""
    settings = Config()
    configure(settings)
    settings.HTMLExporter.template_name = template
    settings.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    styles = Path(handlers.static_path) / "node_modules/bootstrap/dist/css"
    settings.HTMLExporter.extra_template_paths = [str(styles)]
    for cell in notebook.cells:
        if marks := cell.metadata.get("nbgrader"):
            marks.update(score=1.0, comment="", points=marks.get("points", 0))
    resources = {
        "nbgrader": {"notebook": LAB, "score": 1.0, "max_score": 18.0, "late_penalty": 0.0},
        **dict.fromkeys(("base_url", "notebook_id", "submission_id", "assignment_id"), ""),
        "index": 0,
        "total": 1,
    }
    text, _ = exporter(config=settings).from_notebook_node(notebook, resources)
    return str(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_loads_nothing_from_elsewhere(kind: str) -> None:
    made = page(kind, "**mine** $x$")
    assert "<strong>mine</strong>" in made
    loaded = re.findall(r"(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)", made)
    assert loaded == []
    (meta,) = re.findall(r'<meta [^>]*http-equiv="Content-Security-Policy"[^>]*>', made)
    (policy,) = re.findall(r'content="([^"]+)"', meta)
    assert "default-src" in policy and "http" not in policy and "*" not in policy


def test_stock_nbgrader_loads_a_program_from_elsewhere() -> None:
    """What this package replaces: when it no longer does, ours can go."""
    assert "cdnjs" in page("feedback", "mine", HTMLExporter)


def test_an_attached_picture_is_kept_when_the_notebook_is_rebuilt(tmp_path: Path) -> None:
    """A reference without its picture ended feedback, and the formgrader answered 500."""
    notebook = released()
    (cell,) = answers(notebook)
    cell.source = "My plot: ![plot](attachment:image.png), gone: ![lost](attachment:lost.png)"
    file = io.BytesIO()
    Image.new("RGB", (30, 20), (200, 30, 30)).save(file, format="PNG")
    png = base64.b64encode(file.getvalue()).decode()
    cell["attachments"] = {"image.png": {"image/png": png}}
    nbformat.write(notebook, tmp_path / "lab.ipynb")  # type: ignore[no-untyped-call]
    rebuilt = rebuild(released(), read_submitted(tmp_path / "lab.ipynb"))
    assert rebuilt.set_aside == ()
    for kind in KINDS:
        made = page_of(kind, rebuilt.notebook)
        assert re.search(r'alt="plot" src="data:image/png;base64,', made)
        assert "[picture left out: lost]" in made


#: What a student's text could do, were it not cleaned.
COVER = "<div style='position:fixed;inset:0;background:#000;z-index:9999%s'></div></body>"


@pytest.mark.skipif(jupyterlab.CHROMIUM is None, reason="chromium is not installed")
def test_in_a_browser_nothing_is_loaded_and_every_score_is_seen(tmp_path: Path) -> None:
    """One page of feedback; `python -m bench hostile_class` opens all pages of a class."""
    plain, hostile = page("feedback", "mine"), page("feedback", HOSTILE)
    asked: list[str] = []
    with jupyterlab.chromium() as browser:
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        view.on("request", lambda request: asked.append(request.url))
        view.on("dialog", lambda dialog: asked.append(f"dialog: {dialog.message}"))

        def scores(text: str, most: int | None = None) -> tuple[set[str], list[Picture]]:
            """What is wrong with the places of the scores, and their pictures."""
            file = tmp_path / "page.html"
            file.write_text(text, encoding="utf-8")
            view.goto(file.as_uri())
            # In the line of each figure, and with each answer.
            seen = [looked_at(each) for each in view.get_by_text("Score: ").all()[:most]]
            return {each for trouble, *_ in seen for each in trouble}, [one for _, one, _ in seen]

        troubles, expected = scores(plain)
        assert troubles == set() and len(expected) > 5
        troubles, pictures = scores(hostile)
        assert troubles == set() and all(map(alike, pictures, expected))
        troubles, pictures = scores(plain.replace("</body>", COVER % ""), most=3)
        assert troubles == {"is covered by div"} and not any(map(alike, pictures, expected))
        troubles, pictures = scores(
            plain.replace("</body>", COVER % ";pointer-events:none"), most=3
        )
        assert troubles == set() and not any(map(alike, pictures, expected))
        troubles, pictures = scores(re.sub(r"Score: \d", "Score: 7", plain), most=3)
        assert troubles == set() and not any(map(alike, pictures, expected))
    # The policy also forbids the fonts of the style sheet, which would lie on the same disk.
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
