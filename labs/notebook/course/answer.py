"""Keep what a student wrote to a question, and then show it beside the explanation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from labs.common import warned
from labs.common.files import CannotWrite
from labs.common.html import code_spans, filled
from labs.common.messages import Message, Refused
from labs.common.spelling import suggestion
from labs.course import answers
from labs.course.answers import Answer
from labs.course.guide import Guide
from labs.languages.words import words
from labs.notebook import explain
from labs.notebook.course.foretell import time_text
from labs.results import remarks

if TYPE_CHECKING:
    from labs.notebook.run import Run

_LONGEST = 40
_TEMPLATE = Path(__file__).with_name("answer.html.jinja")


@dataclass(frozen=True)
class BesideExplanation:
    """All versions of an answer, the newest last, and the paragraphs of the explanation.

    The newest version is shown and, if it is another one, the first: that was written before the
    explanation was shown. `warnings` were held back until then.
    """

    versions: tuple[Answer, ...]
    explanation: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        newest, first = self.versions[-1], self.versions[0]
        shown_first = {"text": first.text, "when": time_text(first.when)}
        return filled(
            _TEMPLATE,
            text=newest.text,
            when=time_text(newest.when),
            first=shown_first if len(self.versions) > 1 else None,
            explanation=[code_spans(words(paragraph)) for paragraph in self.explanation],
            warnings=warned.as_html(self.warnings),
        )

    def __repr__(self) -> str:
        newest, first = self.versions[-1], self.versions[0]
        lines = [f"{words('Your words')} ({time_text(newest.when)}):", newest.text]
        if len(self.versions) > 1:
            earlier = f"{words('What you wrote first')} ({time_text(first.when)}):"
            lines += [earlier, first.text]
        lines += [f"{words('Explanation')}:", *map(words, self.explanation)]
        return "\n".join([*lines, *warned.as_lines(self.warnings)])


def _held_until(question: str, runs: Iterable[Run]) -> tuple[str, ...]:
    """The warnings of these runs that were held back until `question` was answered."""
    found: list[str] = []
    for run in runs:
        codes = {code for code, until in run.later.held_back.items() if until == question}
        for result in run.results:
            warnings = tuple(each for each in result.warnings if each.code in codes)
            found += remarks.of_results((replace(result, warnings=warnings),)).warnings
    return tuple(dict.fromkeys(found))


def answered(
    folder: Path, guide: Guide, name: str, text: str, runs: Iterable[Run] = ()
) -> BesideExplanation | Message:
    """Store the answer `text` to the question `name`, and show it beside the explanation.

    With it come the warnings of `runs` that would have given the answer away. Without a text, the
    stored answer is shown; if there is none, what is to be done. Raises Refused.
    """
    explanation = guide.explanations.get(name)
    if explanation is None:
        known = tuple(guide.explanations)
        shown = repr(name) if len(name) <= _LONGEST else f"{name[:_LONGEST]!r}…"
        what = f"This lab has no question {shown}: it asks for none."
        if known:
            what = f"This lab has no question {shown}{suggestion(name, known)}"
        raise Refused(Message("problem", "answer not stored", (what,)))
    try:
        blank = answers.is_blank(text)
        versions = answers.read(folder).get(name, ()) if blank else answers.put(folder, name, text)
    except (ValueError, CannotWrite) as error:
        raise Refused(replace(explain.of_error(error), heading="answer not stored")) from None
    if versions:
        return BesideExplanation(versions, explanation, _held_until(name, runs))
    return Message("open", "write your answer between the quotes, then run this cell")
