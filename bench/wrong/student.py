"""A student at work: runs of a lab, numbers read off them, files handled, figures handed in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from labs.analysis.confidence import Estimate
from labs.course import figures
from labs.notebook import ckernel_magic
from labs.recording import counts
from labs.recording.file import Recording, read
from labs.results.result import Result, naive_value, result_of
from labs.run import broken, measure
from labs.run.variants import plan_of
from labs.units import Clock

#: C that students write, one folder a lab.
C = Path(__file__).parent / "c"

_LABS = "import sys; from labs.commands.cli import main; sys.exit(main())"

#: A run of the notebook, as it is asked for there; shorter, because there are hundreds.
Planned = Callable[[], measure.Plan]


#: How often a right run is made again where its interval is too wide to believe.
MOST_AGAIN = 3


class NoFigure(RuntimeError):
    """The run gives no figure, so that this student has no number to hand in."""


class NotTaken(RuntimeError):
    """The kit does not take such a figure."""


class NoMistake(RuntimeError):
    """By this run nothing is wrong: a conclusion that lies at the edge, for one."""


@dataclass(frozen=True)
class Run:
    """One run in a student's hands, and the numbers that can be read off it."""

    name: str
    recording: Recording
    source: str | None = None

    @property
    def path(self) -> str:
        """Its recording, as `figures.json` names it."""
        return f"recordings/{self.name}.csv"

    def result(self, variant: str | None = None, unit: str = "ns") -> Result:
        """What the kit says of a variant."""
        return result_of(self.recording, variant, unit)

    def estimate(self, variant: str | None = None, unit: str = "ns") -> Estimate:
        """The kit's figure. Raises NoFigure."""
        result = self.result(variant, unit)
        if result.estimate is None:
            raise NoFigure(f"{self.name} {result.variant}: {result.no_figure}")
        return result.estimate

    def value(self, variant: str | None = None, unit: str = "ns") -> float:
        """The value of the kit's figure. Raises NoFigure."""
        return self.estimate(variant, unit).value

    def naive(self, variant: str | None = None, unit: str = "ns") -> float:
        """What somebody reports who notices no mistake."""
        return naive_value(self.result(variant, unit))

    def asked_for(self) -> list[Estimate | None]:
        """The figures of the variants that were asked for."""
        asked = self.recording.conditions.get("variants", "").split(",")
        return [self.result(name).estimate for name in asked if name in self.recording.variants]

    def slope(self, variant: str | None = None, unit: str = "ns") -> float:
        """What one more operation adds, nothing subtracted. Raises NoFigure."""
        return self._of_line(variant, unit)[1].value

    def intercept(self, variant: str | None = None, unit: str = "ns") -> float:
        """Where the line begins. Raises NoFigure."""
        return self._of_line(variant, unit)[0].value

    def _of_line(self, variant: str | None, unit: str) -> tuple[Estimate, Estimate]:
        result = self.result(variant, unit)
        if result.line is None:
            raise NoFigure(f"{self.name} {result.variant}: {result.no_figure}")
        line = result.line
        return line.overhead.into(unit, result.clock), line.cost.into(unit, result.clock)

    def baseline(self, variant: str | None = None, unit: str = "ns") -> float:
        """What the kit subtracts once. Raises NoFigure."""
        result = self.result(variant, unit)
        if result.net is None or result.net.baseline is None:
            raise NoFigure(f"{self.name} {result.variant}: nothing was subtracted")
        return result.net.baseline.into(unit, result.clock).value

    def clock(self, variant: str) -> Clock:
        """The clock that a variant read."""
        return self.recording.clock(variant)

    def column(self, variant: str, unit: str = "ns", k: int | None = None) -> np.ndarray:
        """The column `ticks` of a variant, warm-up and all; of batch size `k` only if wished.

        Raises NoFigure where no sample is of this size.
        """
        rows = self.recording.rows_of(variant)
        if k is not None:
            rows = rows & (self.recording.batch == k)
        if not rows.any():
            raise NoFigure(f"{self.name} {variant}: no sample of batch size {k}")
        return np.asarray(self.recording.ticks[rows] / self.clock(variant).ticks_in(unit))

    def batches(self, variant: str) -> list[int]:
        """The batch sizes of a variant, the empty sample left out."""
        sizes = self.recording.batch[self.recording.rows_of(variant)]
        return sorted(int(size) for size in set(sizes.tolist()) if size > 0)

    def switches(self, variant: str) -> counts.Switches:
        """The switches claimed and counted. Raises NoFigure."""
        seen = counts.switches_of(self.recording, variant)
        if seen is None:
            raise NoFigure(f"{self.name} {variant}: no switches counted")
        return seen


