"""A run that is ended too soon keeps what whole processes have measured, and says so."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from grader.judging.lab_folder import check_folder
from labs.commands import cli
from labs.commands import measure as measure_command
from labs.recording.counts import absent
from labs.recording.file import Recording, read
from labs.recording.run_conditions import (
    CANCELLED,
    FULL,
    PATIENCE,
    TIME_IS_UP,
    TIME_LIMIT,
    TOOK_NO_SAMPLE,
    cut_short,
    cut_short_conditions,
    not_narrow,
    out_of_reach,
)
from labs.results import run_warnings
from labs.results.result import result_of
from labs.results.run_warnings import of_recording
from labs.run import c_process
from labs.run import plan as plan_limits
from labs.run.c_process import RunClock, RunFailed
from labs.run.measure import (
    Enough,
    Kept,
    Plan,
    Progress,
    measure_in_turns,
    measure_in_turns_now,
    measure_now,
)
from support import simulate
from support.simulate import Machine

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
    if (before >= {whole}) {{
        fclose(fopen("{file}.waits", "w"));
        pause();
    }}
    fputc('x', seen);
    fclose(seen);
    printf("# a: b\\nvariant,sample,batch,ticks\\nv,0,1,%d\\n", before);
}}
"""


LIMIT_S = 600.0


def plan(folder: Path, whole: int, name: str = "mine") -> Plan:
    """A plan of ten processes, of which the first `whole` end."""
    source = _WAITS.format(file=folder / name, whole=whole)
    return Plan(name, source=source, processes=10, time_limit_s=LIMIT_S)


