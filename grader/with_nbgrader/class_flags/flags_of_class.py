"""The flags that come from a comparison with the rest of the class, and the lines that name whom.

A flag is shown in feedback, so it names nobody. The lines are for the instructor's log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.cases.verdict import Verdict
from grader.judging.accounts import AccountFlag
from grader.submissions.safe_copy import printable

#: The flags on accounts by figure.
ByFigure = Mapping[str, Sequence[AccountFlag]]


def raised_by_accounts(
    flags: Mapping[str, Sequence[AccountFlag]], verdicts: Mapping[str, Verdict]
) -> dict[str, list[AccountFlag]]:
    """The flags of a submission by figure; `flags` has them by the path of the recording."""
    found = {
        figure: list(flags.get(verdict.recording or "", ())) for figure, verdict in verdicts.items()
    }
    return {figure: each for figure, each in found.items() if each}


def asked_about(student: str, raised: ByFigure) -> Iterator[str]:
    """For each flag on an account: whose it is, on which figures, and who must be asked as well."""
    figures: dict[AccountFlag, list[str]] = {}
    for figure, flags in raised.items():
        for flag in flags:
            figures.setdefault(flag, []).append(figure)
    for flag, names in figures.items():
        others = ", ".join(printable(name) for name in flag.students)
        words = f"{flag.words}{f' ({others})' if others else ''}"
        yield f"{printable(student)}, {', '.join(names)}: {words}"


def same_run_as(student: str, copies: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """For each figure whose run others hold too: who they are."""
    for figure, students in copies.items():
        names = ", ".join(printable(name) for name in students)
        yield f"{printable(student)}, {figure}: the same run as of {names}"
