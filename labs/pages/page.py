"""A page in one file: it loads nothing, can be read on a phone, in the dark, and on paper."""

from __future__ import annotations

from pathlib import Path

from labs.common.html import filled
from labs.common.version import __version__
from labs.languages import chosen
from labs.languages.words import words

_PAGE = Path(__file__).with_name("page.html.jinja")
_STYLE = Path(__file__).with_name("style.css")


def page(title: str, command: str, template: Path, **values: object) -> str:
    """A whole page with the `template` as its content. `command` made it, such as `labs survey`.

    The page is in the language of its reader, and so is the `title` that is given.
    """
    name = generator(command)
    return filled(
        _PAGE,
        language=chosen.language(),
        title=title,
        generator=name,
        made_by=words(f"Made by {name}, version {__version__}."),
        style=_STYLE.read_text(encoding="utf-8"),
        content=filled(template, title=title, **values),
    )


def generator(command: str) -> str:
    """What a page states as the program that made it."""
    return f"Ticklab: {command}"
