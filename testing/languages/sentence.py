"""One English sentence for the catalogues, and what a translation of it must keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from labs.languages.po_file import BadCatalogue, values_of
from testing.languages.in_code import OF_ENGLISH

#: The parts of the kit whose sentences are taken.
FINDINGS, FRAME, FIRST_LAB, EVIDENCE = "findings", "frame", "lab 01", "evidence"
CLAUSES = "clauses and words"
SCREEN, OTHERS = "panel and forms", "messages in a notebook"
PLOTS, MISTAKES = "plots and views", "mistakes"
DOCTOR, TERMINAL = "labs doctor", "messages in a terminal"
LISTS, SURVEY = "labs list", "labs survey and labs report"

_CODE = re.compile(r"`[^`\n]+`|(?<=\]\()[^)]+(?=\))|<[^>]+>")


@dataclass(frozen=True)
class Sentence:
    """`where` helps a translator, and `part` is one of those above.

    `holds_values` says whether `{name}` in it stands for a value.
    """

    english: str
    part: str
    where: str
    holds_values: bool = False


def lost(sentence: Sentence, translated: str) -> Iterator[str]:
    """What a translation loses or invents: values, code between backticks, links, tags of HTML."""
    if sentence.holds_values:
        try:
            theirs = values_of(translated)
        except BadCatalogue as error:
            yield str(error)
            return
        for name in sorted(values_of(sentence.english) ^ theirs):
            if name in theirs or not name.startswith(OF_ENGLISH):
                yield f"{{{name}}}"
    code, same = (sorted(_CODE.findall(text)) for text in (sentence.english, translated))
    # A link into the same notebook names a heading, which is translated, too.
    differ = {each for each in code + same if code.count(each) != same.count(each)}
    yield from sorted(each for each in differ if not each.startswith("#"))
