"""A course whose students hand in lab 01 with recordings of full size: one honest run, varied.

In the run of each student, the processes come in another order. The estimates stay the same, each
process keeps its seed and its samples, and no two students hand in the same run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from grader.demonstration import Lab, _answered
from grader.with_nbgrader.course import make_course
from support.demonstration_class import LiveEvidence
from support.paths import REPOSITORY

LAB = "01-timer-overhead"


class FullClass:
    """A course in `folder`; it measures once, which takes seconds."""

    def __init__(self, folder: Path, with_our_settings: bool = True) -> None:
        self.course = folder / "course"
        make_course(self.course, REPOSITORY / "notebooks")
        self._scratch = folder / "run"
        LiveEvidence(REPOSITORY / "notebooks", folder / "measured")(LAB, _made(self._scratch))
        nbgrader(self.course, "generate_assignment", LAB)
        if not with_our_settings:  # stock nbgrader cannot make the stubs of our labs
            (self.course / "nbgrader_config.py").write_text("c = get_config()\n")
        lab = Lab(LAB, self.course / "source" / LAB, self.course / "release" / LAB)
        self._notebook = json.dumps(_answered(lab, self._scratch))
        self._files = {
            path.relative_to(self._scratch): path.read_bytes()
            for path in sorted(self._scratch.rglob("*"))
            if path.is_file()
        }

    def hand_in(self, numbers: range, to: Path | None = None) -> None:
        """Puts the submissions with these numbers into `submitted`, or into the folder `to`."""
        top = self.course / "submitted" if to is None else to
        for number in numbers:
            folder = _made(top / f"student-{number:05}" / LAB)
            _made(folder / "recordings")
            for place, content in self._files.items():
                varied = _varied(content, number) if place.suffix == ".csv" else content
                (folder / place).write_bytes(varied)
            answer = f"What student {number} writes."
            text = self._notebook.replace("What was measured", answer)
            (folder / f"{LAB}.ipynb").write_text(text, encoding="utf-8")
            (folder / "timestamp.txt").write_text("2035-01-02 03:04:05 UTC")


def nbgrader(course: Path, *words: str) -> None:
    """Runs a command of nbgrader in the course. Raises CalledProcessError."""
    subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course,
        check=True,
        capture_output=True,
        env=environment(course),
    )


def environment(course: Path) -> dict[str, str]:
    """Without the Jupyter settings of the user."""
    own = str(course.parent / "jupyter")
    return {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "JUPYTER_CONFIG_DIR": own,
        "JUPYTER_DATA_DIR": own,
    }


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _varied(content: bytes, number: int) -> bytes:
    """A recording with its processes in another order, which follows from `number`."""
    lines = content.decode("utf-8").splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    names, *rows = lines[len(head) :]
    own = [line for line in head if line.startswith("# process.")]
    order = _order(len(own), number)
    blocks: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        variant, process, rest = row.split(",", 2)
        blocks[int(process)].append(f"{variant},{order[int(process)]},{rest}")
    by_place = {place: process for process, place in order.items()}
    body = "".join(row for place in sorted(by_place) for row in blocks[by_place[place]])
    digest = hashlib.sha256(body.encode()).hexdigest()
    stated = [
        f"# samples.sha256: {digest}\n" if line.startswith("# samples.sha256:") else line
        for line in head
        if not line.startswith("# process.")
    ]
    about = [
        f"# process.{place}:{own[by_place[place]].partition(':')[2]}" for place in sorted(by_place)
    ]
    return "".join([*stated, *about, names, body]).encode()


def _order(count: int, number: int) -> dict[int, int]:
    """Where each process comes; another order for each number, as long as there are enough."""
    places = list(range(count))
    random.Random(number % math.factorial(count)).shuffle(places)
    return dict(enumerate(places))
