"""Whoever concludes as a lab's own solution does concludes what the grader judges right.

The solution cells of the notebooks run on honest recordings made under odd circumstances, where the
data often do not decide.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from grader.figures import LABS, figure_named
from grader.figures.case import Case
from grader.figures.spec import Quantity
from grader.figures.verdict import Verdict
from grader.judging import check, lab_folder
from labs.course import figures
from labs.course.figures import Figure
from labs.notebook import run as comparing
from labs.notebook.run import Run
from labs.recording.file import Recording, read
from support.paths import FIXTURES, REPOSITORY

FOLDERS = [
    each
    for place in (FIXTURES / "honest_runs", FIXTURES / "honest")
    for each in sorted(place.iterdir())
    if (each / figures.FILE_NAME).is_file()
]


def lab_named(folder: Path) -> str:
    return next((lab for lab in LABS if lab in folder.name), "")


class Saved:
    """What a cell has saved under one name: a run, or in its place the runs of its figures."""

    def __init__(self, runs: list[tuple[tuple[str, ...], Run]]) -> None:
        #: Each run with the variants that its figure is about, the one of the conclusion first.
        self.runs = runs

    def __getitem__(self, variant: str) -> Run:
        about = [run for variants, run in self.runs if variant in variants]
        every = (run for _, run in self.runs)
        having = (run for run in (*about, *every) if variant in run.recording.variants)
        return next(having)[variant]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runs[0][1], name)

    def in_unit(self, unit: str) -> Saved:
        return Saved([(variants, run.in_unit(unit)) for variants, run in self.runs])


class Evidence:
    """The recordings of a lab folder; each file is read once, as the grader does.

    Odd runs are saved by the ids of figures. Which figures a cell hands in from the run that it
    saves is what the lab's honest run shows.
    """

    def __init__(self, lab: str, folder: Path) -> None:
        self.lab, self.folder, self.read = lab, folder, dict[str, Recording]()
        self.figures = figures.read(folder)
        self.of_honest = figures.read(FIXTURES / "honest" / lab)

    def saved(self, name: str, unit: str, conclusion: str) -> Saved:
        """What a cell saves as `name`. Raises KeyError if nothing of it was handed in there."""
        path = f"{figures.RECORDINGS}/{name}.csv"
        if (self.folder / path).is_file():
            return Saved([((), self._run(path, unit))])
        ids = [key for key, each in self.of_honest.items() if _recording(each) == path]
        ids.sort(key=lambda key: key != conclusion)
        runs = []
        for key in ids:
            if its := _recording(self.figures.get(key)):
                spec = figure_named(key)
                run = self._run(its, unit)
                # The conclusion's own run has all variants that decide.
                about = run.recording.variants if key == conclusion else spec.variants
                known = spec.variant in run.recording.variants
                runs.append((tuple(about), run[spec.variant] if known else run))
        if not runs:
            raise KeyError(path)
        return Saved(runs)

    def _run(self, path: str, unit: str) -> Run:
        if path not in self.read:
            self.read[path] = read(self.folder / path)
        return Run.of(self.read[path], unit=unit)


def _recording(handed_in: Any) -> str:
    return (handed_in.recording or "") if isinstance(handed_in, Figure) else ""


class Pair:
    """The runs of a broken C kernel and of its repair; one may not have been handed in."""

    #: What its author would report: a figure that no conclusion needs.
    naive_value = math.nan

    def __init__(self, name: str, unit: str, saved: Callable[[str, str], Saved]) -> None:
        self._name, self._unit, self._saved = name, unit, saved

    @property
    def broken(self) -> Saved:
        return self._saved(f"broken-{self._name}", self._unit)

    @property
    def repaired(self) -> Saved:
        return self._saved(f"repaired-{self._name}", self._unit)


def stub_of(of: Evidence, conclusion: str, numbers: dict[str, float]) -> SimpleNamespace:
    """`lab` of a cell that concludes: it measures nothing, and puts conclusions into `numbers`."""

    def saved(name: str, unit: str = "ns") -> Saved:
        return of.saved(name, unit, conclusion)

    def compare(one: Any, other: Any, times: float = 1.0) -> Any:
        first, second = (each.runs[0][1] if isinstance(each, Saved) else each
                         for each in (one, other))  # fmt: skip
        return comparing.compare(first, second, times)

    return SimpleNamespace(
        measure=lambda *_, save, unit="ns", **__: saved(save, unit),
        measure_in_turns=lambda plans, unit="ns", **_: [saved(name, unit) for name in plans],
        broken=lambda name, unit="ns", **_: Pair(name, unit, saved),
        compare=compare,
        conclude=lambda name, value, unit="choice", run=None: numbers.update({name: value}),
        predicted=lambda name, comparison=None: None,
        figure=lambda name, value, unit, run: numbers.update({name: value}),
    )


def solved(lab: str, of: Evidence) -> dict[str, float]:
    """What the solutions of the lab conclude from this evidence, by figure id.

    Conclusions are left out whose evidence was not handed in there.
    """
    numbers: dict[str, float] = {}
    path = REPOSITORY / "notebooks" / lab / f"{lab}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for spec in LABS[lab]:
        if spec.decide is None:
            continue
        [number] = [n for n, text in enumerate(sources) if _concludes(spec.id, text)]
        # A cell that concludes also shows what it compares.
        shown = {"display": lambda *_: None, "views": MagicMock()}
        names: dict[str, Any] = {"lab": stub_of(of, spec.id, numbers), **shown}
        before = [line for each in sources[:number] for line in _statements(each)]
        cell = _statements(sources[number])
        try:
            _carry_out(_needed(cell, before, names), names)
            _carry_out(cell, {**names, **shown})
        except KeyError as missing:
            if not str(missing).strip("'").startswith(figures.RECORDINGS):
                raise
    return numbers


def _concludes(figure: str, source: str) -> bool:
    return "BEGIN SOLUTION" in source and f'("{figure}"' in source


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; a cell of C binds the name under which it saves its run."""
    if source.startswith("%%"):
        save = re.search(r"--save (\S+)", source.splitlines()[0])
        name = save[1] if save else ""
        source = f"{name.replace('-', '_')} = lab.measure(save={name!r})" if name else ""
    return ast.parse(source).body