@pytest.fixture
def _time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit of a run is over as soon as one of its processes waits, and not before."""

    class Clock(RunClock):
        def now(self) -> float:
            return super().now() + (10 * LIMIT_S if [*tmp_path.glob("*.waits")] else 0.0)

    monkeypatch.setattr(c_process, "RunClock", Clock)


@pytest.mark.usefixtures("_time_is_up")
def test_whole_processes_are_kept_and_the_recording_says_that_it_is_shorter(tmp_path: Path) -> None:
    one_more = 11  # in which the operations are tried
    assert cut_short(measure_now(plan(tmp_path, one_more, "other"))) is None
    run = measure_now(plan(tmp_path, 4))
    assert run.ticks.tolist() == [0, 1, 2, 3]
    found = cut_short(run)
    assert found is not None
    assert (found.by, found.after_s, found.planned, found.whole) == (TIME_LIMIT, LIMIT_S, 10, 4)


def impatient(asked: Plan) -> Plan:
    """The same plan, whose patience ends long before its time limit."""
    return dataclasses.replace(asked, patience_s=0.4)


def test_a_process_that_takes_no_sample_costs_none_of_those_before(tmp_path: Path) -> None:
    run = measure_now(impatient(plan(tmp_path, 4)))
    assert run.ticks.tolist() == [0, 1, 2, 3]
    found = cut_short(run)
    assert found is not None and found.cpu_share == 0
    assert (found.by, found.after_s, found.planned, found.whole) == (PATIENCE, 0.4, 10, 4)
    with pytest.raises(RunFailed, match=r"no sample for 0\.4 s"):
        measure_now(impatient(plan(tmp_path, 0, "other")))


def test_an_added_process_that_takes_no_sample_costs_none(tmp_path: Path) -> None:
    asked = dataclasses.replace(impatient(plan(tmp_path, 12)), within=0.02, at_most_s=600)
    run = measure_now(asked, enough=lambda recordings, most: None)
    assert len(run.processes) == 12
    assert run.conditions["adaptive.stopped"] == TOOK_NO_SAMPLE
    assert "an added process took no sample for 0.4 s" in warned(run)["cut-short"]


def endless(folder: Path, whole: int, name: str = "mine") -> Plan:
    return dataclasses.replace(plan(folder, whole, name), patience_s=600)


def of_four(plan: Plan) -> int:
    """How many samples four processes of this plan take, as its progress counts them."""
    return 4 * (plan.shares()[0] + plan.warmup)


def cancelled_at(plans: tuple[Plan, ...], samples: int, enough: Enough | None = None) -> list[Any]:
    """What a run keeps that is cancelled as soon as it has taken so many samples."""

    async def run() -> list[Any]:
        kept: list[Any] = []
        far = asyncio.Event()

        def progress(at: Progress) -> None:
            if at.done >= samples:
                far.set()

        task = asyncio.create_task(measure_in_turns(plans, progress, enough, kept.append))
        await far.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return kept

    return asyncio.run(run())


def test_cancel_keeps_the_processes_that_have_finished(tmp_path: Path) -> None:
    asked = endless(tmp_path, 4)
    (((run,),),) = (cancelled_at((asked,), of_four(asked)),)
    assert run.ticks.tolist() == [0, 1, 2, 3]
    found = cut_short(run)
    assert found is not None and found.after_s > 0
    assert (found.by, found.planned, found.whole) == (CANCELLED, 10, 4)
    assert "cancelled after 4 of 10 processes" in warned(run)["cut-short"]


def test_cancel_keeps_nothing_without_a_whole_process_of_each_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The plan whose processes end is first: chance would have the other wait without a sample.
    monkeypatch.setattr(random, "sample", lambda turns, count: turns[:count])
    plans = endless(tmp_path, 10, "one"), endless(tmp_path, 0, "other")
    assert cancelled_at(plans, of_four(plans[0]) // 4) == []


def test_cancel_keeps_what_was_added(tmp_path: Path) -> None:
    asked = dataclasses.replace(endless(tmp_path, 12), within=0.02, at_most_s=600)
    ((run,),) = cancelled_at((asked,), 3 * of_four(asked), lambda recordings, most: None)
    assert len(run.processes) == 12
    assert run.conditions["adaptive.stopped"] == CANCELLED
    assert "cut-short" not in warned(run), "all that was planned is there"


def test_an_interrupt_keeps_the_processes_that_have_finished(tmp_path: Path) -> None:
    asked, far = endless(tmp_path, 4), threading.Event()
    kept: list[Recording] = []

    def progress(at: Progress) -> None:
        if at.done >= of_four(asked):
            far.set()

    def meanwhile() -> None:
        if far.is_set():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_in_turns_now((asked,), progress, meanwhile=meanwhile, kept=kept.extend)
    (run,) = kept
    assert len(run.processes) == 4 and cut_short(run) is not None


def test_an_interrupt_after_the_last_process_keeps_them_all(tmp_path: Path) -> None:
    kept: list[Recording] = []

    def meanwhile() -> None:
        for thread in threading.enumerate():
            if thread.name == "measure":
                thread.join()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_in_turns_now((plan(tmp_path, 10),), meanwhile=meanwhile, kept=kept.extend)
    (run,) = kept
    assert len(run.processes) == 10 and cut_short(run) is None


def test_a_cancelled_run_states_that_it_counted_nothing(tmp_path: Path) -> None:
    asked = dataclasses.replace(endless(tmp_path, 4), perf=True)
    ((run,),) = cancelled_at((asked,), of_four(asked))
    assert set(absent(run).values()) == {"the run was cancelled"}


@pytest.mark.usefixtures("_time_is_up")
def test_without_a_whole_process_of_each_plan_nothing_is_kept(tmp_path: Path) -> None:
    plans = (plan(tmp_path, 10, "one"), plan(tmp_path, 0, "other"))
    with pytest.raises(RunFailed, match="no sample is kept"):
        measure_in_turns_now(plans)


@pytest.mark.usefixtures("_time_is_up")
def test_of_two_plans_both_are_shorter(tmp_path: Path) -> None:
    one, other = measure_in_turns_now((plan(tmp_path, 10, "one"), plan(tmp_path, 3, "other")))
    # They take turns; in the fourth round the second one waits, and chance says who is first.
    assert len(other.processes) == 3 and len(one.processes) in (3, 4)
    assert cut_short(one) is not None and cut_short(other) is not None


@pytest.mark.usefixtures("_time_is_up")
def test_a_process_that_was_added_costs_none_of_those_planned(tmp_path: Path) -> None:
    asked = dataclasses.replace(plan(tmp_path, 11), within=0.02, at_most_s=600)
    run = measure_now(asked, enough=lambda recordings, most: None)
    assert len(run.processes) == 11
    assert run.conditions["adaptive.stopped"] == TIME_IS_UP
    assert cut_short(run) is None


def shorter(after_s: float = 120, processes: int = 10) -> Recording:
    run = simulate.run(Machine(step=2), processes)
    return dataclasses.replace(
        run, conditions={**run.conditions, **cut_short_conditions(after_s, 20)}
    )


def warned(run: Recording) -> dict[str, str]:
    return {each.code: str(each) for each in of_recording(run, run.variants[0])}


def test_a_warning_says_how_many_had_finished_and_what_to_type() -> None:
    said = warned(shorter())["cut-short"]
    assert "the time limit of 120 s ended this run after 10 of 20 processes" in said
    assert "Try: --time-limit 288, or fewer samples or variants at a time." in said
    # No run may take so long.
    assert "--time-limit" not in warned(shorter(after_s=3000))["cut-short"]
    assert "cut-short" not in warned(simulate.run(Machine(step=2), 10))


def test_a_warning_says_what_took_no_sample() -> None:
    not_known = ("computed without end, or waited", "an endless loop or wait")
    run = simulate.run(Machine(step=2), 10)
    for share, cause, advised in (
        (0.0, "used no processor time, so it waited", "a byte that nobody writes"),
        (0.97, "computed all the time", "a loop that never ends"),
        (0.1, *not_known),
        (None, *not_known),
    ):
        stated = {**run.conditions, **cut_short_conditions(10, 20, PATIENCE, share)}
        said = warned(dataclasses.replace(run, conditions=stated))["cut-short"]
        assert "no sample for 10 s, and Ticklab ended this run after 10 of 20 processes" in said
        assert cause in said and advised in said and "--patience 20" in said, share


# An interval that was to be narrower


def stopped(why: str, within: str = "0.02") -> Recording:
    """A run of ten processes with a wide interval, which was to add others for 10 s."""
    run = simulate.run(Machine(step=2, process_spread=5), 10)
    stated = {
        "adaptive.within": within,
        "adaptive.at_most_s": "10",
        "adaptive.planned_processes": "10",
        "adaptive.stopped": why,
    }
    return dataclasses.replace(run, conditions={**run.conditions, **stated})


def test_a_run_says_why_its_interval_is_wider_than_asked() -> None:
    for why, cause in (
        (TIME_IS_UP, "the 10 s in which it could add processes were over"),
        (FULL, "a recording can hold no more processes"),
        (CANCELLED, "the run was cancelled"),
        (out_of_reach(0.0312), "would narrow it to about 3.1 % at best, so the run stopped"),
    ):
        result = result_of(stopped(why))
        (said,) = [each for each in result.warnings if each.code == "not-within"]
        assert result.estimate is not None
        share = result.estimate.half_width / result.estimate.value
        assert f"width is {100 * share:.2g} % of the value, and 2 % was asked for" in said.symptom
        assert cause in said.likely_cause, why


def test_a_run_whose_interval_is_as_narrow_as_asked_says_nothing() -> None:
    for run in (stopped(TIME_IS_UP, within="0.4"), stopped("interval within 2 %"), shorter()):
        assert "not-within" not in {each.code for each in result_of(run).warnings}


def test_what_can_be_reached_is_stated_and_read() -> None:
    for share in (0.002, 0.0312, 1.5, 99, float("inf")):
        found = not_narrow(stopped(out_of_reach(share)))
        assert found is not None and found.reachable == pytest.approx(min(share, 99), rel=0.05)


def test_what_is_advised_can_be_asked_for() -> None:
    assert run_warnings.MOST_AT_MOST_S == plan_limits.MOST_AT_MOST_S
    assert run_warnings.MOST_PERCENT == 100 * plan_limits.MOST_WITHIN
    tried = {each.code: each.try_this for each in result_of(stopped(TIME_IS_UP, "0.04")).warnings}
    assert re.fullmatch(r"--at-most [2-9]0", tried["not-within"])
    hopeless = stopped(out_of_reach(0.0312), "0.002")
    tried = {each.code: each.try_this for each in result_of(hopeless).warnings}
    assert tried["not-within"] == "--within 4, or more samples in each process"


def test_another_reason_is_not_read() -> None:
    for why in ("", "time", "out of reach: about 3 % at best; buy", "3", TOOK_NO_SAMPLE):
        assert not_narrow(stopped(why)) is None, why
    assert not_narrow(stopped(TIME_IS_UP, within="nan")) is None


def test_what_somebody_else_wrote_there_does_no_harm() -> None:
    run = shorter()
    for stated in ("x", "-1", "0", "nan", "1e300"):
        changed = {**run.conditions, "cut_short.planned_processes": stated}
        assert cut_short(dataclasses.replace(run, conditions=changed)) is None, stated
    cut = ("cut_short.by", "cut_short.after_s", "cut_short.cpu_share")
    keys = (*cut, "adaptive.within", "adaptive.at_most_s", "adaptive.stopped")
    for run, by in itertools.product(
        (stopped(TIME_IS_UP), stopped(out_of_reach(99))), (TIME_LIMIT, PATIENCE, CANCELLED)
    ):
        honest = {**run.conditions, **cut_short_conditions(10, 20, by, 0.5)}
        for key, stated in itertools.product(keys, ("x", "-1", "1e300", "1e-300", "nan")):
            odd = dataclasses.replace(run, conditions={**honest, key: stated})
            for warning in result_of(odd).warnings:
                assert len(f"{warning}") < 500, (key, stated)


HONEST = Path(__file__).parents[1] / "fixtures/honest_runs/01-timer-overhead-counter-1-ghz"


def test_the_verdict_says_it_and_no_figure_loses_points_for_it(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    figures = json.loads((HONEST / "figures.json").read_text())
    name = "timer-overhead-fenced"
    run = read(HONEST / figures[name]["recording"])
    (tmp_path / "figures.json").write_text(json.dumps({name: figures[name]}))
    verdicts = []
    twice = 2 * len(run.processes)
    for more in (
        {},
        cut_short_conditions(120, twice),
        cut_short_conditions(7, twice, CANCELLED),
        cut_short_conditions(10, twice, PATIENCE, 0.0),
    ):
        stated = dataclasses.replace(run, conditions={**run.conditions, **more})
        stated.write(tmp_path / figures[name]["recording"])
        (found,) = [v for v in check_folder(tmp_path, "01-timer-overhead") if v.figure == name]
        verdicts.append(found)
    whole, *cut = verdicts
    notes = ("The time limit of 120 s ended", "was cancelled", "took no sample for 10 s")
    for each, note in zip(cut, notes, strict=True):
        assert (each.outcome, each.points) == (whole.outcome, whole.points)
        assert note in each.note and f"after {twice // 2} of {twice} processes" in each.note
    assert not whole.note
    assert result_of(stated, "fenced").estimate is not None


# Control-C in a terminal

#: A C kernel whose first processes take samples, and whose next one waits without end. Each of them
#: leaves a file of its number in the folder of the run. What a sample takes is made up: so there is
#: a figure on a busy machine, too.
KERNEL = """
#define _GNU_SOURCE
#include "harness.h"
#include <fcntl.h>
static uint64_t adds(long batch)
{
    static unsigned taken;
    return 1000 + 9 * (uint64_t)batch + taken++ % 3;
}
static uint64_t adds_more(long batch)
{
    return adds(2 * batch);
}
static const long batches[] = {64, 128, 256};
static const struct variant variants[] = {
    {.name = "add", .about = "adds", .interval = adds, .read = counter_begin},
    {.name = "more", .about = "adds more", .interval = adds_more, .read = counter_begin}};
