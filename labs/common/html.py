"""HTML from templates: files `*.html.jinja` beside the modules that fill them.

A template escapes every value. What is HTML already passes the filter `safe` in the template, where
a reader can see it. `translated` gives a text in the language of the reader, and
the filter `unbroken` has no line end inside a figure.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from labs.common.wrapped import unbroken
from labs.languages.words import words

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_HERE = Path(__file__).parent


def filled(template: Path, **values: object) -> str:
    """The HTML of a template file. A name that it uses and that has no value raises
    `jinja2.UndefinedError`."""
    return _environment(template.parent).get_template(template.name).render(values)


def code_spans(text: str) -> list[tuple[str, bool]]:
    """The parts of a text, each with whether it is code, which stands between backticks."""
    found = text.split("`")
    if len(found) % 2 == 0:
        return [(text, False)]
    return [(part, number % 2 == 1) for number, part in enumerate(found) if part]


def inline(source: str, **values: object) -> str:
    """The same of a template of one line, given as text."""
    return _line(source).render(values)


@cache
def _line(source: str) -> Template:
    return _environment(_HERE).from_string(source)


@cache
def _environment(folder: Path) -> Environment:
    # Here: a command that shows no HTML starts faster without.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["translated"] = words
    made.filters["unbroken"] = unbroken
    return made
