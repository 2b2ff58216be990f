"""`python -m bench.labs.solved_lab LAB FOLDER [--once]`: run a lab's solved notebook, and grade it.

FOLDER is a new copy of the lab. The outcome is printed as one line of JSON, for a program to read.
On a busy machine a run may give no figure, and its student makes that run again: so does this one,
unless every run is to be made once only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from grader.figures import LABS
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader.release import LEFT_BY_RUNNING
from labs.notebook.run import Run
from labs.notebook.session import Session, begin_with
from labs.run.measure import Plan
from support.paths import REPOSITORY

NOTEBOOKS = REPOSITORY / "notebooks"
CELL_LIMIT_S = 300

#: How often a run without a figure is made again, and where that is written down.
MOST_AGAIN = 9
MADE_AGAIN = "made-again"
_FIRST_CELL = "from bench.labs import solved_lab\nsolved_lab.install()"


@dataclass(frozen=True)
class Solved:
    """How a lab went: its points, of how many.

    `stops` says by cell why its run ended early, `notes` what the machine cannot show and what is
    noted of its runs, `lost` by figure why points are missing, `reasons` by figure what its verdict
    says. `again` is how many runs were made again until they gave a figure; some are meant to give
    none.
    """

    points: float
    possible: float
    stops: dict[str, str]
    notes: list[str]
    lost: dict[str, str]
    reasons: dict[str, str]
    again: int = 0


def labs_in_order(numbers: Sequence[str] = ()) -> list[str]:
    """The names of the labs with these numbers, such as 09; of all labs if none is given."""
    labs = sorted(path.name for path in NOTEBOOKS.iterdir() if path.is_dir())
    return [lab for lab in labs if not numbers or lab[:2] in numbers]


def has_held(solved: Solved) -> bool:
    """Whether no cell stopped and no point was lost."""
    return not solved.stops and solved.points == solved.possible


def as_text(solved: Solved) -> str:
    """Points reached, of how many, with the runs that were made again; of a lab without figures,
    whether it went to its end."""
    text = f"{solved.points:g} of {solved.possible:g}" if solved.possible else "runs"
    text = "stops" if solved.stops and not solved.possible else text
    return f"{text}, {solved.again} again" if solved.again else text


class PatientSession(Session):
    """A session whose student makes a run again that gave no figure."""

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """As a session does, a few times at the most."""
        for again in range(1 + MOST_AGAIN):
            runs = super().carry_out_in_turns(plans, saves, unit)
            if all(result.estimate is not None for run in runs for result in run.results):
                with (self.folder / MADE_AGAIN).open("a") as made:
                    for run in runs:
                        made.write(f"{run.recording.kernel} {run.variant}\n" * again)
                break
        return runs


def install() -> None:
    """Make `start` begin a patient session."""
    begin_with(PatientSession)


def solve(lab: str, folder: Path, *, patient: bool = True) -> Solved:
    """Run the author's notebook of `lab` in `folder`, to its end whatever happens, and grade it.

    A patient student makes a run without a figure again.
    """
    shutil.copytree(NOTEBOOKS / lab, folder, ignore=shutil.ignore_patterns(*LEFT_BY_RUNNING))
    notebook = nbformat.read(folder / f"{lab}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    if patient:
        first = nbformat.v4.new_code_cell(_FIRST_CELL, id="bench")  # type: ignore[no-untyped-call]
        notebook.cells.insert(0, first)
    client = NotebookClient(
        notebook,
        timeout=CELL_LIMIT_S,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),
    )
    client.execute(env={**os.environ, "PYTHONPATH": str(REPOSITORY)})
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    verdicts = check_folder(folder, lab) if lab in LABS else []
    return Solved(
        points=sum(each.points for each in verdicts),
        possible=sum(each.max_points for each in verdicts),
        stops={cell.id: why for cell in code if (why := _stop(cell))},
        notes=[*_cannot_show(code), *_notes(code)],
        lost={
            each.figure: ", ".join(finding.code for finding in each.findings) or each.reason
            for each in verdicts
            if each.outcome is not Outcome.PASSED
        },
        reasons={each.figure: each.reason for each in verdicts},
        again=len(made.read_text().splitlines()) if (made := folder / MADE_AGAIN).exists() else 0,
    )


def _stop(cell: NotebookNode) -> str:
    """Why the run of a cell ended early, in one line; empty where it did not."""
    for output in cell.outputs:
        if output.output_type == "error":
            return " ".join(f"{output.ename}: {output.evalue}".split())[:300]
        if output.output_type == "stream" and output.name == "stderr":
            return " ".join(str(output.text).split())[:300]
    return ""


def _cannot_show(code: list[NotebookNode]) -> list[str]:
    """The sentences of the machine card about what this machine cannot show."""
    for cell in code:
        for output in cell.outputs:
            page = str(output.get("data", {}).get("text/html", ""))
            _, found, rest = page.partition("What this machine cannot show:")
            if found:
                return re.findall(r"<li>(.*?)</li>", rest)
    return []


def _notes(code: list[NotebookNode]) -> list[str]:
    """How the notes of the kit are headed that say what is so here, on this machine; each once."""
    pages = (
        str(output.get("data", {}).get("text/html", "")) for cell in code for output in cell.outputs
    )
    found = (each for page in pages for each in re.findall(r"<strong>Note: (.*?)</strong>", page))
    return list(dict.fromkeys(each for each in found if re.search(r"\bhere\b", each)))


if __name__ == "__main__":
    lab, folder, *once = sys.argv[1:]
    print(json.dumps(asdict(solve(lab, Path(folder), patient=not once))))
