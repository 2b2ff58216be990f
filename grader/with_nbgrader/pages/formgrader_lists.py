"""The formgrader's lists: names and addresses stay text, and leave the scores in sight.

nbgrader writes names of students and parts of the address into its pages as they are, also into
scripts. So an address with a program in it, to which an answer may link, ran that program in the
browser of an instructor who is signed in. And one long name moved the scores of the whole class out
of the window. nbgrader has no setting for either.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment
from markupsafe import Markup

from grader.with_nbgrader.pages.student_pages import FORMGRADER_POLICY
from labs.common.html import filled

#: What ends a text, an attribute or a string of a script. An apostrophe ends none of them in
#: nbgrader's pages, and names have some.
_ENDS = {ord(each): f"&#{ord(each)};" for each in '<>"&\\\n\r\u2028\u2029'}
_HEAD = Path(__file__).with_name("formgrader_list_head.html.jinja")
_PROGRAM = Path(__file__).with_suffix(".js")
_BASE = "base.tpl"


class ListEnvironment(Environment):
    """Takes the place of jinja's environment in the formgrader, for all pages but notebooks."""

    def __init__(self, loader: BaseLoader | None = None, **options: Any) -> None:
        settings = {"autoescape": True, "finalize": as_text, **options}
        super().__init__(loader=loader and _WithHead(loader), **settings)


def as_text(value: Any) -> Any:
    """A value as the text that it is; what a template has made stays."""
    return value if hasattr(value, "__html__") else Markup(str(value).translate(_ENDS))


class _WithHead(BaseLoader):
    """Puts our own head at the end of the head that all lists have."""

    def __init__(self, templates: BaseLoader) -> None:
        self.templates = templates

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        source, file, is_fresh = self.templates.get_source(environment, template)
        if template == _BASE:
            program = _PROGRAM.read_text(encoding="utf-8")
            head = filled(_HEAD, policy=FORMGRADER_POLICY, program=program)
            head = f"{{% raw %}}{head}{{% endraw %}}"
            source = source.replace("</head>", f"{head}</head>", 1)
        return source, file, is_fresh

    def list_templates(self) -> list[str]:
        return self.templates.list_templates()
