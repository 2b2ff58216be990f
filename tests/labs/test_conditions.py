"""The benchmark that takes something from the machine: it is really gone, and the outcome is true.

All labs under all conditions are `python -m bench conditions`.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from bench.labs import solved_lab
from bench.labs.conditions import CONDITIONS, Condition, run_in
from bench.labs.solved_lab import Solved, as_text, has_held
from labs.notebook.session import Session
from labs.run.measure import Plan
from support.c_programs import CPUS, LINUX, TWO_CPUS

#: Prints what a run of system calls says of its machine.
SAYS = """
import json
from labs.run.measure import Plan, measure_now
run = measure_now(Plan("system_call", ("getppid",), samples=40, processes=1))
print(json.dumps(dict(run.conditions)))
"""


@LINUX
@TWO_CPUS
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda each: each.name)
def test_what_a_condition_takes_away_is_gone(condition: Condition) -> None:
    done = run_in(condition, "-c", SAYS)
    if "bench.no_pinning" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    stated = json.loads(done.stdout.splitlines()[-1])
    lacks = {
        "counter": stated["counter"] == "clock_monotonic",
        "one CPU": stated["cpu.allowed"] == str(CPUS[0]),
        "pinning": stated.get("cpu.pinning", "").startswith("none: "),
        "trap": "system_calls.by" in stated,
    }
    named = {
        "as it is": set(),
        "no counter": {"counter"},
        "one CPU": {"one CPU"},
        "no pinning": {"pinning"},
        "no trap": {"trap"},
        "first three": {"counter", "one CPU", "pinning"},
    }
    assert {what for what, is_gone in lacks.items() if is_gone} == named[condition.name]


def of(points: float, possible: float, again: int = 0, **stops: str) -> Solved:
    return Solved(points, possible, stops, [], {}, {}, again)


def test_all_points_and_no_stop_are_wanted() -> None:
    for solved, held, words in (
        (of(18, 18), True, "18 of 18"),
        (of(18, 18, 2), True, "18 of 18, 2 again"),
        (of(17, 18), False, "17 of 18"),
        (of(18, 18, cell="Refused"), False, "18 of 18"),
        (of(0, 0), True, "runs"),
        (of(0, 0, cell="NameError"), False, "stops"),
    ):
        assert has_held(solved) == held
        assert as_text(solved) == words


def test_a_lab_is_run_to_its_end_and_its_stops_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = "<p>What this machine cannot show:</p><ul><li>one thing</li><li>another</li></ul>"
    note = "<strong>Note: no such thing here</strong><strong>Note: your guess was good</strong>"
    code = {
        "card": f"from IPython.display import HTML\nHTML({card!r})",
        "stops": "nobody_has_defined_this",
        "warns": "import sys; print('odd', file=sys.stderr)",
        "after": f"HTML({note!r})",
    }
    cells = [
        nbformat.v4.new_code_cell(text, id=name)  # type: ignore[no-untyped-call]
        for name, text in code.items()
    ]
    place = tmp_path / "notebooks" / "99-lab" / "99-lab.ipynb"
    place.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), place)  # type: ignore[no-untyped-call]
    monkeypatch.setattr(solved_lab, "NOTEBOOKS", tmp_path / "notebooks")
    solved = solved_lab.solve("99-lab", tmp_path / "99-lab")
    assert set(solved.stops) == {"stops", "warns"}
    assert "nobody_has_defined_this" in solved.stops["stops"]
    assert solved.notes == ["one thing", "another", "no such thing here"]
    assert (solved.points, solved.possible, solved.again) == (0, 0, 0)


@pytest.mark.parametrize(
    ("figures", "made", "again"),
    [
        ([True], 1, 0),
        ([False, False, True], 3, 2),
        ([False] * 50, 1 + solved_lab.MOST_AGAIN, 0),  # some are meant to give none
    ],
)
def test_a_run_without_a_figure_is_made_again(
    figures: list[bool], made: int, again: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Any] = []

    def carry_out(self: Session, *_: object) -> Any:
        estimate = object() if figures[len(runs)] else None
        named = SimpleNamespace(kernel="system_call")
        runs.append(
            SimpleNamespace(
                results=[SimpleNamespace(estimate=estimate)], recording=named, variant="getppid"
            )
        )
        return [runs[-1]]

    monkeypatch.setattr(Session, "carry_out_in_turns", carry_out)
    lab = solved_lab.PatientSession("03-system-call", tmp_path)
    assert lab.carry_out(Plan("system_call")) is runs[-1]
    assert len(runs) == made
    written = tmp_path / solved_lab.MADE_AGAIN
    assert (len(written.read_text().splitlines()) if written.exists() else 0) == again
