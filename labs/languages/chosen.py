"""Which language a reader has chosen: TICKLAB_LANGUAGE, or else English.

The locale of the system chooses nothing: most text of the labs is in English only, and around it a
message in another language would be the stranger one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from labs.languages.po_file import languages

ENGLISH = "en"
#: Names the language of everything that Ticklab shows, such as `de`.
VARIABLE = "TICKLAB_LANGUAGE"


def language(environment: Mapping[str, str] | None = None) -> str:
    """The language of the reader, such as `de`; `en` where we have no catalogue for it."""
    stated = os.environ if environment is None else environment
    wished = stated.get(VARIABLE, "").strip().lower()
    return wished if wished in known() else ENGLISH


def keep_english() -> None:
    """Has this process and what it starts show English: an instructor's pages, and our own docs."""
    keep(ENGLISH)


def keep(language: str) -> None:
    """Has this process and what it starts show this language."""
    os.environ[VARIABLE] = language


def known() -> tuple[str, ...]:
    """Every language that can be chosen."""
    return (ENGLISH, *languages())
