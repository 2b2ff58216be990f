"""The catalogue of pitfalls: each known mistake is one entry, in a file of its subject.

An entry is part of the catalogue by being in a module of this folder. `recordings.WHILE_READING`
are those that show before there is anything to look at.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace

from grader.evidence import sources
from grader.evidence.other_numbers import reduction_of
from grader.figures import figure_named
from grader.figures.case import Case
from grader.figures.verdict import Finding, Level
from grader.pitfalls import recordings, wrong_units
from grader.pitfalls.pitfall import Pitfall

__all__ = ["CATALOGUE", "Pitfall", "findings_of", "pitfall_named"]

_LEVELS = list(Level)


def _entries() -> tuple[Pitfall, ...]:
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    )
    # A set, because a module may import an entry of another.
    found = {
        each for module in modules for each in vars(module).values() if isinstance(each, Pitfall)
    }
    found -= {*recordings.WHILE_READING}
    return tuple(sorted(found, key=lambda each: (_LEVELS.index(each.level), each.code)))


_FOUND_IN_CASES = _entries()

#: Mistakes that explain a figure which its recording does not give, the plainest first.
EXPLANATIONS: tuple[Pitfall, ...] = tuple(
    sorted(
        (each for each in _FOUND_IN_CASES if each.explains is not None),
        key=lambda each: (each.explains, each.code),
    )
)

#: Pitfalls that are reported independently of each other, the most basic level first.
INDEPENDENT: tuple[Pitfall, ...] = tuple(each for each in _FOUND_IN_CASES if each.explains is None)

#: For a relation between figures, the grader looks only for these and the explanations. A mistake
#: in a recording is reported with the figure that names this recording.
OF_RELATIONS = ("figure-not-from-recording", "not-one-change", "unit-unknown")

CATALOGUE: tuple[Pitfall, ...] = (*recordings.WHILE_READING, *INDEPENDENT, *EXPLANATIONS)


def findings_of(
    case: Case,
    what_it_is: Callable[[Case], str] = recordings.what_it_is,
    *,
    tell_answers: bool = False,
) -> list[Finding]:
    """Every finding of this case, the most basic level first, with at most one explanation.

    `what_it_is` says of a wrong figure what it is the value of, as a sentence, or ''. Without
    `tell_answers`, no finding tells which conclusion is right.
    """
    independent = [
        (pitfall, finding)
        for pitfall in INDEPENDENT
        if (not case.others or pitfall.code in OF_RELATIONS) and (finding := pitfall.find(case))
    ]
    explanation = None
    if not recordings.is_stale(case):
        explanation = _explanation(case, what_it_is, tell_answers)
    if explanation is None:
        independent = [
            (pitfall, recordings.with_what_it_is(finding, case, what_it_is))
            for pitfall, finding in independent
        ]
    if explanation is not None or (not recordings.is_stale(case) and reduction_of(case)):
        # It follows from its recording after all: by this mistake, or by hand.
        independent = [each for each in independent if each[0].code != "figure-not-from-recording"]
    codes = {finding.code for _, finding in independent}
    if explanation is not None:
        codes.add(explanation.code)
    found = [finding for pitfall, finding in independent if not pitfall.yields(codes)]
    if explanation is not None:
        found.append(explanation)
    return found or _made_on_purpose(case)


def _made_on_purpose(case: Case) -> list[Finding]:
    """The mistake of a broken C kernel that was run, if this machine or noise hides it.

    For a requested mistake, `grader.judging.check` looks for it in the recording itself.
    """
    name = None if case.spec.demonstrates or case.others else sources.broken_name(case.recording)
    for pitfall in INDEPENDENT + EXPLANATIONS if name is not None else ():
        for live in pitfall.broken:
            shown_by = figure_named(live.figure)
            if live.kernel == name and {*shown_by.variants} & {*case.spec.variants}:
                return [
                    pitfall.finding(
                        f"You measured with the C kernel {name}, which makes this mistake on "
                        "purpose. It does not show in this recording."
                    )
                ]
    return []


def _explanation(
    case: Case, what_it_is: Callable[[Case], str], tell_answers: bool
) -> Finding | None:
    candidates = tuple(each for each in EXPLANATIONS if tell_answers or not each.tells_answer)
    by_hand = reduction_of(case)
    if by_hand and case.expected is not None:
        # Its own number is explained. What else shows in the recording, shows with the right one.
        case = replace(case, submitted=case.expected.value)
    if case.right or by_hand:
        # A mistake in a recording is reported with the figure that names this recording.
        candidates = tuple(
            each for each in candidates if each.shows_in_recording and not case.others
        )
    found = [(each, finding) for each in candidates if (finding := each.find(case))]
    codes = {each.code for each, _ in found}
    left = [(each, finding) for each, finding in found if not each.yields(codes)]
    if left and not case.right and not by_hand and (known := what_it_is(case)):
        return wrong_units.with_known(case, left[0], known)
    both = wrong_units.of_clock_and_number(case, left)
    return both if both is not None else next((finding for _, finding in left), None)


def pitfall_named(code: str) -> Pitfall:
    """The entry with this code. Raises KeyError, naming those there are."""
    for pitfall in CATALOGUE:
        if pitfall.code == code:
            return pitfall
    known = ", ".join(pitfall.code for pitfall in CATALOGUE)
    raise KeyError(f"no pitfall {code!r}; there is {known}")
