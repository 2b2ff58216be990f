"""Which language a reader has chosen: TICKLAB_LANGUAGE, or else the locale of the system."""

from __future__ import annotations

import os
from collections.abc import Mapping

from labs.languages.catalogue import languages

ENGLISH = "en"
#: Names the language of everything that Ticklab shows, such as `de`.
VARIABLE = "TICKLAB_LANGUAGE"
#: As gettext reads them: the first that has a value counts. LANGUAGE may list several.
_OF_SYSTEM = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def language(environment: Mapping[str, str] | None = None) -> str:
    """The language of the reader, such as `de`; `en` where we have no catalogue for it."""
    stated = os.environ if environment is None else environment
    for name in (VARIABLE, *_OF_SYSTEM):
        if stated.get(name, "").strip():
            return _first_known(stated[name].split(":"))
    return ENGLISH


def keep_english() -> None:
    """Has this process and what it starts show English: an instructor's pages, and our own docs."""
    keep(ENGLISH)


def keep(language: str) -> None:
    """Has this process and what it starts show this language."""
    os.environ[VARIABLE] = language


def known() -> tuple[str, ...]:
    """Every language that can be chosen."""
    return (ENGLISH, *languages())


def _first_known(wished: list[str]) -> str:
    known_here = known()
    for wish in wished:
        short = wish.strip().replace("-", "_").partition("_")[0].partition(".")[0].lower()
        if short in known_here:
            return short
    return ENGLISH