def _needed(
    cell: list[ast.stmt], before: list[ast.stmt], known: Mapping[str, Any]
) -> list[ast.stmt]:
    """The statements before a cell that give it the names that it uses, in their order."""
    needed: list[ast.stmt] = []
    wanted = set().union(*map(_used, cell)) - set().union(*map(_assigned, cell))
    for statement in reversed(before):
        if given := _assigned(statement) & wanted - known.keys():
            needed.insert(0, statement)
            wanted = wanted - given | _used(statement)
    return needed


def _carry_out(statements: list[ast.stmt], names: dict[str, Any]) -> None:
    exec(compile(ast.Module(statements, []), "notebook", "exec"), names)


def _used(statement: ast.stmt) -> set[str]:
    """The names that a statement takes from elsewhere."""
    loaded = {node.id for node in _names(statement) if isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.FunctionDef):
        inside = {node.id for node in _names(statement) if isinstance(node.ctx, ast.Store)}
        loaded -= inside | {each.arg for each in statement.args.args}
    return loaded


def _assigned(statement: ast.stmt) -> set[str]:
    """The names that a statement gives."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {each.asname or each.name for each in statement.names}
    return {node.id for node in _names(statement) if isinstance(node.ctx, ast.Store)}


def _names(statement: ast.stmt) -> Iterator[ast.Name]:
    return (node for node in ast.walk(statement) if isinstance(node, ast.Name))


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
    numbers = solved(lab, Evidence(lab, folder))
    judged = {name: values for name, values in right.items() if name in numbers}
    if folder.parent.name == "honest":
        assert {*judged} >= {spec.id for spec in LABS[lab] if spec.decide}
    elif not judged:
        pytest.skip("no conclusion was handed in there")
    assert judged == {name: [numbers[name]] for name in judged}