int main(int argc, char **argv)
{
    static const struct c_kernel kernel = {
        .name = "adds", .about = "adds", LISTED_VARIANTS(variants), LISTED_BATCHES(batches)};
    const int whole = atoi(getenv("WHOLE"));
    for (int number = 0; argc > 2 && number <= whole; number++) {
        char path[20];
        snprintf(path, sizeof path, "marks/%d", number);
        const int seen = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (seen < 0)
            continue;
        close(seen);
        if (number == whole)
            pause();
        break;
    }
    return measure(&kernel, argc, argv);
}
"""


def interrupted(folder: Path, whole: int, *words: str) -> tuple[int, str, str]:
    """The exit status and the output of `labs WORDS`, ended by Control-C after so many processes.

    The C kernel is `adds.c` in `folder`.
    """
    marks = folder / "marks"
    marks.mkdir()
    (folder / "adds.c").write_text(KERNEL)
    run = subprocess.Popen(
        [sys.executable, "-m", "labs.commands.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={**os.environ, "WHOLE": str(whole)},
    )  # fmt: skip
    while not (marks / f"{whole}").exists():
        assert run.poll() is None, run.communicate()
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    return run.returncode, printed, said


#: At -O0, which takes a third of the compiler's time.
MEASURE = (
    *("measure", "adds.c", "--samples", "900", "--warmup", "0", "--processes", "10"),
    "--flags=-O0",
)


def test_the_figure_of_the_processes_that_had_finished_is_printed(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 6, *MEASURE, "--save", "run.csv")
    assert status == 130, said
    assert "from 6 processes" in printed or "of 6 processes" in printed
    assert "the run was cancelled after 6 of 10 processes" in printed
    found = cut_short(read(tmp_path / "run.csv"))
    assert found is not None
    assert (found.by, found.whole, found.planned) == (CANCELLED, 6, 10)


def test_json_states_it_too(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 6, *MEASURE, "--json")
    stated = json.loads(printed)
    assert status == 130, said
    assert stated["conditions"]["cut_short.by"] == CANCELLED
    (warning,) = [each for each in stated["warnings"] if each["code"] == "cut-short"]
    assert "after 6 of 10 processes" in warning["symptom"]


def test_without_a_whole_process_nothing_is_printed(tmp_path: Path) -> None:
    status, printed, said = interrupted(tmp_path, 0, *MEASURE, "--save", "run.csv")
    assert (status, printed, said.splitlines()[-1]) == (130, "", "interrupted")
    assert not (tmp_path / "run.csv").exists()


def test_a_comparison_is_printed_from_what_had_finished(tmp_path: Path) -> None:
    (tmp_path / "again.c").write_text(KERNEL)
    words = ("compare", "adds.c:add", "again.c:more", *MEASURE[2:])
    status, printed, said = interrupted(tmp_path, 12, *words)
    assert status == 130, said
    assert "the run was cancelled after 6 of 10 processes" in printed


@pytest.mark.parametrize("kept", [True, False])
def test_the_status_is_0_only_if_nobody_interrupts(
    kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    carried_out = measure_command.carry_out

    def carry_out(plans: list[Plan], unit: str, keep: Kept, *_: object) -> object:
        found = carried_out(plans, unit)
        if kept:
            keep(found)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(measure_command, "carry_out", carry_out)
    words = ["measure", "timer_overhead", "--samples", "100", "--processes", "2"]
    assert cli.main(words) == (130 if kept else 0)
    assert "timer_overhead fenced" in capsys.readouterr().out
