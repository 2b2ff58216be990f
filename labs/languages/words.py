"""Translate the kit's sentences and the labs' notebooks into the language of the reader.

Most sentences come to a reader from far away: a verdict from the process that judges, a warning
from the run that made it, and some from files of an earlier day. All of these are English. So a
finished sentence is looked up where it is shown. A sentence with values, such as "You gave 20 ns",
is found by its template "You gave {value}". A sentence without a translation stays English.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from labs.languages import chosen
from labs.languages.po_file import Catalogue, Template, of_language

#: A longer text is no sentence of ours.
_LONGEST = 4_000
#: A longer text is no single sentence with values.
_LONGEST_SENTENCE = 800
#: A value may be a sentence with values, but no deeper.
_DEEPEST = 4
#: Values that name something of the reader's code: `run` is a run only elsewhere.
_OF_CODE = frozenset(
    (
        "name",
        "variant",
        "kernel",
        "kernel_name",
        "function",
        "lab",
        "file",
        "line",
        "each",
        "figure",
        "folder",
        "parent",
        "path",
        "place",
        "save",
        "topic",
        "next",
        "first",
    )
)
#: A value that lists such names.
_LISTED = "listed"
_IDENTIFIER = re.compile(r"[\w.-]+")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[^a-z])")


@dataclass(frozen=True, eq=False)
class Words:
    """A language: called with an English text, it gives what its reader sees."""

    language: str = chosen.ENGLISH
    catalogue: Catalogue = field(default_factory=Catalogue, repr=False)

    def __call__(self, english: str) -> str:
        """`english` in this language: as a whole, or else sentence by sentence."""
        if not english or self.language == chosen.ENGLISH or len(english) > _LONGEST:
            return english
        return _translated(self, english)

    def of_cell(self, english: str) -> str:
        """The same of the text of a cell: as a whole, or not at all."""
        return self.catalogue.sentences.get(english.strip(), english)

    def heading(self, english: str) -> str:
        """The same of a text that may be a clause, as headings are, also with a full stop."""
        if not english or self.language == chosen.ENGLISH or len(english) > _LONGEST:
            return english
        shown = self._whole(english, 1)
        if shown is None and english.endswith("."):
            clause = self._whole(english[:-1], 1)
            shown = None if clause is None else f"{clause}."
        return shown or self(english)

    def label(self, english: str) -> str:
        """The same of a text in a plot: a heading, which may follow the sign of a mark."""
        shown = self.heading(english)
        sign, blank, named = english.partition(" ")
        if shown == english and blank and len(sign) == 1 and not sign.isalnum():
            return f"{sign} {self.heading(named)}"
        return shown

    def _whole(self, text: str, depth: int = 0) -> str | None:
        """The translation of a text as a whole; None if there is none."""
        if text in self.catalogue.sentences:
            return self.catalogue.sentences[text]
        if depth < _DEEPEST and len(text) <= _LONGEST_SENTENCE:
            for template in self.catalogue.templates:
                values = _values(template, text) if depth or template.alone else None
                if values is not None:
                    shown = {
                        name: value
                        if name == _LISTED or (name in _OF_CODE and _IDENTIFIER.fullmatch(value))
                        else self._value(value, depth + 1)
                        for name, value in values.items()
                    }
                    return template.translated.format(**shown)
        return None

    def _value(self, text: str, depth: int) -> str:
        """A value in a sentence, with the blanks around it."""
        own = text.strip()
        return text.replace(own, self._whole(own, depth) or self._list(own, depth)) if own else text

    def _list(self, text: str, depth: int) -> str:
        """A list with each of its parts translated."""
        parts = text.split(", ")
        return ", ".join(self._value(each, depth) for each in parts) if len(parts) > 1 else text


#: Leaves every sentence as it is.
ENGLISH = Words()


@lru_cache(maxsize=2_000)
def _translated(words: Words, english: str) -> str:
    whole = words._whole(english)
    if whole is not None:
        return whole
    sentences = _BETWEEN_SENTENCES.split(english)
    return " ".join(_longest_parts(words, sentences))


def _longest_parts(words: Words, sentences: list[str]) -> list[str]:
    """The sentences translated, the longest sequences that the catalogue knows first."""
    found, start = [], 0
    while start < len(sentences):
        for end in range(len(sentences), start, -1):
            whole = words._whole(" ".join(sentences[start:end]))
            if whole is not None or end == start + 1:
                found.append(sentences[start] if whole is None else whole)
                start = end
                break
    return found


def _values(template: Template, text: str) -> dict[str, str] | None:
    # Cheaper than the pattern, and most texts end here.
    if not all(part in text for part in template.parts):
        return None
    found = template.english.fullmatch(text)
    return None if found is None else found.groupdict()


def of_reader() -> Words:
    """The language of the reader of this process."""
    return of_language_named(chosen.language())


@cache
def of_language_named(language: str) -> Words:
    """A language by its name, such as `de`. Raises OSError for one without a catalogue."""
    return ENGLISH if language == chosen.ENGLISH else Words(language, of_language(language))


def words(english: str) -> str:
    """`english` in the language of the reader of this process."""
    return of_reader()(english)


def label(english: str) -> str:
    """A text of a plot in the language of the reader of this process."""
    return of_reader().label(english)


# In a lab's notebook, code, ids and the cells that nbgrader knows stay as they are. So figures and
# points are the same in every language.


def is_translated(cell: dict[str, Any]) -> bool:
    """Whether a cell is text of the lab, which nobody grades and nbgrader does not write."""
    return cell["cell_type"] == "markdown" and "nbgrader" not in cell["metadata"]


def in_language(notebook: bytes, words: Words) -> bytes:
    """The notebook with its text in the language of `words`. A cell without translation stays."""
    stated = json.loads(notebook)
    changed = False
    for cell in stated["cells"]:
        if is_translated(cell):
            text = "".join(cell["source"])
            shown = words.of_cell(text)
            if shown != text:
                cell["source"], changed = shown.splitlines(keepends=True), True
    if not changed:
        return notebook
    return (json.dumps(stated, indent=1, ensure_ascii=False) + "\n").encode()
