"""A student's way through the labs, shown: hints, progress, predictions with results, answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from labs import html
from labs.course import answers, predicted_and_found, progress
from labs.course.answers import Answer
from labs.course.guide import Guide, heading_of_hints, numbered_hints
from labs.course.lab_names import labs
from labs.course.predicted_and_found import Compared
from labs.course.predictions import RIGHT_WITHIN
from labs.course.progress import LabProgress
from labs.files import CannotWrite
from labs.html import code_spans, filled
from labs.messages import Message, Refused, refused, show
from labs.notebook import run_errors
from labs.notebook.predicting import time_text
from labs.results import remarks
from labs.terminal import suggestion

if TYPE_CHECKING:
    from labs.notebook.run import Run
    from labs.plots.picture import Picture


_PROGRESS = Path(__file__).with_name("progress.html.jinja")
#: Colours of the border, as those of a message.
DONE, TO_DO = "#009E73", "#8C8C8C"


def hint(guide: Guide, topic: str, rung: int) -> int:
    """Show the hints of `topic` up to number `rung`, and return how many these are.

    Raises Refused for no topic, or another, naming those there are.
    """
    rungs = guide.hints.get(topic)
    if rungs is None:
        known = ", ".join(f'lab.hint("{name}")' for name in guide.hints) or "no hints"
        what = f"no hint {topic!r} in this lab" if topic else "name what the hint is for"
        raise refused(f"{what}; there is {known}")
    texts = numbered_hints(rungs, rung)
    show(Message("note", heading_of_hints(len(texts), rungs, "run the cell again"), texts))
    return len(texts)


def progress_of(folder: Path, name: str, guide: Guide) -> None:
    """Show what is done in the lab `name` and what comes next, and how far the other labs are.

    Raises Refused if it cannot be read.
    """
    mine = progress.of_lab(folder, name, guide)
    if mine.trouble:
        raise refused("your progress cannot be read", mine.trouble)
    show(ShownProgress(mine, folder))
    every = progress.of_labs(folder.parent)
    begun = tuple(each for each in every if each.lab == name or each.done or each.trouble)
    if len(begun) > 1:
        show(progress.table(begun, name, "Labs that you have begun"))


@dataclass(frozen=True)
class ShownProgress:
    """The steps of a lab with links to what they name: a recording, and the next lab."""

    progress: LabProgress
    folder: Path

    def _repr_html_(self) -> str:
        return filled(
            _PROGRESS,
            colour=DONE if self.progress.finished else TO_DO,
            heading=self.progress.heading(),
            steps=[
                {
                    "text": self.progress.line(step, is_done),
                    "link": f"recordings/{step.name}.csv" * (step.kind == "recording" and is_done),
                }
                for step, is_done in self.progress.steps
            ],
            next_lab=self._next_lab(),
        )

    def __repr__(self) -> str:
        lines = [self.progress.heading(), *self.progress.lines()]
        lines += [f"Next lab: {next_lab}"] if (next_lab := self._next_lab()) else []
        return "\n".join(lines)

    def _next_lab(self) -> str | None:
        """The lab after this one, once this is done, if its notebook is beside this folder."""
        later = next((lab for lab in labs() if lab > self.progress.lab), None)
        there = later and (self.folder.parent / later / f"{later}.ipynb").is_file()
        return later if there and self.progress.next is None else None


def wrap_up(labs_folder: Path, lab: str) -> None:
    """Show prediction against result in `lab`, and how far off the guesses of all labs are."""
    rows = predicted_and_found.of_labs(labs_folder)
    if not rows:
        show(Message("note", "no predictions yet", ("`lab.predict(...)` stores one.",)))
        return
    if mine := tuple(row for row in rows if row.lab == lab):
        show(predicted_and_found.table(mine))
    known = predicted_and_found.with_factor(rows)
    if known:
        show(_picture(known))
    sentences = predicted_and_found.calibration(rows)
    if sentences:
        show(Message("note", sentences[0].removesuffix("."), sentences[1:]))


def _picture(known: tuple[tuple[Compared, float], ...]) -> Picture:
    # Here: drawing takes long to load.
    from labs.plots.guesses import Guess, calibration_picture

    return calibration_picture(
        [
            Guess(f"{row.lab[:2]} {row.id}", factor, row.predicted.sure, row.late)
            for row, factor in known
        ],
        RIGHT_WITHIN,
    )


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
        shown_first = {"text": html.own_words(first.text), "when": time_text(first.when)}
        return filled(
            _TEMPLATE,
            text=html.own_words(newest.text),
            when=time_text(newest.when),
            first=shown_first if len(self.versions) > 1 else None,
            explanation=[code_spans(paragraph) for paragraph in self.explanation],
            warnings=html.warnings_as_html(self.warnings),
        )

    def __repr__(self) -> str:
        newest, first = self.versions[-1], self.versions[0]
        lines = [f"Your words ({time_text(newest.when)}):", newest.text]
        if len(self.versions) > 1:
            earlier = f"What you wrote first ({time_text(first.when)}):"
            lines += [earlier, first.text]
        lines += ["Explanation:", *self.explanation]
        return "\n".join([*lines, *html.warnings_as_lines(self.warnings)])


def _held_until(question: str, runs: Iterable[Run]) -> tuple[str, ...]:
    """The warnings of these runs that were held back until `question` was answered."""
    found: list[str] = []
    for run in runs:
        codes = {code for code, until in run.later.held_back.items() if until == question}
        for result in run.results:
            warnings = tuple(each for each in result.warnings if each.code in codes)
            found += remarks.of_results((replace(result, told=warnings),)).warnings
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
        there_is = suggestion(name, known) if known else ": it asks for none."
        what = f"This lab has no question {shown}{there_is}"
        raise refused("answer not stored", what)
    try:
        blank = answers.is_blank(text)
        versions = answers.read(folder).get(name, ()) if blank else answers.put(folder, name, text)
    except (ValueError, CannotWrite) as error:
        raise Refused(replace(run_errors.of_error(error), heading="answer not stored")) from None
    if versions:
        return BesideExplanation(versions, explanation, _held_until(name, runs))
    line = f'lab.answer("{name}", "...")'
    return Message("open", f"write what you think, and keep it; without a form: `{line}`")
