"""Honest evidence without an author's notebook: it measures what a lab asks, and notes the figures.

An installed package has no solutions, so nothing there can run a notebook as a student would. The
C kernels are there. Figures of a student's own C are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grader.cases.case import Case
from grader.cases.spec import FigureSpec
from grader.cases.verdict import Finding
from grader.demonstration.students import NoEvidence
from grader.figures import figures_of
from grader.judging.check import open_case, open_relation
from labs.c_kernels.toolchain import CompileError, NoCompiler
from labs.course import figures
from labs.course.account import with_account
from labs.course.figures import Figure
from labs.recording.file import Recording
from labs.run.c_process import RunFailed
from labs.run.measure import BadPlan, Plan, measure_now

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
