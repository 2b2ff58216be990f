"""A made-up class: one lab, one student for each kind of submission.

`fill` puts such a class into a course that exists, where its submissions wait to be graded.
`support.demonstration_class` takes one through all of nbgrader's steps.
"""

from __future__ import annotations

import copy
import datetime
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.figures import LABS, figures_of
from grader.figures.case import Case
from grader.figures.spec import FigureSpec
from grader.figures.verdict import Finding
from grader.judging.check import open_case, open_relation
from labs import paths
from labs.c_kernels.toolchain import CompileError, NoCompiler
from labs.course import figures
from labs.course.account import with_account
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.run.c_process import RunFailed
from labs.run.measure import BadPlan, Plan, measure_now
from labs.terminal import suggestion

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
    solved = json.loads((lab.source / f"{lab.name}.ipynb").read_text("utf-8"))
    answers = {_grade_id(cell): cell["source"] for cell in solved["cells"]}
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
    handed_in = [each for each in figures.read(folder).values() if isinstance(each, figures.Figure)]
    measured = [f"- {each.id}: {each.value:.3g} {each.unit}" for each in handed_in]
    return "\n".join(["I measured this on the machine of the demonstration:", "", *measured])


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


# nbgrader takes a few seconds. A step that takes longer than this has hung.
_PATIENCE_S = 300


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
                opened = partial(open_case, spec, recording=recording)
                cases |= _noted(folder, spec, f"{figures.RECORDINGS}/{path.name}", opened)
        for spec in demonstrable(lab):
            if spec.of:
                cases |= _noted(folder, spec, None, partial(open_relation, spec, cases=cases))

    def _measured(self, specs: Sequence[FigureSpec]) -> Recording:
        names = dict.fromkeys(name for spec in specs for name in spec.variants + spec.compare_with)
        kernel, level = specs[0].kernel, specs[0].flags
        plan = Plan(kernel, tuple(names), samples=self._samples, processes=self._processes)
        try:
            return measure_now(replace(plan, flags=(level,)) if level else plan)
        except (NoCompiler, CompileError, RunFailed, BadPlan, OSError) as error:
            raise NoEvidence(f"{kernel} cannot be measured here: {error}") from error


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
