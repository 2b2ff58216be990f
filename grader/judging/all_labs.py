"""What `grader check` says of all labs of a student: one line for each, and the points of all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.cases.verdict import NOT_HANDED_IN, Outcome, Verdict
from grader.figures import LABS
from grader.judging.judgement import NotGraded
from grader.judging.presentation import points_as_text
from grader.judging.several import ALL_PASSED, SOMETHING_NOT_GRADED, status
from grader.judging.worker import Worker
from labs.common import terminal
from labs.common.table import Table
from labs.common.terminal import say, say_json

_NOTHING = "nothing handed in yet"


def labs_in(folder: Path) -> list[Path]:
    """The folders of labs in `folder` whose figures count, in the order taught."""
    return [folder / lab for lab in LABS if (folder / lab).is_dir()]


def check(folders: Sequence[Path], *, as_json: bool) -> int:
    """Check each lab, and print a table. The exit status is the worst of all labs."""
    worst, got, most = ALL_PASSED, 0.0, 0.0
    rows: list[tuple[str, ...]] = []
    found: dict[str, object] = {}
    with Worker() as worker:
        for folder in folders:
            judged = worker.judge(folder, folder.name)
            if isinstance(judged, NotGraded):
                worst = SOMETHING_NOT_GRADED
                rows.append((folder.name, "", "", f"not graded: {judged.reason}"))
                found[str(folder)] = {
                    "outcome": Outcome.NOT_GRADED.value,
                    "reason": judged.reason,
                }
                continue
            verdicts = judged.verdicts
            worst = max(worst, status(verdicts))
            got += sum(verdict.points for verdict in verdicts)
            most += sum(verdict.max_points for verdict in verdicts)
            rows.append(_row(folder.name, verdicts))
            found[str(folder)] = [verdict.as_json() for verdict in verdicts]
    if as_json:
        say_json(found)
        return worst
    table = Table(
        "All labs in this folder", ("lab", "passed", "points", "not right yet"), tuple(rows)
    )
    say(table.as_text(terminal.columns()))
    say(f"\n{points_as_text(got)} of {points_as_text(most)} points.")
    if worst != ALL_PASSED:
        # A lab that was begun comes first: False sorts before True.
        to_do = [(row[-1] == _NOTHING, n) for n, row in enumerate(rows) if row[-1]]
        first = folders[min(to_do)[1]]
        say(f"`grader check {first}` says more about {first.name}.")
    return worst


def _row(lab: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The lab, how many of its figures passed, its points, and what is not right yet."""
    passed = sum(verdict.outcome is Outcome.PASSED for verdict in verdicts)
    got = points_as_text(sum(verdict.points for verdict in verdicts))
    most = points_as_text(sum(verdict.max_points for verdict in verdicts))
    missing = sum(verdict.in_words == NOT_HANDED_IN for verdict in verdicts)
    wrong = [
        verdict.figure
        if verdict.outcome is not Outcome.NOT_GRADED
        else f"{verdict.figure} (not graded)"
        for verdict in verdicts
        if verdict.outcome is not Outcome.PASSED and verdict.in_words != NOT_HANDED_IN
    ]
    if missing == len(verdicts):
        wrong = [_NOTHING]
    elif missing:
        wrong.append(f"{missing} not handed in")
    return (lab, f"{passed} of {len(verdicts)}", f"{got} of {most}", ", ".join(wrong))
