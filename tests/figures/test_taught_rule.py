"""Whoever concludes as a lab's own solution does concludes what the grader judges right.

The solution cells of the notebooks run on honest recordings made under odd circumstances, where the
data often do not decide.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Verdict
from grader.figures import LABS
from grader.figures.trials import TRIALS
from grader.judging import check, lab_folder
from labs.course import figures, published
from labs.course.figures import Figure
from labs.notebook import comparing
from labs.notebook.run import Run
from labs.recording.file import Recording, read
from testing.paths import FIXTURES, REPOSITORY

FOLDERS = [
    each
    for place in (FIXTURES / "honest_runs", FIXTURES / "honest")
    for each in sorted(place.iterdir())
    if (each / figures.FILE_NAME).is_file()
]


def lab_named(folder: Path) -> str:
    return next((lab for lab in LABS if lab in folder.name), "")


class Evidence:
    """The recordings of a lab folder by figure id; each file is read once, as the grader does."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read = folder, dict[str, Recording]()
        self.figures = figures.read(folder)

    def run(self, figure: str, variant: str = "", unit: str = "ns") -> Run:
        """The run of a figure, seen from a variant. Raises KeyError if it was not handed in."""
        handed_in = self.figures[figure]
        assert isinstance(handed_in, Figure) and handed_in.recording
        if handed_in.recording not in self.read:
            self.read[handed_in.recording] = read(self.folder / handed_in.recording)
        found = Run.of(self.read[handed_in.recording], unit=unit)
        return found[variant] if variant else found

    def saved(self, name: str) -> Run:
        """The run that a cell saves as `name`. Raises KeyError if it is not there."""
        path = self.folder / figures.RECORDINGS / f"{name}.csv"
        if not path.is_file():
            raise KeyError(path.name)
        return Run.of(read(path))


def names_of(lab: str, of: Evidence) -> dict[str, Any]:
    """What the cells before the conclusion have left in the notebook: its runs by their names.

    A lab that is not listed here measures in cells of its own, which run on its saved recordings.
    """
    if lab.startswith("02"):
        return {
            "call": of.run("first-iteration-call", "call"),
            "own": of.run("first-call-own", "own"),
            "miss": of.run("first-iteration-data-cache", "data-cache"),
        }
    if lab.startswith("03"):
        return {
            "getppid": of.run("system-call-getppid", "getppid"),
            "floor": of.run("system-call-floor", "invalid"),
        }
    if lab.startswith("04"):
        return {
            "o2": of.run("call-inlined", unit="cycles"),
            "o0": of.run("call-five-and-six", unit="cycles"),
        }
    if lab.startswith("05"):
        return {"kinds": of.run("creation-cause", unit="us")}
    if lab.startswith("06"):
        pipe = of.run("thread-switch-pipe", "pipe")
        process = of.run("process-switch-pipe-pinned", "pipe-pinned")
        return {"process": process, "pipe": pipe, "threads": {"pipe": pipe}}
    if lab.startswith("07"):
        kinds = of.run("footprint-cause", unit="us")
        added = {
            task: comparing.compare(kinds[f"{task}-8-256k"], kinds[f"{task}-8-0"], 1.0)
            for task in ("processes", "threads")
        }
        return {
            "kinds": kinds,
            "set_for_processes": added["processes"],
            "set_for_threads": added["threads"],
        }
    if lab.startswith("08"):
        return {"published": published} | {
            trial.name.replace("-", "_"): SimpleNamespace(
                broken=of.run(f"{trial.name}-reproduced", trial.broken.variant),
                repaired=of.run(f"{trial.name}-repaired", trial.repaired.variant),
            )
            for trial in TRIALS
        }
    if lab.startswith("11"):
        return {
            "own": of.run("own-question-cost", "operation"),
            "tested": of.run("own-question-tested", "operation"),
        }
    if lab.startswith("10"):
        return {"kinds": of.run("page-fault-prefault", "anonymous")}
    return {}


def solved(lab: str, of: Evidence) -> dict[str, float]:
    """What the solutions of the lab conclude from this evidence, by figure id."""
    numbers: dict[str, float] = {}
    stub = SimpleNamespace(
        measure=lambda *_, save, **__: of.saved(save),
        compare=lambda one, other, times=1.0: comparing.compare(one, other, times),
        conclude=lambda name, value, unit="choice", run=None: numbers.update({name: value}),
        predicted=lambda name, comparison=None: None,
        figure=lambda name, value, unit, run: numbers.update({name: value}),
    )
    names = {"lab": stub, **names_of(lab, of)}
    path = REPOSITORY / "notebooks" / lab / f"{lab}.ipynb"
    concluded = [spec.id for spec in LABS[lab] if spec.decide is not None]
    sources = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    sources = [each for each in sources if "BEGIN SOLUTION" in each]
    for number, source in enumerate(sources):
        if any(f'("{name}"' in source for name in concluded):
            for before in _needed(source, sources[:number], names):
                exec(before, names)
            exec(source, names)
    return numbers


def _needed(source: str, before: list[str], known: dict[str, Any]) -> list[str]:
    """The cells before `source` that assign what it uses and nobody knows yet, or what they use."""
    needed: list[str] = []
    used = _used(source)
    for cell in reversed([each for each in before if not each.startswith("%%")]):
        if _assigned(cell) & used - known.keys():
            needed.insert(0, cell)
            used |= _used(cell)
    return needed


def _used(source: str) -> set[str]:
    """The names that a cell uses without assigning them."""
    names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return {node.id for node in names} - _assigned(source)


def _assigned(source: str) -> set[str]:
    names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize(
    "folder",
    [each for each in FOLDERS if any(spec.decide for spec in LABS.get(lab_named(each), ()))],
    ids=lambda folder: f"{folder.parent.name} {folder.name}",
)
def test_the_solution_of_a_lab_concludes_what_is_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, right = lab_named(folder), dict[str, list[float]]()
    judge = check.judge

    def keep(spec: Any, case: Any, *rest: Any, **named: Any) -> Verdict:
        if isinstance(case, Case) and spec.quantity is Quantity.CHOICE:
            right[spec.id] = [each.value for each in case.accepted_values]
        return judge(spec, case, *rest, **named)

    monkeypatch.setattr(lab_folder, "judge", keep)
    lab_folder.check_folder(folder, lab)
    try:
        numbers = solved(lab, Evidence(folder))
    except KeyError as missing:
        pytest.skip(f"{missing} was not handed in there")
    judged = {name: values for name, values in right.items() if name in numbers}
    if not judged:
        pytest.skip("no conclusion was handed in there")
    assert judged == {name: [numbers[name]] for name in judged}
