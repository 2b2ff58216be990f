"""Which words of a whole text no translation has: those that a reader sees in English."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from labs.languages.po_file import of_language

_WORD = re.compile(r"[^\W\d_]{3,}")
#: What has the same name in every language: code, functions with their arguments, options.
_CODE = re.compile(r"`[^`]*`|\w+\([^)]*\)|--[\w-]+|\b\w*(?:_\w+)+\b")
#: Words that every English sentence has some of. A translation has them in quoted code alone.
_ENGLISH = frozenset(
    [
        "the",
        "and",
        "are",
        "were",
        "have",
        "with",
        "which",
        "that",
        "this",
        "these",
        "there",
        "from",
        "each",
        "not",
        "you",
        "your",
        "does",
        "cannot",
        "between",
        "because",
        "than",
    ]
)


def unknown_words(text: str, language: str, names: Iterable[str]) -> list[str]:
    """The words of `text`, without `names`, that are in no translation of this language, and those
    that are English in every text, each once."""
    known = sorted(names, key=len, reverse=True)
    same = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, known))})(?![\w-])")
    found = _WORD.findall(same.sub(" ", _CODE.sub(" ", text)))
    theirs = _vocabulary(language)
    return list(dict.fromkeys(each for each in found if each not in theirs or each in _ENGLISH))


@cache
def _vocabulary(language: str) -> frozenset[str]:
    """The words of all translations that differ from the English."""
    catalogue = of_language(language)
    texts = [shown for english, shown in catalogue.sentences.items() if shown != english]
    return frozenset(word for text in texts for word in _WORD.findall(_CODE.sub(" ", text)))
