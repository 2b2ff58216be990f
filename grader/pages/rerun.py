"""Run the author's notebook of a lab on its saved recordings, and keep the output of each cell."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from grader.cases.verdict import Outcome
from grader.figures import LABS
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader.release import LEFT_BY_RUNNING
from labs.common import paths
from labs.course import figures

Outputs = list[dict[str, Any]]

_CELL_LIMIT_S = 120
_LONGEST_TROUBLE = 400
_REPOSITORY = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Rerun:
    """By cell id, the output of the cell, and the reason if it could not run."""

    outputs: Mapping[str, Outputs]
    troubles: Mapping[str, str]


def rerun(source: Path, saved: Path) -> Rerun:
    """Run the notebook in the lab folder `source` on the recordings in `saved`; measures nothing.

    A cell whose recording is missing has a trouble instead of outputs, and so has every cell that
    needs it. Raises OSError, and RuntimeError if no Jupyter kernel starts.
    """
    with tempfile.TemporaryDirectory(prefix="ticklab-page-") as scratch:
        folder = _copy(source, Path(scratch))
        place = str(saved.absolute() / figures.RECORDINGS)
        done = _run(folder, f"from grader.pages import saved\nsaved.install({place!r})")
        return replace(done, outputs=_without_places(done.outputs, Path(scratch)))


def record(source: Path, destination: Path) -> Rerun:
    """Run the notebook in the lab folder `source`, with short runs, and keep its evidence.

    If nothing went wrong and the figures get all their points, this replaces `figures.json` and
    `recordings/` under `destination`. Otherwise the troubles say what went wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ticklab-record-") as scratch:
        folder = _copy(source, Path(scratch))
        done = _run(folder, "from grader.pages import saved\nsaved.install_short()")
        verdicts = check_folder(folder, source.name) if source.name in LABS else []
        failed = {v.figure: v.reason for v in verdicts if v.outcome is not Outcome.PASSED}
        done = Rerun(done.outputs, {**done.troubles, **failed})
        if not done.troubles:
            destination.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(destination / figures.RECORDINGS, ignore_errors=True)
            shutil.copytree(folder / figures.RECORDINGS, destination / figures.RECORDINGS)
            shutil.copy(folder / figures.FILE_NAME, destination)
        return done


def _without_places(outputs: Mapping[str, Outputs], scratch: Path) -> Mapping[str, Outputs]:
    """The same text with a reader's folders in place of those of this machine."""
    home = str(Path.home())
    places = {
        str(scratch): "~/ticklab-labs",
        str(paths.cache()): "~/.cache/ticklab",
        **({home: "~"} if len(Path(home).parts) > 1 else {}),
    }
    text = json.dumps(outputs)
    for place, replacement in places.items():
        text = text.replace(json.dumps(place)[1:-1], replacement)
    cleaned: Mapping[str, Outputs] = json.loads(text)
    return cleaned


def _copy(source: Path, scratch: Path) -> Path:
    """A copy of the lab, without files that a run left."""
    folder = scratch / source.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_BY_RUNNING))
    return folder


def _run(folder: Path, first: str) -> Rerun:
    """Run the notebook in `folder` after a first cell `first`; it continues after errors."""
    path = folder / f"{folder.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    builder_cell = nbformat.v4.new_code_cell(first, id="builder")  # type: ignore[no-untyped-call]
    notebook.cells.insert(0, builder_cell)
    client = NotebookClient(
        notebook,
        timeout=_CELL_LIMIT_S,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        # Encrypt if possible: without encryption, the Jupyter kernel prints long warnings.
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),
    )
    known = os.environ.get("PYTHONPATH")
    paths = [str(_REPOSITORY), *([known] if known else [])]
    client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return Rerun(
        {cell.id: [dict(each) for each in cell.outputs] for cell in code},
        {cell.id: trouble for cell in code if (trouble := _trouble(cell))},
    )


def _trouble(cell: NotebookNode) -> str:
    """Why a cell failed, in one line; empty if it did not fail."""
    for output in cell.outputs:
        if output.output_type == "error":
            # The first line of a message says what went wrong, and those below it why.
            return " ".join(f"{output.ename}: {output.evalue}".split())[:_LONGEST_TROUBLE]
        if output.output_type == "stream" and output.name == "stderr":
            return str(output.text).strip().splitlines()[0]
    return ""
