"""A run that its time limit ends keeps what whole processes have measured, and says so."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from grader.judging.lab_folder import check_folder
from labs.recording.cut_short import TIME_IS_UP, conditions, cut_short
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.results.warnings.run_warnings import of_recording
from labs.run.c_process import RunFailed
from labs.run.measure import Plan, measure_in_turns_now, measure_now
from testing import simulate
from testing.simulate import Machine

#: It measures, and waits without end as soon as so many processes have written into a file.
_WAITS = """
#include <stdio.h>
#include <unistd.h>
int main(void)
{{
    FILE *seen = fopen("{file}", "a+");
    int before = 0;
    while (fgetc(seen) != EOF)
        before++;
    if (before >= {whole})
        pause();
    fputc('x', seen);
    fclose(seen);
    printf("# a: b\\nvariant,sample,batch,ticks\\nv,0,1,%d\\n", before);
}}
"""


def plan(folder: Path, whole: int, name: str = "mine") -> Plan:
    """A plan of ten processes, of which the first `whole` end."""
    source = _WAITS.format(file=folder / name, whole=whole)
    return Plan(name, source=source, processes=10, time_limit_s=2)


def test_whole_processes_are_kept_and_the_recording_says_that_it_is_shorter(tmp_path: Path) -> None:
    run = measure_now(plan(tmp_path, 4))
    assert run.ticks.tolist() == [0, 1, 2, 3]
    found = cut_short(run)
    assert found is not None
    assert (found.after_s, found.planned, found.whole) == (2, 10, 4)
    assert cut_short(measure_now(plan(tmp_path, 10, "other"))) is None


def test_without_a_whole_process_of_each_plan_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no sample is kept"):
        measure_now(plan(tmp_path, 0))
    plans = (plan(tmp_path, 10, "one"), plan(tmp_path, 0, "other"))
    with pytest.raises(RunFailed, match="no sample is kept"):
        measure_in_turns_now(plans)


def test_of_two_plans_both_are_shorter(tmp_path: Path) -> None:
    one, other = measure_in_turns_now((plan(tmp_path, 10, "one"), plan(tmp_path, 3, "other")))
    # They take turns: A B, B A, A B, and in the fourth round the second one waits.
    assert (len(one.processes), len(other.processes)) == (3, 3)
    assert cut_short(one) is not None and cut_short(other) is not None


def test_a_process_that_was_added_costs_none_of_those_planned(tmp_path: Path) -> None:
    asked = dataclasses.replace(plan(tmp_path, 11), within=0.02, at_most_s=600)
    run = measure_now(asked, enough=lambda recordings, most: None)
    assert len(run.processes) == 11
    assert run.conditions["adaptive.stopped"] == TIME_IS_UP
    assert cut_short(run) is None


def shorter(after_s: float = 120, processes: int = 10) -> Recording:
    run = simulate.run(Machine(step=2), processes)
    return dataclasses.replace(run, conditions={**run.conditions, **conditions(after_s, 20)})


def warned(run: Recording) -> dict[str, str]:
    return {each.code: str(each) for each in of_recording(run, run.variants[0])}


def test_a_warning_says_how_many_had_finished_and_what_to_type() -> None:
    said = warned(shorter())["cut-short"]
    assert "the time limit of 120 s ended this run after 10 of 20 processes" in said
    assert "Try: --time-limit 288, or fewer samples or variants at a time." in said
    # No run may take so long.
    assert "--time-limit" not in warned(shorter(after_s=3000))["cut-short"]
    assert "cut-short" not in warned(simulate.run(Machine(step=2), 10))


@pytest.mark.parametrize("stated", ["x", "-1", "0", "nan", "1e300"])
def test_what_somebody_else_wrote_there_does_no_harm(stated: str) -> None:
    run = shorter()
    changed = {**run.conditions, "cut_short.planned_processes": stated}
    assert cut_short(dataclasses.replace(run, conditions=changed)) is None


HONEST = Path(__file__).parents[1] / "fixtures/honest_runs/01-timer-overhead-counter-1-ghz"


def test_the_verdict_says_it_and_no_figure_loses_points_for_it(tmp_path: Path) -> None:
    from labs.recording.file import read

    (tmp_path / "recordings").mkdir()
    figures = json.loads((HONEST / "figures.json").read_text())
    name = "timer-overhead-fenced"
    run = read(HONEST / figures[name]["recording"])
    (tmp_path / "figures.json").write_text(json.dumps({name: figures[name]}))
    verdicts = []
    for more in ({}, conditions(120, 2 * len(run.processes))):
        stated = dataclasses.replace(run, conditions={**run.conditions, **more})
        stated.write(tmp_path / figures[name]["recording"])
        (found,) = [v for v in check_folder(tmp_path, "01-timer-overhead") if v.figure == name]
        verdicts.append(found)
    whole, cut = verdicts
    assert (cut.outcome, cut.points) == (whole.outcome, whole.points)
    count = len(run.processes)
    assert f"after {count} of {2 * count} processes" in cut.note and not whole.note
    assert result_of(stated, "fenced").estimate is not None
