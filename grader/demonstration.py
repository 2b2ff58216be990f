"""A demonstration class, graded with nbgrader: one lab, one student for each kind of submission.

`make class` runs it, and `make class LAB=03-system-call` uses another lab. Every step is nbgrader's
own command, in the order in which an instructor and the students would run them. `fill` puts such a
class into a course that exists, where its submissions wait to be graded.
"""

from __future__ import annotations

import copy
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbgrader.api import Gradebook
from traitlets.config import Config

from grader.cases.case import Case
from grader.cases.spec import FigureSpec
from grader.cases.verdict import Finding, Outcome
from grader.figures import LABS, figures_of
from grader.judging.check import open_case, open_relation
from grader.with_nbgrader.course import make_course
from grader.with_nbgrader.release import ReleaseError
from labs import paths, terminal
from labs.c_kernels.toolchain import CompileError, NoCompiler
from labs.course import figures
from labs.course.account import with_account
from labs.course.figures import Figure
from labs.html import in_columns
from labs.recording.file import Recording
from labs.run.c_process import RunFailed
from labs.run.measure import BadPlan, Plan, measure_now
from labs.terminal import say, suggestion

# The students of the demonstration class, and what each of them hands in.
#
# Each student starts from the released lab with honest answers and honest evidence. Then we add one
# problem for each student.

Notebook = dict[str, Any]
#: Puts an honest student's `figures.json` and `recordings/` of a lab into a folder.
Evidence = Callable[[str, Path], None]


class NoEvidence(Exception):
    """There are no recordings for a submission."""


@dataclass(frozen=True)
class Lab:
    """One lab of the demonstration's course: its name, source folder and released folder."""

    name: str
    source: Path
    released: Path


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


def make_submission(folder: Path, kind: str, lab: Lab, evidence: Evidence) -> None:
    """Fills `folder` with the submission of a student of `kind` (a key of STUDENTS) for `lab`.

    Raises NoEvidence, and KeyError for an unknown kind.
    """
    shutil.copytree(lab.released, folder, dirs_exist_ok=True)
    evidence(lab.name, folder)
    path = folder / f"{lab.name}.ipynb"
    path.write_text(json.dumps(_answered(lab, folder), indent=1), encoding="utf-8")
    STUDENTS[kind](folder, path, lab)


