"""The students of the demonstration class, and what each of them hands in.

Each student starts from the released lab with honest answers and honest evidence. Then we add one
problem for each student.
"""

from __future__ import annotations

import copy
import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

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
    figures = json.loads((folder / "figures.json").read_text("utf-8"))
    measured = [f"- {name}: {one['value']:.3g} {one['unit']}" for name, one in figures.items()]
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
    figures = json.loads(path.read_text("utf-8"))
    wrong = {"ns": "us", "us": "ns", "µs": "ns", "ms": "us"}
    # If no figure is a time, the first figure gets a unit of time.
    first = next(iter(figures.values()))
    figure = next((one for one in figures.values() if one["unit"] in wrong), first)
    figure["unit"] = wrong.get(figure["unit"], "ns")
    path.write_text(json.dumps(figures, indent=2), encoding="utf-8")


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
