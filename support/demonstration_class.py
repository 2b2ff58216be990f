"""`make class`: a demonstration class, graded with nbgrader from the source to the feedback.

`make class LAB=03-system-call` uses another lab. Every step is nbgrader's own command, in the order
in which an instructor and the students would run them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbgrader.api import Gradebook
from traitlets.config import Config

from grader.demonstration import STUDENTS, Evidence, Lab, NoEvidence, make_submission
from grader.figures import LABS
from grader.figures.verdict import Outcome
from grader.with_nbgrader.course import make_course
from grader.with_nbgrader.release import ReleaseError
from labs import paths, terminal
from labs.html import in_columns
from labs.terminal import say
from support.paths import REPOSITORY

NOTEBOOKS = REPOSITORY / "notebooks"
_COURSE_ID = "ticklab"
_NOTE_WIDTH = 90
# nbgrader takes a few seconds. A step that takes longer than this has hung.
_PATIENCE_S = 500

_SETTINGS = """
# The exchange of the demonstration. All its students are one user, which nbgrader would report.
c.Exchange.root = {exchange!r}
c.ExchangeCollect.check_owner = False
"""


class LiveEvidence:
    """Fresh evidence: it runs the author's notebook as an honest student would.

    The notebook runs once, and every student of the class gets a copy of the evidence. `source` is
    the folder of the source notebooks. Raises NoEvidence if the notebook fails.
    """

    def __init__(self, source: Path, scratch: Path) -> None:
        self._source = source
        self._scratch = scratch
        self._lock = threading.Lock()

    def __call__(self, lab: str, folder: Path) -> None:
        made = self._scratch / lab
        with self._lock:
            if not made.exists():
                self._run(lab, made)
        shutil.copy(made / "figures.json", folder)
        shutil.copytree(made / "recordings", folder / "recordings")

    def _run(self, lab: str, made: Path) -> None:
        running = made.with_name(f"{lab}.running")
        shutil.copytree(self._source / lab, running)
        notebook = nbformat.read(running / f"{lab}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
        client = NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": running}},
            # Encrypt if possible: without encryption, the Jupyter kernel prints long warnings.
            config=Config({"KernelManager": {"transport_encryption": "auto"}}),
        )
        try:
            client.execute()
        except (CellExecutionError, OSError, RuntimeError) as error:
            raise NoEvidence(f"the notebook of {lab} does not run here: {error}") from error
        running.rename(made)


class StepFailed(Exception):
    """A step of nbgrader failed; the message has its last lines of output."""


@dataclass(frozen=True)
class Row:
    """One submission as the table shows it; `points` is None if it was not processed."""

    student: str
    points: float | None
    max_points: float
    outcome: str
    findings: tuple[str, ...]
    notes: tuple[str, ...]


class DemonstrationClass:
    """A course folder, an exchange and the students' folders, all below `folder`."""

    def __init__(
        self,
        folder: Path,
        source: Path,
        lab: str,
        evidence: Evidence,
        settings: str = "",
    ) -> None:
        """Makes the course from the labs under `source`; `settings` are added to its settings.

        Raises OSError if it cannot be written.
        """
        self.folder = folder.absolute()
        self.course = self.folder / "course"
        self.exchange = self.folder / "exchange"
        self.lab = Lab(lab, self.course / "source" / lab, self.course / "release" / lab)
        self._evidence = evidence
        self.exchange.mkdir(parents=True)
        # nbgrader requires that everybody may write to the exchange.
        self.exchange.chmod(0o777)
        make_course(self.course, source)
        config = self.course / "nbgrader_config.py"
        text = config.read_text(encoding="utf-8") + _SETTINGS.format(exchange=str(self.exchange))
        config.write_text(text + settings, encoding="utf-8")

    def run(self) -> list[Row]:
        """Runs all steps from the instructor's source to feedback; returns one row per student.

        Raises StepFailed if nbgrader fails, and NoEvidence if there is nothing to hand in.
        """
        self._nbgrader(self.course, "generate_assignment", self.lab.name)
        self._nbgrader(self.course, "release_assignment", self.lab.name)
        # Two at a time: each one starts a process, which takes a second.
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(self._hand_in, STUDENTS))
        for step in ("collect", "autograde", "generate_feedback"):
            self._nbgrader(self.course, step, self.lab.name)
        return [self.row(student) for student in STUDENTS]

    def _hand_in(self, student: str) -> None:
        """Makes one student's folder and submits it as the student would."""
        home = self.folder / "students" / student
        make_submission(home / self.lab.name, student, self.lab, self._evidence)
        self._nbgrader(
            home,
            "submit",
            self.lab.name,
            f"--student={student}",
            f"--course={_COURSE_ID}",
            f"--Exchange.root={self.exchange}",
            f"--Exchange.cache={home / '.cache'}",
        )

    def _nbgrader(self, folder: Path, *arguments: str) -> None:
        """Runs one nbgrader command in `folder`, without settings of the user or the system."""
        jupyter = self.folder / "jupyter"
        jupyter.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "JUPYTER_NO_CONFIG": "1",
            "TMPDIR": str(jupyter),  # where Jupyter then makes a folder for settings
            "JUPYTER_DATA_DIR": str(jupyter),
        }
        command = paths.python_command("nbgrader", *arguments)
        done = paths.run(command, _PATIENCE_S, folder, environment)
        with (self.folder / "nbgrader.log").open("a", encoding="utf-8") as log:
            log.write(f"$ nbgrader {' '.join(arguments)}\n{done.stderr}{done.stdout}\n")
        if done.returncode:
            last = "\n".join(done.stderr.splitlines()[-15:])
            raise StepFailed(f"nbgrader {' '.join(arguments)} failed:\n{last}")

    def row(self, student: str) -> Row:
        """The row of one submission, from the gradebook and the graded notebook."""
        name = self.lab.name
        graded = self.course / "autograded" / student / name / f"{name}.ipynb"
        feedback = self.course / "feedback" / student / name / f"{name}.html"
        if not graded.is_file() or not feedback.is_file():
            return Row(student, None, 0.0, "not processed", (), ())
        notebook: dict[str, Any] = json.loads(graded.read_text(encoding="utf-8"))
        verdicts = [
            cell["metadata"]["ticklab"]
            for cell in notebook["cells"]
            if "ticklab" in cell["metadata"]
        ]
        with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}") as gradebook:
            grades = {
                grade.name: grade.auto_score
                for grade in gradebook.find_submission_notebook(name, name, student).grades
            }
        return Row(
            student,
            sum(grades[verdict["figure"]] or 0.0 for verdict in verdicts),
            sum(verdict["max_points"] for verdict in verdicts),
            _worst(verdict["outcome"] for verdict in verdicts),
            tuple(dict.fromkeys(code for verdict in verdicts for code in verdict["findings"])),
            tuple(notebook["metadata"]["ticklab"]["set_aside"]),
        )


