"""The page on which the formgrader shows a student's work.

It comes from nbconvert's HTMLExporter with a template of nbgrader. The template loads MathJax from
another server, which then knows who is grading and when, and lets TeX draw anywhere on the page.
:class:`StudentPages` puts our own head in the place of MathJax: a policy that the browser follows,
and a box around whatever a student wrote. Formulas are pictures already
(:mod:`grader.with_nbgrader.pages.formulas`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import DictLoader
from nbconvert.exporters import HTMLExporter

from grader.with_nbgrader.pages.student_text import markdown2html
from labs.common.html import filled
from labs.course import rubric

#: The setting of nbconvert that has our filter used.
FILTER = f"{markdown2html.__module__}.{markdown2html.__name__}"
_MACRO = "{%% macro mathjax(url='') %%}{%% raw %%}%s{%% endraw %%}{%% endmacro %%}"
_HEAD = Path(__file__).with_name("student_page_head.html.jinja")
_PROGRAM = Path(__file__).with_suffix(".js")

#: The formgrader's page has scripts of nbgrader, some of them in the page, and templates that they
#: compile. They may talk to the own server alone.
FORMGRADER_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; object-src 'none'; frame-src 'none'; "
    "form-action 'self'; base-uri 'none'"
)


class StudentPages(HTMLExporter):
    """Writes such a page; its template imports the macro that we replace.

    The formgrader uses this class for all courses. A course that does not draw formulas with our
    filter keeps MathJax.
    """

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)  # type: ignore[no-untyped-call]
        if self.filters.get("markdown2html") != FILTER:
            return
        head = filled(
            _HEAD,
            policy=FORMGRADER_POLICY,
            program=_PROGRAM.read_text(encoding="utf-8"),
            rubrics=rubric.as_json(self._rubrics()),
        )
        self.extra_loaders = [DictLoader({"mathjax.html.j2": _MACRO % head})]

    def _rubrics(self) -> dict[str, rubric.Rubrics]:
        """Those of the course; the kit's own if the course's cannot be read."""
        course = Path(self.config.CourseDirectory.get("root", "."))
        try:
            return rubric.of_course(course)
        except rubric.BadRubric as error:
            self.log.error("%s: %s. The kit's rubrics are shown.", course, error)
            return rubric.of_labs()
