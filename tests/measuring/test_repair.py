"""A repair that a student chooses in place of the twin: what runs, is shown, or is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labs import views
from labs.messages import Refused
from labs.notebook.broken_pair import Pair, plans, words_of
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording import file
from labs.run import broken
from support.paths import REPOSITORY

RECORDINGS = REPOSITORY / "tests/fixtures/honest/08-five-reports-on-trial/recordings"


def pair_of(name: str) -> Pair:
    wrong, right = (
        Run.of(file.read(RECORDINGS / f"{kind}-{name}.csv")) for kind in ("broken", "repaired")
    )
    return Pair(broken.find(name), wrong, right)


def test_a_repair_runs_in_place_of_the_twin_and_as_long() -> None:
    kernel = broken.find("bare_mutex")
    twin, mine = kernel.twin_plan(), plans(kernel, ("thread_switch", ["futex", " condvar "]))[1]
    assert mine.variants == ("futex", "condvar")
    assert (mine.samples, mine.processes) == (twin.samples, twin.processes)
    assert words_of(mine) == ("thread_switch", "--variant", "futex,condvar")
    assert words_of(plans(kernel, ("system_call", ""))[1]) == ("system_call",)


def test_a_wrong_mistake_with_another_repair_runs_and_is_shown(tmp_path: Path) -> None:
    lab = Session("08-five-reports-on-trial", tmp_path)
    trial = lab.broken("stale_constant", repair=("system_call", "getppid-libc, invalid"))
    assert trial.repaired.recording.kernel == "system_call"
    assert trial.repaired.recording_path == "recordings/repaired-stale_constant.csv"
    assert "labs measure system_call --variant getppid-libc,invalid" in repr(trial)
    assert "raw_call" not in trial.regions[1] and "getppid" in trial.regions[1]
    table = views.beside_report("A", trial)
    assert len(table.rows) == 13
    assert "The timer overhead of report A's machines differs by" in table.caption


@pytest.mark.parametrize(
    "repair", ["system_call", ("system_call",), (1, "getppid"), ("system_call", 2), ("a", [1])]
)
def test_what_is_no_repair_is_refused_with_an_example(repair: Any, tmp_path: Path) -> None:
    with pytest.raises(Refused, match='repair=\\("system_call", "getppid, invalid"\\)'):
        Session("08-five-reports-on-trial", tmp_path).broken("cached_getpid", repair=repair)


def test_a_repair_of_no_c_kernel_is_refused_before_anything_runs(tmp_path: Path) -> None:
    lab = Session("08-five-reports-on-trial", tmp_path)
    with pytest.raises(Refused, match="sistem_call"):
        lab.broken("cached_getpid", repair=("sistem_call", "getppid"))
    assert not lab.runs


def test_a_trial_is_no_run_and_the_reply_names_its_two(tmp_path: Path) -> None:
    trial: Any = pair_of("bare_mutex")
    lab = Session("08-five-reports-on-trial", tmp_path)
    with pytest.raises(Refused, match=r"write `\.broken` or `\.repaired`"):
        lab.figure("trial-d-reproduced", trial.naive_value, "ns", trial)
    number: Any = 5
    with pytest.raises(Refused, match="a run, not a int"):
        lab.figure("trial-d-reproduced", trial.naive_value, "ns", number)


def test_the_mean_of_all_samples_is_of_one_switch_where_the_figure_is() -> None:
    trial = pair_of("bare_mutex")
    own = trial.broken.recording.samples("condvar")
    quiet = float((own.ticks / own.batch).mean()) / own.clock.ticks_in("ns") / 2
    assert trial.naive_value < trial.mean_of_all
    assert trial.mean_of_all == pytest.approx(quiet, rel=0.2)


def test_any_times_are_divided_by_both_figures_of_a_trial() -> None:
    trial = pair_of("readings_around_each")
    (row,) = views.beside_trial(trial, as_printed=104).rows
    assert row == ("as printed", "104", "5.3", "748")
    by_mean = pair_of("cpu_clock_around_a_call")
    (row,) = views.beside_trial(by_mean, printed=3323).rows
    assert float(row[2]) == pytest.approx(3323 / by_mean.mean_of_all, 0.01)
    wrong: Any = {"a": "104"}
    with pytest.raises(Refused, match="numbers in ns"):
        views.beside_trial(trial, **wrong)
    with pytest.raises(Refused, match="numbers in ns"):
        views.beside_trial(trial)


def test_a_value_below_zero_is_no_part_of_any_figure() -> None:
    (row,) = views.beside_trial(pair_of("readings_around_each"), second_mistake=-0.5).rows
    assert row[2] == row[3] == "none: this value is not above zero"


def test_what_remains_of_a_mistake() -> None:
    for kind, name, verdict in (
        ("broken", "readings_around_each", "The mistake is still in your C"),
        ("repaired", "readings_around_each", "The mistake is no longer in your C"),
        ("own", "loop", "The mistake is no longer in your C"),
    ):
        mine = Run.of(file.read(RECORDINGS / f"{kind}-{name}.csv"))
        table = views.what_remains(pair_of("readings_around_each"), mine)
        assert table.caption == verdict
        assert [row[2] for row in table.rows[:2]] == ["100 %", "0 %"], kind


def test_what_remains_follows_the_figure() -> None:
    for ticks, verdict in (
        (30, "The mistake is still in your C"),
        (14, "A part of the mistake is still in your C"),
        (1, "The mistake is no longer in your C"),
        (-2, "Your figure is below zero: your samples hold less than the empty loop does"),
    ):
        honest = file.read(RECORDINGS / "own-loop.csv")
        of_loop = honest.rows_of("loop")
        longer = np.where(of_loop, 4 * honest.batch, (4 + ticks) * honest.batch) + 40
        mine = Run.of(dataclasses.replace(honest, ticks=longer))
        table = views.what_remains(pair_of("readings_around_each"), mine)
        assert table.caption == verdict
        assert (table.rows[2][2] == "below zero") == (ticks < 0)


def test_a_loop_a_little_below_the_repaired_run_has_none_of_the_mistake() -> None:
    """A share that rounds to zero has no sign."""
    pair = pair_of("readings_around_each")
    broken, repaired = (run.in_unit("ns").value for run in (pair.broken, pair.repaired))
    below = repaired - 0.002 * (broken - repaired)
    honest = file.read(RECORDINGS / "own-loop.csv")
    scale = below / Run.of(honest).in_unit("ns").value
    mine = Run.of(dataclasses.replace(honest, ticks=np.round(honest.ticks * scale)))
    assert views.what_remains(pair, mine).rows[2][2] == "0 %"


def test_no_share_remains_of_a_mistake_that_changes_nothing() -> None:
    """On a shared core this is usual, and no fault of the student: the notebook runs on."""
    trial = pair_of("readings_around_each")
    alike = dataclasses.replace(trial, broken=trial.repaired)
    table = views.what_remains(alike, trial.repaired)
    assert "not distinguishable" in table.caption
    assert [row[2] for row in table.rows] == ["", "", ""]
    no_trial: Any = 5
    with pytest.raises(Refused, match="takes a trial"):
        views.what_remains(no_trial, trial.repaired)
