"""Gradescope's autograder: the verdicts on one submission, at once. No code of a student runs.

`grader gradescope LAB` writes the zip file whose `run_autograder` starts this program. What it
reads and writes is described in https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.cases.verdict import Outcome, Verdict
from grader.evening.uploads import Given, NotTaken, opened_folder, versions, written
from grader.judging.presentation import points_as_text
from grader.judging.worker import NotGraded, Shown, Ways, Worker
from labs import paths
from labs.course import lab_names
from labs.files import write_atomically
from labs.html import image_address, inline

_AUTOGRADER = Path("/autograder")
# As a student's own check: it does not say which conclusion is right, because all may try again.
_WAYS = Ways(presenter="grader.judging.presentation")
_PLOT = '<p><img src="{{ address }}" alt="{{ words }}" style="max-width:100%"></p>'


class NoVerdict(Exception):
    """Why a submission has no result: a person must look, and 0 points would be a grade."""


def main(words: list[str]) -> None:
    """Writes results/results.json for the lab that `words` names.

    Where our own check fails, it writes none, and the exit status is 1: Gradescope then shows no
    score, and the instructor sees why.
    """
    target = _AUTOGRADER / "results" / "results.json"
    target.unlink(missing_ok=True)
    try:
        found = results(_AUTOGRADER / "submission", words[0])
    except NoVerdict as error:
        raise SystemExit(f"No result was written: {error}") from error
    target.parent.mkdir(exist_ok=True)
    write_atomically(target, json.dumps(found, indent=1).encode("ascii") + b"\n")


def results(submission: Path, lab: str) -> dict[str, Any]:
    """The content of results.json for what was handed in. Raises NoVerdict and OSError."""
    with tempfile.TemporaryDirectory(prefix="ticklab-") as scratch, Worker(ways=_WAYS) as worker:
        folder = Path(scratch) / lab
        notes = _take(submission, lab, folder)
        judged = worker.judge(folder, lab)
    if isinstance(judged, NotGraded):
        raise NoVerdict(f"{judged.reason}. {judged.log}")
    waiting = [each for each in judged.verdicts if each.outcome is Outcome.NOT_GRADED]
    if waiting:
        reasons = "; ".join(f"{each.figure}: {each.reason}" for each in waiting)
        raise NoVerdict(f"{reasons} {judged.log}")
    by_person = answers_for_a_person(lab)
    got = sum(each.points for each in judged.verdicts)
    most = points_as_text(sum(each.max_points for each in judged.verdicts))
    summary = [f"{lab}: {points_as_text(got)} of {most} points for figures."]
    if by_person:
        waits = points_as_text(sum(by_person.values()))
        summary.append(f"Answers with {waits} points wait for a person.")
    return {
        # Without this sum, Gradescope would want a score of each test, also of those that wait.
        "score": round(got, 4),
        "output": "\n".join([*summary, *notes]),
        "output_format": "text",
        "tests": [
            *(_test(each, judged.shown[each.figure]) for each in judged.verdicts),
            *(_waits(name, points) for name, points in by_person.items()),
        ],
    }


def answers_for_a_person(lab: str) -> dict[str, float]:
    """The points of each answer that a person grades, by its id. Raises PartMissing."""
    text = (paths.released() / lab / f"{lab}.ipynb").read_text(encoding="utf-8")
    cells = [cell["metadata"].get("nbgrader", {}) for cell in json.loads(text)["cells"]]
    return {
        cell["grade_id"]: float(cell["points"])
        for cell in cells
        if cell.get("grade") and cell.get("solution")
    }


def _take(submission: Path, lab: str, folder: Path) -> list[str]:
    """Copies the submission into the new `folder`; returns what a student should know of it.

    What cannot be taken is judged as an empty folder: the student can hand in again at once.
    """
    scratch = folder.parent
    try:
        with opened_folder(submission) as items:
            given = [
                Given(item.parts, item)
                for item in items
                if not item.is_folder and item.parts[0] != ".git"  # of a submission from GitHub
            ]
            with versions(given, lab, lab_names.labs(), scratch) as found:
                newest = found[-1]
                _, left_out = written(newest, folder)
                return [*filter(None, [newest.question]), *left_out]
    except NotTaken as error:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return [
            f"Nothing was taken of this submission: {error}.",
            "Hand in the zip file that `labs hand-in` makes.",
        ]


def _test(verdict: Verdict, view: Shown) -> dict[str, Any]:
    page = view.page
    if view.plot:
        words = f"Plot of the recording of figure {verdict.figure}"
        page += inline(_PLOT, address=image_address(view.plot), words=words)
    return {
        "name": verdict.figure,
        "score": round(verdict.points, 4),
        "max_score": verdict.max_points,
        "status": "passed" if verdict.outcome is Outcome.PASSED else "failed",
        "output": page,
        "output_format": "html",
    }


def _waits(name: str, points: float) -> dict[str, Any]:
    text = f"A person grades this part: {points_as_text(points)} points."
    return {"name": name, "output": text, "output_format": "text"}


if __name__ == "__main__":
    main(sys.argv[1:])
