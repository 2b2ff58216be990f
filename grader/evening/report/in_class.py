"""How often each mistake was found in a class, with the words to say about it in class.

The words are those of the catalogue of pitfalls. Only what connects them is written here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from grader.cases.verdict import NO_FIGURE
from grader.evening.report.graded_class import GradedClass
from grader.pitfalls import pitfall_named
from grader.pitfalls.pitfall import Pitfall


@dataclass(frozen=True)
class Frequent:
    """One finding in a class: in how many of `of` submissions, and by figure in how many.

    `symptom` and `words` are empty if this version of the catalogue has no such finding.
    """

    code: str
    count: int
    of: int
    by_figure: tuple[tuple[str, int], ...]
    symptom: str = ""
    words: str = ""
    tells_answer: bool = False


def findings_of_class(graded: GradedClass) -> tuple[Frequent, ...]:
    """Every finding, the most frequent first. A figure that was not handed in is no mistake."""
    submissions: Counter[str] = Counter()
    figures: dict[str, Counter[str]] = {}
    for each in graded.submissions:
        codes = set()
        for verdict in each.figures:
            for code in verdict.findings:
                if code != NO_FIGURE:
                    codes.add(code)
                    figures.setdefault(code, Counter())[verdict.figure] += 1
        submissions.update(codes)
    order = {figure: place for place, figure in enumerate(graded.figures)}
    found = []
    for code, count in sorted(submissions.items(), key=lambda pair: (-pair[1], pair[0])):
        where = sorted(figures[code].items(), key=lambda pair: (-pair[1], order[pair[0]]))
        found.append(_frequent(code, count, len(graded.submissions), tuple(where)))
    return tuple(found)


def _frequent(code: str, count: int, of: int, where: tuple[tuple[str, int], ...]) -> Frequent:
    try:
        pitfall = pitfall_named(code)
    except KeyError:
        return Frequent(code, count, of, where)
    return Frequent(
        code, count, of, where, pitfall.symptom, in_class(pitfall, count, of), pitfall.tells_answer
    )


def in_class(pitfall: Pitfall, count: int, of: int) -> str:
    """What to say about a pitfall that was found in `count` of `of` submissions.

    The symptom, then what is probably behind it, then the experiment that decides.
    """
    shows = "submissions shows" if count == 1 else "submissions show"
    return (
        f"{count:,} of {of:,} {shows} this: {pitfall.symptom} What is probably behind it: "
        f"{pitfall.misconception} Try it: {pitfall.experiment}"
    )