def _worst(outcomes: Iterable[str]) -> str:
    """The worst outcome of all figures: not graded, then failed, then passed."""
    found = set(outcomes)
    for outcome in (Outcome.NOT_GRADED, Outcome.FAILED, Outcome.PASSED):
        if outcome.value in found:
            return str(outcome.value)
    return "no figures"


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """The rows as text under a heading, one line for each submission if they fit `width`."""
    cells = [("student", "points", "outcome", "findings", "left out")]
    for row in rows:
        points = "-" if row.points is None else f"{row.points:g} / {row.max_points:g}"
        notes = "; ".join(row.notes).replace("\u2060", "")
        if len(notes) > _NOTE_WIDTH:
            notes = notes[: _NOTE_WIDTH - 3] + "..."
        findings = ", ".join(row.findings) or "-"
        cells.append((row.student, points, row.outcome, findings, notes or "-"))
    lines = in_columns(cells, width=width)
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def main(folder: Path | None, lab: str) -> int:
    """Runs the demonstration in `folder`, which must be new or empty, and prints its table.

    `lab` is the lab that its students hand in. Without `folder`, it uses a temporary folder. The
    exit status is 0 if every submission was processed; else 1, with a message.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="ticklab-class-") as scratch:
            return _demonstrate(Path(scratch) / "class", lab, keep=False)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        say(f"{folder} is not an empty folder; name a new one", file=sys.stderr)
        return 1
    return _demonstrate(folder, lab, keep=True)


def _demonstrate(folder: Path, lab: str, keep: bool) -> int:
    """Runs the class and prints its table; `keep` says whether the folder is kept."""
    try:
        evidence = LiveEvidence(NOTEBOOKS, folder / "honest")
        demonstration = DemonstrationClass(folder, NOTEBOOKS, lab, evidence)
        rows = demonstration.run()
    except (StepFailed, NoEvidence, ReleaseError, OSError, subprocess.TimeoutExpired) as error:
        say(f"demonstration class: {error}", file=sys.stderr)
        return 1
    say(table(rows, terminal.columns()))
    say("\nAll students share one set of runs, so that feedback flags them as copies.")
    if keep:
        say(f"\nFeedback: {demonstration.course / 'feedback'}")
        say(f"Output of nbgrader: {demonstration.folder / 'nbgrader.log'}")
    return 0 if all(row.points is not None for row in rows) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m support.demonstration_class")
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--lab", choices=tuple(LABS), default="01-timer-overhead", metavar="LAB")
    asked = parser.parse_args()
    sys.exit(main(asked.folder, asked.lab))