class Shelf:
    """The right runs of a lab, made once: a student's notebook whose cells have been run."""

    def __init__(self, planned: dict[str, Planned], saved: Path | None = None) -> None:
        """`planned` are the runs by the names that the notebook saves them under.

        A run in the folder `saved` is taken from there, and not made.
        """
        self.planned = planned
        self.saved = saved
        self._made: dict[str, Run] = {}

    def __getitem__(self, name: str) -> Run:
        if name not in self._made:
            self._made[name] = self._from_before(name) or self._narrow(name)
        return self._made[name]

    def _from_before(self, name: str) -> Run | None:
        path = self.saved / f"{name}.csv" if self.saved is not None else None
        if path is None or not path.exists():
            return None
        source = path.with_suffix(".c")
        return Run(name, read(path), source.read_text("utf-8") if source.exists() else None)

    def _narrow(self, name: str) -> Run:
        """The run; made again where it gives no figure, with more samples where it is too wide."""
        plan = self.planned[name]()
        for _ in range(MOST_AGAIN):
            run = Run(name, measure.measure_now(plan), plan.source)
            estimates = run.asked_for()
            if all(each is not None and each.is_believable() for each in estimates):
                break
            if None not in estimates:
                plan = replace(plan, samples=plan.samples * 2, time_limit_s=60.0)
        return run


@dataclass
class Student:
    """Somebody who works on a lab in `folder`; `shelf` holds the right runs of the notebook."""

    folder: Path
    shelf: Shelf

    def __getitem__(self, name: str) -> Run:
        """A right run of the notebook, saved in this student's folder too."""
        return self.saved(self.shelf[name])

    def saved(self, run: Run) -> Run:
        """The run with its files in the lab folder: the recording, and the C beside it."""
        path = self.folder / run.path
        if not path.exists():
            run.recording.write(path)
            if run.source is not None:
                path.with_suffix(".c").write_text(run.source, encoding="utf-8")
        return run

    def measured(self, name: str, plan: measure.Plan) -> Run:
        """A run of this student's own. Raises what building and running raise."""
        recording = measure.measure_now(replace(plan, time_limit_s=60.0))
        return self.saved(Run(name, recording, plan.source))

    def traced(self, name: str, words: str) -> Run:
        """A run by `labs measure` under strace. Raises NoMistake where there is none."""
        strace = shutil.which("strace")
        if strace is None:
            raise NoMistake("strace is not installed")
        path = self.folder / f"recordings/{name}.csv"
        command = [strace, "-f", "-o", os.devnull, sys.executable, "-c", _LABS, "measure"]
        command += [*words.split(), "--save", str(path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        if not path.exists():
            raise NoMistake(f"strace cannot trace here: {done.stderr.strip()[-200:]}")
        return Run(name, read(path))

    def anew(self, name: str) -> Run:
        """A run of the notebook made once more: it overwrites the recording of this name."""
        (self.folder / f"recordings/{name}.csv").unlink(missing_ok=True)
        return self.measured(name, self.shelf.planned[name]())

    def figure(
        self, figure: str, value: float, unit: str, run: Run | None = None, when: str | None = None
    ) -> None:
        """Hand a figure in, by that run."""
        path = run.path if run is not None else None
        try:
            figures.put(self.folder, figures.Figure(figure, float(value), unit, path, when))
        except ValueError as why:
            raise NotTaken(str(why)) from why

    def edit(self, run: Run, change: Callable[[str], str]) -> None:
        """Open the recording in an editor and save it again."""
        path = self.folder / run.path
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def plan(kernel: str, variants: str, **more: object) -> measure.Plan:
    """`lab.measure(kernel, variants, ...)`, short where nothing else is wished."""
    wished = {"samples": 600, "processes": 8, "warmup": 20} | more
    return plan_of(kernel, variants, **wished)  # type: ignore[arg-type]


def own_plan(words: str, path: str) -> measure.Plan:
    """The cell `%%ckernel words` with the C of a file in `c/`."""
    return ckernel_magic.plan_of_cell(words, (C / path).read_text(encoding="utf-8"))


def broken_plan(name: str) -> measure.Plan:
    """The broken half of `lab.broken(name)`."""
    return broken.find(name).plan()


def twin_plan(name: str) -> measure.Plan:
    """The repaired half of `lab.broken(name)`."""
    return broken.find(name).twin_plan()


def smoothed(variant: str, process: str) -> Callable[[str], str]:
    """An edit that makes the ticks of some processes smaller by a tenth."""
    row = re.compile(rf"^({variant},{process},\d+,\d+,)(\d+)$", re.MULTILINE)
    return lambda text: row.sub(lambda found: f"{found[1]}{int(found[2]) * 9 // 10}", text)


def lines_without(unwanted: str) -> Callable[[str], str]:
    """An edit that deletes every line in which the pattern `unwanted` is found."""
    return lambda text: "".join(
        line for line in text.splitlines(keepends=True) if not re.search(unwanted, line)
    )
