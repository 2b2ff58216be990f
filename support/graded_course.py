"""A course folder in which a lab is graded, written in the form that our autograding leaves.

Nothing is run: a test says what each verdict is, and what the student's own files hold.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.figures.verdict import NO_FIGURE, Finding, Level, Outcome, Verdict
from grader.with_nbgrader.course import CONFIG

LAB = "01-timer-overhead"
#: Machines by what their recordings state.
AMD_GUEST = {"machine.cpu": "AMD EPYC", "machine.virtual": "True", "os": "Linux 6.1 x86_64"}
ARM = {"machine.virtual": "False", "os": "Linux 6.1 aarch64"}


def verdict(
    figure: str = "timer-overhead-fenced",
    outcome: Outcome = Outcome.PASSED,
    *codes: str,
    **fields: Any,
) -> Verdict:
    """A verdict with findings of these codes; one that passed has all 4 points, another has 1."""
    points = 4.0 if outcome is Outcome.PASSED else 1.0
    found = tuple(Finding(code, Level.VALIDITY, "", "", "", "") for code in codes)
    return Verdict(
        figure, outcome, **{"points": points, "max_points": 4.0, "reason": "", **fields},
        findings=found,
    )  # fmt: skip


def not_handed_in(figure: str) -> Verdict:
    """The verdict on a figure that is missing."""
    return verdict(figure, Outcome.FAILED, NO_FIGURE, points=0.0)


class GradedCourse:
    """A course folder with `lab` graded."""

    def __init__(self, folder: Path, lab: str = LAB) -> None:
        self.folder = folder
        self.lab = lab
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "nbgrader_config.py").write_text(CONFIG)

    def add(
        self,
        student: str,
        verdicts: Sequence[Verdict],
        numbers: Mapping[str, tuple[float, str]] | None = None,
        *,
        machine: Mapping[str, str] | None = None,
        predictions: Mapping[str, tuple[float, str]] | None = None,
        set_aside: Sequence[str] = (),
        plot: str = "",
        run_of: str = "",
    ) -> Path:
        """Adds one graded submission and returns its folder.

        `numbers` and `predictions` are values with their units, by id; every figure names one
        recording, which states `machine`. A `plot` is put into each graded cell. The samples are of
        the student's own run, or of a copy of the run of `run_of`.
        """
        folder = self.folder / "autograded" / student / self.lab
        (folder / "recordings").mkdir(parents=True)
        notebook = {
            "cells": [_cell(each, plot) for each in verdicts],
            "metadata": {"ticklab": {"set_aside": list(set_aside)}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (folder / f"{self.lab}.ipynb").write_text(json.dumps(notebook))
        recording = {"recording": "recordings/run.csv", "when": "2026-11-22T10:00:00+00:00"}
        figures = {name: _amount(*each) | recording for name, each in (numbers or {}).items()}
        (folder / "figures.json").write_text(json.dumps(figures))
        before = {"late": False, "when": "2026-11-22T09:00:00+00:00"}
        guesses = {name: [_amount(*each) | before] for name, each in (predictions or {}).items()}
        (folder / "predictions.json").write_text(json.dumps(guesses))
        head = "".join(f"# {key}: {value}\n" for key, value in (machine or AMD_GUEST).items())
        ticks = zlib.crc32((run_of or student).encode())
        (folder / "recordings" / "run.csv").write_text(
            f"# ticklab recording: 1\n# kernel: timer_overhead\n{head}# process.0: {{}}\n"
            f"variant,process,sample,batch,ticks\nfenced,0,0,0,{ticks}\n"
        )
        return folder

    def hand_in(self, student: str) -> None:
        """Collects a submission that nobody grades."""
        (self.folder / "submitted" / student / self.lab).mkdir(parents=True)


def _cell(verdict: Verdict, plot: str) -> dict[str, Any]:
    data = {"image/svg+xml": plot} if plot else {"text/plain": verdict.reason}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": verdict.figure,
        "metadata": {
            "nbgrader": {"grade_id": verdict.figure, "grade": True, "points": verdict.max_points},
            "ticklab": verdict.as_json(),
        },
        "outputs": [{"output_type": "display_data", "data": data, "metadata": {}}],
        "source": "check()",
    }


def _amount(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}
