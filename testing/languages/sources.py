"""Every English sentence that the catalogues hold, in the order of a student's way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from grader.cases.verdict import NOT_HANDED_IN, PARTLY_RIGHT, Outcome
from grader.figures import LABS as LABS_WITH_FIGURES
from grader.figures import figures_of
from grader.pitfalls import CATALOGUE
from labs.course import guide
from labs.languages.words import is_translated
from labs.messages import TONES
from labs.units import NAMES
from testing.languages import of_lists, of_plots, of_survey, of_terminal
from testing.languages.in_code import (
    in_functions,
    is_piece,
    is_sentence,
    marked,
    on_the_screen,
    raised,
    with_values,
)
from testing.languages.sentence import (
    CLAUSES,
    EVIDENCE,
    FINDINGS,
    FIRST_LAB,
    FRAME,
    OTHERS,
    PLOTS,
    SCREEN,
    Sentence,
)

ROOT = Path(__file__).resolve().parents[2]
#: The labs whose own text is translated.
LABS = ("01-timer-overhead",)
#: Where a function gives the evidence of a finding, or the reason of a verdict.
_OF_CLAUSES = (
    "grader/pitfalls",
    "grader/facts",
    "grader/cases",
    "grader/judging/check.py",
    "grader/judging/lab_folder.py",
)
#: How numbers are put together in many sentences.
_NUMBERS = (
    "Accepted: {accepted}.",
    "{number_1} to {number_2} {unit}",
    "{number_1} or {number_2} to {number_3} {unit}",
    "{number_1} to {number_2} or {number_3} {unit}",
    "{number_1} and {number_2}",
    "{number_1} of {number_2}",
    "{number_1} times",
    "{number_1} more",
    "{number_1} ({number_2} to {number_3})",
    "{number_1} {unit} ({number_2} to {number_3})",
    "{amount_1} or {amount_2}",
    "{number_1} online",
    "with {number_2}",
    "hint {shown} of {rungs}",
    "hint {shown} of {rungs}; {again} for the next",
    "{number_1} place{word}",
    "{number_1} more place{word}",
    "{number_1} interrupted",
    "{number_1} times less",
    "{names} and {names_2}",
    "{option_1} and {option_2}",
)
#: How a warning is put together; see `labs.results.remarks`.
_OF_WARNINGS = (
    "{names}: {symptom}; {cause}.",
    "{names}: {brief}",
    "{names}: {brief}, similarly {names_2}",
    "Try: {advice}.",
    "Evidence: {recording}.",
    "the OS refuses to pin: {reason}",
    "{name}: building, {seconds} s",
    "missing: {each}",
    "receipt: {receipt}",
)
_WARNINGS = (
    "labs/results/result.py",
    "labs/results/run_warnings.py",
    "labs/results/run_warnings.py",
    "labs/results/remarks.py",
)
#: Where a plan or a compiler is refused.
_REFUSED = (
    "labs/run/plan.py",
    "labs/run/options.py",
    "labs/run/broken.py",
    "labs/c_kernels/toolchain.py",
)
#: Where a run is found to give no figure, or only part of the run.
_WITHOUT_FIGURE = ("labs/analysis",)
#: Of the modules below, those of the panel and of the forms.
_OF_FORMS = (
    "labs/notebook/unready_cells.py",
    "labs/notebook/panel",
    "labs/notebook/predicting.py",
    "labs/notebook/typed_numbers.py",
    "labs/course/progress.py",
)
#: What a student meets in a notebook and in its panel.
_ON_THE_SCREEN = (
    "labs/notebook",
    "labs/results",
    "labs/suggestions.py",
    "labs/units.py",
    "labs/course/handed_in.py",
    "labs/course/comparison.py",
    "labs/course/progress.py",
    "labs/course/handed_in.py",
    "labs/course/progress.py",
    "labs/course/published.py",
    "labs/hand_in/hand_in.py",
    "labs/machine/card.py",
    "labs/course/lab_names.py",
)
#: In the templates of `labs/notebook/panel_controls.py`, which are no files of their own.
_OF_PANEL = (
    "Samples, on a logarithmic scale from {least} to {most}",
    "Measure {kernel}",
    "The same in one line of Python:",
    "This result is of other settings.",
)
_WORDS = (
    "Ready.",
    "Building …",
    "Stored.",
    "run the cell again",
    "run the command again",
    "Storing …",
    "above",
    "below",
    "small",
    "large",
    "needs",
    "the value",
    "half",
    "twice",
    "once",
    "larger",
    "smaller",
    "Governor",
    "Turbo",
    "Load",
    "Memory",
    "Container",
    "Steal",
    "Seccomp",
    "on",
    "off",
    "yes",
    "no",
    "more",
    "less",
    "none",
    "Broken",
    "Repaired",
    "the cheapest",
    "the most expensive",
    "the cheapest switch",
    "the most expensive switch",
    "cost",
    "overhead",
    "this system offers no pinning",
    "-DTICKLAB_NO_PINNING leaves pinning out",
)
_OF_EVIDENCE = ("grader/pitfalls", "grader/facts", "grader/judging", "grader/cases")


def sentences() -> tuple[Sentence, ...]:
    """Each sentence once, under the first part that has it."""
    found: dict[str, Sentence] = {}
    parts = (_frame, _of_tables, _findings, _of_labs, _evidence, _screen, _plots)
    of_commands = (of_terminal.doctor, of_terminal.terminal, of_lists.sentences)
    for part in (*parts, *of_commands, of_survey.sentences):
        for each in part():
            found.setdefault(each.english, each)
    return tuple(found.values())


def _frame() -> Iterator[Sentence]:
    """The words around a finding, a hint or a result."""
    for folder in ("labs", "grader"):
        paths = (ROOT / folder).rglob("*")
        for path in sorted(p for p in paths if p.suffix in (".py", ".jinja")):
            where = path.relative_to(ROOT).as_posix()
            yield from (Sentence(text, FRAME, where, "{" in text) for text in marked(path))


def _of_tables() -> Iterator[Sentence]:
    """Words that the kit looks up in a table before it translates them."""
    outcomes = (*(each.value for each in Outcome), PARTLY_RIGHT, NOT_HANDED_IN)
    yield from (Sentence(text, FRAME, "outcome of a check") for text in outcomes)
    yield from (Sentence(word, FRAME, "kind of a message") for _, word in TONES.values())


def _findings() -> Iterator[Sentence]:
    for pitfall in CATALOGUE:
        for kind in ("symptom", "misconception", "experiment"):
            text = getattr(pitfall, kind)
            if text:
                yield Sentence(text, FINDINGS, f"{pitfall.code}: {kind}")
    for lab, figures in LABS_WITH_FIGURES.items():
        for figure in figures:
            yield Sentence(figure.asked, FINDINGS, f"{lab}: what {figure.id} asks for")
            if figure.why_exact:
                yield Sentence(figure.why_exact, FINDINGS, f"{lab}: why {figure.id} is exact")


def _of_labs() -> Iterator[Sentence]:
    for lab in LABS:
        yield from (Sentence(text, FIRST_LAB, where) for text, where in _of_guide(lab))
        for figure in figures_of(lab):
            texts = (*(each.text for each in figure.praise), figure.look_next)
            yield from (Sentence(text, FIRST_LAB, f"figure {figure.id}") for text in texts if text)
        path = ROOT / "notebooks" / lab / f"{lab}.ipynb"
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if is_translated(cell):
                yield Sentence("".join(cell["source"]), FIRST_LAB, f"notebook {lab}: {cell['id']}")


def _of_guide(lab: str) -> Iterator[tuple[str, str]]:
    its = guide.of_lab(lab)
    for topic, rungs in its.hints.items():
        yield from ((text, f"{lab}: hint {topic}") for text in rungs)
    yield from ((step.do, f"{lab}: step") for step in its.steps)
    yield from ((each.asks, f"{lab}: prediction {name}") for name, each in its.predictions.items())
    for name, texts in its.explanations.items():
        yield from ((text, f"{lab}: explanation {name}") for text in texts)
    for name, texts in its.choices.items():
        yield from ((text, f"{lab}: conclusion {name}") for text in texts)


def _evidence() -> Iterator[Sentence]:
    yield from _in_functions(_OF_EVIDENCE, EVIDENCE, is_sentence)
    yield from (Sentence(text, CLAUSES, "numbers", True) for text in _NUMBERS)
    yield from (Sentence(text, CLAUSES, "words") for text in (*_WORDS, *NAMES.values()))
    yield from (Sentence(text, CLAUSES, "warnings", "{" in text) for text in _OF_WARNINGS)
    for path in modules(_WARNINGS):
        where = path.relative_to(ROOT).as_posix()
        yield from (Sentence(text, CLAUSES, where, value) for text, value in on_the_screen(path))
    for path in modules(_REFUSED):
        where = path.relative_to(ROOT).as_posix()
        yield from (Sentence(text, OTHERS, where, value) for text, value in raised(path))
    for path in modules(_WITHOUT_FIGURE):
        where = path.relative_to(ROOT).as_posix()
        yield from (Sentence(text, CLAUSES, where, value) for text, value in with_values(path))
    yield from _in_functions(_OF_CLAUSES, CLAUSES, is_piece)


def _screen() -> Iterator[Sentence]:
    """What messages, forms and the panel say; a sentence is found here when it is written."""
    # They are looked up before they get their values, so that no other text is taken for them.
    yield from (Sentence(text, SCREEN, "looks of the panel") for text in _OF_PANEL)
    for path in modules(_ON_THE_SCREEN):
        where = path.relative_to(ROOT).as_posix()
        part = SCREEN if where.startswith(_OF_FORMS) else OTHERS
        yield from (Sentence(text, part, where, values) for text, values in on_the_screen(path))


def _plots() -> Iterator[Sentence]:
    """What plots and views say, and what a broken C kernel does wrong."""
    yield from of_plots.words()
    for path in modules(of_plots.DRAWN):
        where = path.relative_to(ROOT).as_posix()
        if where not in of_plots.NOT_READ:
            yield from (Sentence(text, PLOTS, where, value) for text, value in on_the_screen(path))
    yield from of_plots.mistakes()


def modules(places: Iterable[str]) -> Iterator[Path]:
    """The modules of Python in these folders, and those that are named themselves."""
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _in_functions(
    places: Iterable[str], part: str, wanted: Callable[[str], bool]
) -> Iterator[Sentence]:
    for each in modules(places):
        where = each.relative_to(ROOT).as_posix()
        for text, holds_values in in_functions(each, wanted):
            yield Sentence(text, part, where, holds_values)