def _answered(lab: Lab, folder: Path) -> Notebook:
    """The released notebook with the author's answers in its answer cells.

    If the course has no solutions, a text names the figures that the student hands in.
    """
    answers = {_grade_id(cell): cell["source"] for cell in _read(lab.source / f"{lab.name}.ipynb")}
    notebook: Notebook = json.loads((lab.released / f"{lab.name}.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            unanswered = cell["source"] == answers[_grade_id(cell)]
            cell["source"] = answers[_grade_id(cell)]
            if unanswered and cell["cell_type"] == "markdown":
                cell["source"] = _report(folder)
    return notebook


def _report(folder: Path) -> str:
    """What a student of the demonstration writes who has no author's text."""
    stated = figures.read(folder).values()
    handed_in = [each for each in stated if isinstance(each, figures.Figure)]
    measured = [f"- {each.id}: {each.value:.3g} {each.unit}" for each in handed_in]
    return "\n".join(["I measured this on the machine of the demonstration:", "", *measured])


def _read(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return cells


def _grade_id(cell: dict[str, Any]) -> str | None:
    grade_id: str | None = cell["metadata"].get("nbgrader", {}).get("grade_id")
    return grade_id


def _honest(folder: Path, notebook: Path, lab: Lab) -> None:
    """Changes nothing."""


def _wrong_unit(folder: Path, notebook: Path, lab: Lab) -> None:
    """Gives the first figure that is a time a wrong unit."""
    path = folder / "figures.json"
    stated = json.loads(path.read_text("utf-8"))
    wrong = {"ns": "us", "us": "ns", "µs": "ns", "ms": "us"}
    # If no figure is a time, the first figure gets a unit of time.
    entries = [stated[name] for name in figures.read(folder)]
    entry = next((one for one in entries if one["unit"] in wrong), entries[0])
    entry["unit"] = wrong.get(entry["unit"], "ns")
    path.write_text(json.dumps(stated, indent=2), encoding="utf-8")


def _no_recording(folder: Path, notebook: Path, lab: Lab) -> None:
    """Removes all recordings."""
    shutil.rmtree(folder / "recordings")


def _untouched(folder: Path, notebook: Path, lab: Lab) -> None:
    """Hands in the released lab unchanged."""
    _no_recording(folder, notebook, lab)
    (folder / "figures.json").unlink()
    shutil.copy(lab.released / notebook.name, notebook)


def _tampered(folder: Path, notebook: Path, lab: Lab) -> None:
    """Duplicates, deletes, unlocks and adds cells, and raises points."""
    document: Notebook = json.loads(notebook.read_text("utf-8"))
    cells = document["cells"]
    tests = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade")]
    tests = [cell for cell in tests if not cell["metadata"]["nbgrader"]["solution"]]
    raised, gone = tests[0], tests[-1]
    raised["metadata"]["nbgrader"].update(points=1000, locked=False)
    raised["source"] = "1000"
    more = copy.deepcopy(raised)
    more["id"] = "a-test-of-my-own"
    more["metadata"]["nbgrader"]["grade_id"] = "a-test-of-my-own"
    cells += [copy.deepcopy(raised), more]
    if gone is not raised:
        cells.remove(gone)
    notebook.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _broken_json(folder: Path, notebook: Path, lab: Lab) -> None:
    """Truncates the notebook, as if saving had been interrupted."""
    text = notebook.read_text("utf-8")
    notebook.write_text(text[: len(text) // 2], encoding="utf-8")


def _no_notebook(folder: Path, notebook: Path, lab: Lab) -> None:
    """Removes the notebook, as if the student had worked on the command line."""
    notebook.unlink()


def _renamed(folder: Path, notebook: Path, lab: Lab) -> None:
    """Renames the notebook, as a browser or a mail program does with a copy."""
    notebook.rename(notebook.with_name(f"{lab.name} (1).ipynb"))


STUDENTS: dict[str, Callable[[Path, Path, Lab], None]] = {
    "honest": _honest,
    "unit-slip": _wrong_unit,
    "no-recording": _no_recording,
    "untouched": _untouched,
    "tampered": _tampered,
    "broken-json": _broken_json,
    "no-notebook": _no_notebook,
    "renamed": _renamed,
}


DEFAULT_LAB = "01-timer-overhead"
#: Only a checkout has them: the labs with their solutions are not for students, who have the wheel.
NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
_COURSE_ID = "ticklab"
_NOTE_WIDTH = 90
# nbgrader takes a few seconds. A step that takes longer than this has hung.
_PATIENCE_S = 300

_SETTINGS = """
# The exchange of the demonstration. All its students are one user, which nbgrader would report.
c.Exchange.root = {exchange!r}
c.ExchangeCollect.check_owner = False
"""


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


def main(folder: Path | None = None, lab: str = DEFAULT_LAB) -> int:
    """Runs the demonstration in `folder`, which must be new or empty, and prints its table.

    `lab` is the lab that its students hand in. Without `folder`, it uses a temporary folder. The
    exit status is 0 if every submission was processed; else 1, with a message.
    """
    if not any(NOTEBOOKS.glob("*/*.ipynb")):
        say(
            f"demonstration class: there are no labs with solutions in {NOTEBOOKS}. The class is "
            "made from them. They are in the repository of Ticklab and not in the installed "
            "package, which students have too. Run `make class` in the repository.",
            file=sys.stderr,
        )
        return 1
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


# Honest evidence without an author's notebook: it measures what a lab asks, and notes the figures.
#
# An installed package has no solutions, so nothing there can run a notebook as a student would. The
# C kernels are there. Figures of a student's own C are left out.

SAMPLES, PROCESSES = 500, 10


class MeasuredEvidence:
    """Evidence for one student after the other, each from runs of its own."""

    def __init__(self, samples: int = SAMPLES, processes: int = PROCESSES) -> None:
        self._samples, self._processes = samples, processes

    def __call__(self, lab: str, folder: Path) -> None:
        """Measures what `lab` asks, and puts figures and recordings into `folder`.

        Raises NoEvidence if nothing can be measured here.
        """
        cases: dict[str, Case] = {}
        recordings = folder / figures.RECORDINGS
        recordings.mkdir()
        for number, specs in enumerate(_by_run(demonstrable(lab)), start=1):
            path = recordings / f"run-{number}.csv"
            recording = with_account(self._measured(specs), path)
            recording.write(path)
            for spec in specs:
                cases |= _put(folder, spec, recording, f"{figures.RECORDINGS}/{path.name}")
        for spec in demonstrable(lab):
            if spec.of:
                cases |= _relate(folder, spec, cases)

    def _measured(self, specs: Sequence[FigureSpec]) -> Recording:
        names = dict.fromkeys(name for spec in specs for name in spec.variants + spec.compare_with)
        flags = (specs[0].flags,) if specs[0].flags else Plan(specs[0].kernel).flags
        plan = Plan(
            specs[0].kernel,
            tuple(names),
            samples=self._samples,
            processes=self._processes,
            flags=flags,
        )
        try:
            return measure_now(plan)
        except (NoCompiler, CompileError, RunFailed, BadPlan, OSError) as error:
            raise NoEvidence(f"{specs[0].kernel} cannot be measured here: {error}") from error


def demonstrable(lab: str) -> list[FigureSpec]:
    """The figures of `lab` that need no C of a student's own, in the order of the lab."""
    found: dict[str, FigureSpec] = {}
    for spec in figures_of(lab):
        if not spec.own and not spec.demonstrates and all(name in found for name in spec.of):
            found[spec.id] = spec
    return list(found.values())


def _by_run(specs: Sequence[FigureSpec]) -> list[list[FigureSpec]]:
    """The figures that one run can show: those of one C kernel with the same flags."""
    runs: dict[tuple[str, str, tuple[str, ...]], list[FigureSpec]] = {}
    for spec in specs:
        if not spec.of:
            runs.setdefault((spec.kernel, spec.flags, spec.variants), []).append(spec)
    return list(runs.values())


def _put(folder: Path, spec: FigureSpec, recording: Recording, path: str) -> dict[str, Case]:
    return _noted(folder, spec, path, lambda figure: open_case(spec, figure, recording))


def _relate(folder: Path, spec: FigureSpec, cases: Mapping[str, Case]) -> dict[str, Case]:
    return _noted(folder, spec, None, lambda figure: open_relation(spec, figure, cases))


def _noted(
    folder: Path, spec: FigureSpec, path: str | None, opened: Callable[[Figure], Case | Finding]
) -> dict[str, Case]:
    """Notes the figure as an honest student would; nothing if the evidence gives no figure."""
    asked = opened(Figure(spec.id, 0.0, spec.unit, path))
    if not isinstance(asked, Case) or asked.expected is None:
        return {}
    figure = Figure(spec.id, asked.expected.value, spec.unit, path)
    figures.put(folder, figure)
    noted = opened(figure)
    return {spec.id: noted} if isinstance(noted, Case) else {}


# Fills a course with a made-up class, whose submissions of one lab wait to be graded.


class CannotFill(Exception):
    """The class cannot be put into the course; the message says why."""


def must_be_fillable(course: Path, lab: str) -> None:
    """Raises CannotFill unless `lab` has figures and nobody has handed in anything."""
    if lab not in LABS:
        raise CannotFill(f"no figures are asked in {lab}{suggestion(lab, tuple(LABS))}")
    submitted = course / "submitted"
    if submitted.is_dir() and any(submitted.iterdir()):
        raise CannotFill(
            f"{submitted} is not empty. A made-up class belongs only into a new course: name "
            "another folder"
        )


def fill(course: Path, lab: str, evidence: Evidence | None = None) -> str:
    """Generates `lab` in `course` and hands it in for each student; returns what to report.

    `evidence` is as for `make_submission`; if it is None, each student measures here and now.
    Raises CannotFill; then nobody has handed in anything.
    """
    _generate(course, lab)
    parts = Lab(lab, course / "source" / lab, course / "release" / lab)
    with tempfile.TemporaryDirectory(dir=course, prefix=".class-") as scratch:
        made = Path(scratch) / "submitted"
        try:
            for student in STUDENTS:
                folder = made / student / lab
                make_submission(folder, student, parts, evidence or MeasuredEvidence())
                now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
                (folder / "timestamp.txt").write_text(f"{now} UTC", encoding="utf-8")
        except NoEvidence as error:
            raise CannotFill(f"the made-up class cannot measure {lab}: {error}") from error
        made.rename(course / "submitted")  # fails if somebody has collected meanwhile
    asked, handed_in = len(figures_of(lab)), len(demonstrable(lab))
    all_of_it = "all" if asked == handed_in else f"{handed_in} of"
    left_out = "" if asked == handed_in else ", and left out what needs C of their own"
    return (
        f"{len(STUDENTS)} made-up students have handed in {lab}. Each measured {all_of_it} its "
        f"{asked} figures on this machine{left_out}. All but the student `honest` then changed "
        "something; the names say what."
    )


def _generate(course: Path, lab: str) -> None:
    """Runs nbgrader's generate_assignment in the course, unless the lab is generated already."""
    if (course / "release" / lab / f"{lab}.ipynb").is_file():
        return
    command = paths.python_command("nbgrader", "generate_assignment", lab)
    done = paths.run(command, _PATIENCE_S, course)
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-15:])
        raise CannotFill(f"nbgrader generate_assignment {lab} failed:\n{last}")
