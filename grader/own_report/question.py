"""`labs report` of a question of one's own: what a folder of recordings shows, as one page.

The values, comparisons and plots are those of `labs measure`, `labs compare` and `labs show`. The
order is that of an argument: claim, evidence and C of each recording, and what speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.evidence.sources import source_of
from grader.own_report import COMMAND, configuration
from labs.commands.show import MOST_DRAWN, variants_shown
from labs.html import page as whole_page
from labs.notebook.run import Run
from labs.plots import picture
from labs.recording.file import BadRecording, Recording, read
from labs.results import remarks
from labs.results.result import Result
from labs.results.results_compared import Comparison, compared_at_one_clock, in_sentences

_PAGE = Path(__file__).with_name("question.html.jinja")

#: What is true of every run, and is in no interval.
_ALWAYS = (
    "The interval holds what differed between the processes of this run. What changes from day to "
    "day is not in it: measure again, and compare.",
    "The figures are for these inputs, this compiler with its flags, and this machine. Name all "
    "three when you state a figure.",
)
_APART = (
    "If the recordings were not made in turns, what the machine did between them is in each "
    "difference. `labs report A.c B.c` and `labs compare A.c B.c` measure in turns."
)


@dataclass(frozen=True, eq=False)
class Part:
    """One recording: its name, its run, and the C that it was made from; '' if that is unknown."""

    name: str
    run: Run
    source: str


def page(folder: Path, unit: str, name: str = "") -> tuple[str, list[str]]:
    """The page on all recordings in `folder`, and its claims as sentences for a terminal.

    Raises ValueError if no recording can be read, or for an unknown unit.
    """
    parts, left_out = _parts(folder, unit)
    if not parts:
        why = f": {left_out[0]}" if left_out else ""
        raise ValueError(f"there is no recording in {folder}{why}")
    every = [(part, result) for part in parts for result in part.run.results]
    found = list(_compared(every))
    claims = [each.sentence() for _, each in every]
    claims += dict.fromkeys(text for each in found for text in in_sentences(each))
    drawn = [result for _, result in every if result.estimate is not None]
    recordings = [part.run.recording for part in parts]
    text = whole_page(
        f"What {' and '.join(dict.fromkeys(each.kernel for each in recordings))} cost",
        COMMAND,
        _PAGE,
        name=name,
        claims=claims,
        side_by_side=[picture.of_estimates(drawn).narrowed()] if len(drawn) > 1 else [],
        parts=[
            {"part": part, "variants": variants_shown(part.run, f"part-{number}")}
            for number, part in enumerate(parts, 1)
        ],
        threats=[*_threats(parts), *left_out],
        conditions=configuration(recordings),
    )
    return text, [*claims, *left_out]


def _parts(folder: Path, unit: str) -> tuple[list[Part], list[str]]:
    """The recordings in `folder`, by name, and a sentence on each file that was left out."""
    parts: list[Part] = []
    files = sorted(folder.glob("*.csv"))
    more = len(files) - MOST_DRAWN
    left_out = [f"Of {len(files):,} files, only the first {MOST_DRAWN} were read."] * (more > 0)
    for path in files[:MOST_DRAWN]:
        try:
            recording = read(path)
            if sum(len(each.run.results) for each in parts) + len(recording.variants) > MOST_DRAWN:
                left_out.append(f"{path.name} was left out: a page has {MOST_DRAWN} variants.")
                continue
            run = Run.of(recording, _asked(recording), unit, path.name)
            parts.append(Part(path.stem, run, source_of(recording, path) or ""))
        except BadRecording as error:
            left_out.append(f"{path.name} was left out: {error.what}.")
    return parts, left_out


def _asked(recording: Recording) -> list[str]:
    """The variants without those that were measured to be subtracted from others."""
    asked = recording.conditions.get("variants", "").split(",")
    return [each for each in recording.variants if each in asked]


def _compared(every: Sequence[tuple[Part, Result]]) -> Iterator[Comparison]:
    """How the first figure compares with each other one."""
    figures = [(part, result) for part, result in every if result.estimate is not None]
    for part, result in figures[1:]:
        first, one = figures[0]
        yield compared_at_one_clock(one, result, saved=(first.name, part.name))


def _threats(parts: Sequence[Part]) -> Iterator[str]:
    """What speaks against the claims, from what was seen to what nobody can see."""
    for part in parts:
        yield from (f"{part.name} {each}" for each in remarks.of_results(part.run.results).warnings)
        for result in part.run.results:
            if result.aside_as_text():
                yield f"{part.name} {result.variant}: set aside: {result.aside_as_text()}."
        if not part.source:
            yield f"{part.name}: the C that was measured is not next to its recording."
    if len(parts) > 1:
        yield _APART
    yield from _ALWAYS
