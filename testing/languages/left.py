"""Which parts of a shown text stayed English: values in a sentence, and sentences of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from labs.languages.words import Words, of_language_named

#: What has the same name in every language: options, code, numbers, and what stands in quotes.
_NAMES = re.compile(r"--[\w-]+(?: [^ ]+)?|\w+=(?:\[[^\]]*\]|[^ ,]+)|\[[^\]]*\]|[\w.]*\([^)]*\)")
#: Shorter ones are units, and endings such as the `es` of a plural.
_WORD = re.compile(r"[A-Za-z]{3,}")


@dataclass(frozen=True, eq=False)
class _Noting(Words):
    """A language that notes each text for which it has no translation."""

    left: list[str] = field(default_factory=list)

    def _list(self, text: str, depth: int) -> str:
        shown = super()._list(text, depth)
        if shown == text:
            self.left.append(text)
        return shown


def left_in_english(
    text: str, language: str, names: Iterable[str], *, heading: bool = False
) -> list[str]:
    """The parts of `text` that a reader of `language` sees in English, without `names`.

    `heading` is for texts that are shown as `Words.heading` shows them.
    """
    found = of_language_named(language)
    noting = _Noting(found.language, found.catalogue)
    shown = noting.heading(text) if heading else noting(text)
    left = [text] if shown == text else noting.left
    same = re.compile("|".join(rf"(?<![\w-]){re.escape(each)}(?![\w-])" for each in names) or "$^")
    return [each for each in left if _WORD.search(same.sub("", _NAMES.sub("", each)))]
