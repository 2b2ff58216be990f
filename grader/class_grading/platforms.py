"""Has Gradescope and GitHub Classroom check figures at once. No code of a student runs.

`grader gradescope LAB` writes a zip file whose `run_autograder` starts this program, which gives
the verdicts on one submission. What it reads and writes is described in
https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from grader.class_grading.grade_exports import NotAnExport, new_zip
from grader.class_grading.upload_names import GITHUB_FOLDER
from grader.class_grading.uploaded_archives import Given, NotTaken, opened_folder, versions, written
from grader.figures.verdict import Outcome, Verdict
from grader.judging.presentation import points_as_text
from grader.judging.worker import NotGraded, Shown, Ways, Worker
from labs import paths
from labs.course import lab_names
from labs.files import write_atomically
from labs.html import image_address, inline
from labs.version import __version__

_AUTOGRADER = Path("/autograder")
# As a student's own check: it does not say which conclusion is right, because all may try again.
_WAYS = Ways(presenter="grader.judging.presentation")
_PLOT = '<p><img src="{{ address | safe }}" alt="{{ words }}" style="max-width:100%"></p>'


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


# What other platforms need to check figures by themselves: Gradescope, and GitHub Classroom.
#
# Both get the Ticklab that runs here, as a wheel, and the list of versions that it needs. So their
# verdicts are those of `grader check` on this machine.

_PACKAGES = Path(__file__).resolve().parent.parent.parent
_LOCK = "requirements.lock"
_WHEEL = f"ticklab-{__version__}-py3-none-any.whl"
#: A fixed time, so that the same files make the same archive.
_TIME = (2000, 1, 1, 0, 0, 0)
#: Whoever unpacks it may run it.
_PROGRAM = 0o100755 << 16

_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the image.
set -euo pipefail
cd "$(dirname "$0")"
usable() {
    python3 -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info < (3, 14))'
}
usable 2>/dev/null || { apt-get update && apt-get install -y python3 python3-venv; }
usable || { echo "Ticklab needs Python 3.10 to 3.13: choose a newer image of Ubuntu." >&2; exit 1; }
python3 -m venv /opt/ticklab
pip="/opt/ticklab/bin/python -m pip install --no-cache-dir --no-deps"
$pip --require-hashes -r requirements.lock
$pip ticklab-*.whl
"""
# -I: no module and no setting comes from the folder in which it starts, or from its environment.
_RUN = """\
#!/bin/sh
# Gradescope runs this for each submission. No code of a student runs.
exec /opt/ticklab/bin/python -I -m grader.class_grading.platforms {lab}
"""


def write_autograder(lab: str, path: Path) -> None:
    """Writes the zip file that Gradescope takes as an autograder for `lab`.

    Raises PartMissing, CannotWrite and OSError.
    """
    with new_zip(path) as archive:
        for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN.format(lab=lab))):
            info = zipfile.ZipInfo(name, _TIME)
            info.external_attr = _PROGRAM
            archive.writestr(info, text)
        archive.writestr(zipfile.ZipInfo(_LOCK, _TIME), _lock(), zipfile.ZIP_DEFLATED)
        with archive.open(zipfile.ZipInfo(_WHEEL, _TIME), "w") as file:
            _write_wheel(file)


# A repository from which GitHub Classroom makes one for each student.

_INSTALLED = f"{GITHUB_FOLDER}/ticklab"
_WORKFLOW = """\
# Checks the figures after each push. The verdicts are the summary of this job.
name: check
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
          cache: pip
          cache-dependency-path: {folder}/requirements.lock
      - name: Install Ticklab
        run: |
          python -m pip install --no-deps --require-hashes -r {folder}/requirements.lock
          python -m pip install --no-deps {folder}/ticklab-*.whl
      - name: Check the figures
        run: grader check --github {lab}
"""


def write_classroom(lab: str, folder: Path, course: Path) -> None:
    """Writes the template of a repository for `lab` into the new or empty `folder`.

    The lab is the one that `course` has released, or else that of this package. Raises NotAnExport,
    PartMissing and OSError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotAnExport(f"{folder} is not empty; name a new folder")
    released = course / "release" / lab
    shutil.copytree(released if released.is_dir() else paths.released() / lab, folder / lab)
    workflows, installed = folder / GITHUB_FOLDER / "workflows", folder / _INSTALLED
    workflows.mkdir(parents=True)
    installed.mkdir()
    workflow = _WORKFLOW.format(lab=lab, folder=_INSTALLED)
    (workflows / "check.yml").write_text(workflow, encoding="utf-8")
    (installed / _LOCK).write_bytes(_lock())
    with (installed / _WHEEL).open("wb") as file:
        _write_wheel(file)


# The wheel. It is made of the files that run here, also in a checkout, where no wheel was built.


def _lock() -> bytes:
    """The versions of all packages that Ticklab needs, with their hashes. Raises PartMissing."""
    for folder in (_PACKAGES / "grader", _PACKAGES):
        if (folder / _LOCK).is_file():
            return (folder / _LOCK).read_bytes()
    raise paths.PartMissing(f"{_LOCK} is missing in {_PACKAGES}. Reinstall Ticklab.")


def _write_wheel(file: IO[bytes]) -> None:
    """Writes a wheel of the packages, the C kernels and the released labs. Raises PartMissing."""
    found = dict(_files())
    info = f"ticklab-{__version__}.dist-info"
    distribution = importlib.metadata.distribution("ticklab")
    for name in ("METADATA", "WHEEL", "entry_points.txt"):
        found[f"{info}/{name}"] = (distribution.read_text(name) or "").encode()
    record = "".join(f"{name},sha256={_hash(found[name])},{len(found[name])}\n" for name in found)
    found[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in found.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)


def _files() -> Iterator[tuple[str, bytes]]:
    """The files of a wheel by name; in a checkout, some of them lie outside of the packages."""
    yield f"grader/{_LOCK}", _lock()
    for name, folder in (
        ("labs", _PACKAGES / "labs"),
        ("grader", _PACKAGES / "grader"),
        ("labs/kernels_c", paths.kernels_c()),
        ("labs/released", paths.released()),
    ):
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_file() and "__pycache__" not in parts and parts[0] != "front_ends":
                yield f"{name}/{'/'.join(parts)}", path.read_bytes()


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode("ascii").rstrip("=")


if __name__ == "__main__":
    main(sys.argv[1:])
