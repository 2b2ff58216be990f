"""Runs of real C kernels: good ones, bad ones, and what is left behind."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import itertools
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from labs import paths
from labs.c_kernels import toolchain
from labs.commands import cli
from labs.limits import MOST_PROCESSES, MOST_SAMPLES, MOST_WARMUP
from labs.machine import surroundings
from labs.recording.file import BadRecording, Recording
from labs.results.result import result_of
from labs.run import c_process, declared_options
from labs.run.c_process import STOPPED_S, TICK_S, Deadline, Reading, RunClock, RunFailed, Standstill
from labs.run.measure import (
    BadPlan,
    Plan,
    Progress,
    measure,
    measure_in_turns_now,
    measure_now,
    turns_of,
)
from labs.run.variants import plan_of_line
from support.paths import REPOSITORY

ALLOWED = surroundings.allowed_cpus()
SOME_CPU = max(ALLOWED) if ALLOWED else None
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the states of tasks")
PINNABLE = pytest.mark.skipif(ALLOWED is None, reason="this system offers no pinning")
QUICK = Plan("timer_overhead", ("fenced",), samples=600, processes=3, warmup=10)

#: Begins well, then forks and never ends.
FOREVER = """
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    if (fork() == 0)
        for (;;)
            pause();
    fprintf(stderr, "progress 1 100\\n");
    for (;;)
        pause();
}
"""

#: A C kernel of the kit whose every interval takes 10 ms.
SLOW = """
#define _GNU_SOURCE
#include "harness.h"
static uint64_t interval(long batch)
{
    const uint64_t begin = counter_begin();
    usleep(10000);
    return counter_end() - begin + (uint64_t)batch;
}
static const long batches[] = {1};
static const struct variant variants[] = {
    {.name = "slow", .about = "", .interval = interval, .read = counter_begin}};
int main(int argc, char **argv)
{
    static const struct c_kernel kernel = {
        .name = "slowly", .about = "", LISTED_VARIANTS(variants), LISTED_BATCHES(batches),
        .batches_fixed = 1};
    return measure(&kernel, argc, argv);
}
"""


#: Longer than anything that is left to end by itself takes, on a machine under load.
LONGEST_END_S = 20.0


def program(body: str) -> Plan:
    """A plan for a program of one's own."""
    headers = ("stdio", "stdlib", "string", "signal", "unistd")
    text = "".join(f"#include <{name}.h>\n" for name in headers)
    return Plan("mine", source=f"{text}int main(void)\n{{\n{body}\n}}\n", processes=2)


def programs_running() -> list[psutil.Process]:
    """Every living process of this worker whose program the kit has built."""
    cache, found = os.environ["TICKLAB_CACHE"], []
    folder = str(Path(cache, "programs").resolve())
    for process in psutil.process_iter(["exe"]):
        if (process.info["exe"] or "").startswith(folder):
            with contextlib.suppress(psutil.Error):  # it ends just now
                # An orphan that has ended belongs to the system's first process, which takes its
                # time.
                ended = process.status() == psutil.STATUS_ZOMBIE
                if not ended and process.environ().get("TICKLAB_CACHE") == cache:
                    found.append(process)
    return found


def soon_nothing_runs() -> bool:
    begin = time.monotonic()
    while programs_running() and time.monotonic() - begin < LONGEST_END_S:
        pass
    return programs_running() == []


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    """After every test: no process of a run lives, none is a zombie of ours."""
    yield
    ended = soon_nothing_runs()
    for process in programs_running():
        process.kill()
    assert ended
    children = psutil.Process().children(recursive=True)
    zombies = [child for child in children if child.status() == psutil.STATUS_ZOMBIE]
    assert zombies == []


@pytest.fixture(scope="module")
def run() -> Recording:
    return measure_now(dataclasses.replace(QUICK, cpu=SOME_CPU))


# Good runs


def test_the_plan_is_what_is_measured(run: Recording) -> None:
    assert run.variants == ("fenced",)
    assert len(run.samples("fenced")) == 600
    assert len(run.samples("fenced", warmup=True)) == 30
    assert sorted(set(run.process.tolist())) == [0, 1, 2]
    assert sorted(set(run.batch.tolist())) == [0, 64, 128, 256, 512]


def test_the_conditions_say_how_it_was_made(run: Recording) -> None:
    assert "labs measure timer_overhead --variant fenced --samples 600" in run.conditions["command"]
    assert run.conditions["flags"] == "-O2"
    source = toolchain.c_kernel_source("timer_overhead").read_text()
    assert run.conditions["source.sha256"] == toolchain.source_hash(source)
    assert len(run.condition("seed")) == 3 == len(set(run.condition("seed")))


@PINNABLE
def test_pinning_was_obtained(run: Recording) -> None:
    assert set(run.condition("cpu.after")) == {str(SOME_CPU)}


def test_the_run_has_a_figure(run: Recording) -> None:
    result = result_of(run, "fenced")
    assert result.estimate is not None and result.estimate.value > 0


def test_samples_that_do_not_divide_are_all_taken() -> None:
    plan = dataclasses.replace(QUICK, samples=101, processes=7)
    assert sum(plan.shares()) == 101 and max(plan.shares()) - min(plan.shares()) == 1
    assert len(measure_now(plan).samples("fenced")) == 101


def test_fewer_samples_than_processes_leave_processes_out() -> None:
    recording = measure_now(dataclasses.replace(QUICK, samples=2, processes=5))
    assert len(recording.processes) == 2


def test_variants_and_batches_are_chosen() -> None:
    plan = dataclasses.replace(QUICK, variants=("fenced", "realtime"), batches=(0, 512))
    recording = measure_now(plan)
    assert set(recording.variants) == {"fenced", "realtime"}
    assert set(recording.batch.tolist()) == {0, 512}
    assert len(recording.samples("realtime")) == 600


def test_a_recording_does_not_tell_where_the_kit_is_installed() -> None:
    inside = str(paths.kernels_c() / "broken" / "cached_getpid.c")
    command = dataclasses.replace(QUICK, kernel=inside).command_line()
    assert command.startswith("labs measure kernels_c/broken/cached_getpid.c ")
    assert str(paths.kernels_c()) not in command


def test_a_recording_does_not_tell_whose_home_folder_the_c_is_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/grace")

    def shown(kernel: str) -> str:
        return dataclasses.replace(QUICK, kernel=kernel).command_line().split()[2]

    assert shown("/home/grace/os/own.c") == "~/os/own.c"
    assert shown("/home/grace2/own.c") == "/home/grace2/own.c"
    assert shown("own.c") == "own.c"
    monkeypatch.setenv("HOME", "/")
    assert shown("/srv/own.c") == "/srv/own.c"


def test_flags_do_not_tell_whose_home_folder_the_project_is_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/grace")
    shown = {
        "-I/home/grace/include": "-I~/include",
        "-L/home/grace": "-L~",
        "-isystem/home/grace/include": "-isystem~/include",
        "--sysroot=/home/grace/root": "--sysroot=~/root",
        "/home/grace/parse.c": "~/parse.c",
        "-I/home/graceful/include": "-I/home/graceful/include",
        "-I/data/home/grace/include": "-I/data/home/grace/include",
        "-O2": "-O2",
    }
    assert {word: Plan("own.c", flags=(word,)).shown_flags for word in shown} == shown


def test_a_source_given_as_text_is_measured() -> None:
    recording = measure_now(Plan("slow", source=SLOW, samples=4, processes=2, warmup=1))
    assert recording.kernel == "slowly", "what it calls itself"
    assert recording.variants == ("slow",)
    assert recording.conditions["source.sha256"] == toolchain.source_hash(SLOW)


def test_progress_grows_and_arrives() -> None:
    seen: list[Progress] = []
    plan = dataclasses.replace(QUICK, samples=60_000, processes=4)
    measure_now(plan, seen.append)
    assert {at.total for at in seen} == {60_000 + 4 * 10}
    assert all(one.done <= other.done for one, other in itertools.pairwise(seen))
    assert seen[-1].done == seen[-1].total
    assert len(seen) >= 4


def test_two_at_once_do_not_meet() -> None:
    async def both() -> list[Recording]:
        other = dataclasses.replace(QUICK, variants=("realtime",))
        return list(await asyncio.gather(measure(QUICK), measure(other)))

    one, other = asyncio.run(both())
    assert one.variants == ("fenced",) and other.variants == ("realtime",)
    assert len(one) == len(other) == 630


def test_processes_take_turns_and_chance_says_who_is_first() -> None:
    def order(*shares: int) -> str:
        return "".join("ABC"[which] for which, _, _ in turns_of([[1] * n for n in shares]))

    assert order(3) == "AAA"
    random.seed(1)
    first: Counter[str] = Counter()
    for _ in range(400):
        three = order(3, 3)
        assert {three[0:2], three[2:4], three[4:6]} <= {"AB", "BA"}
        first[three[::2]] += 1
        assert sorted(order(3, 1)[:2]) == ["A", "B"] and order(3, 1)[2:] == "AA"
    # Each of the eight ways has its share of 50: hardly one in 10,000 seeds gives one of them 24.
    assert len(first) == 8 and min(first.values()) >= 25


def test_the_line_that_a_recording_states_makes_the_same_plan_again() -> None:
    parser = argparse.ArgumentParser()
    declared_options.add_line(parser)
    others: dict[str, Any] = {
        "kernel": "system_call", "variants": ("fenced", "realtime"), "samples": 700,
        "batches": (0, 8), "warmup": 11, "cpu": 2, "peer_cpu": 3, "processes": 4,
        "flags": ("-O1", "-g"), "spread_s": 1.5, "within": 0.07, "replace_s": 2.5, "perf": True,
    }  # fmt: skip
    for name, value in [("kernel", "my folder/own.c"), *others.items()]:
        plan = dataclasses.replace(QUICK, **{name: value})
        words = shlex.split(plan.command_line())
        assert words[:2] == ["labs", "measure"]
        again = plan_of_line(parser.parse_args(words[2:]))
        # What an adaptive run would replace without its limit is not said, and changes nothing.
        assert dataclasses.replace(again, replace_s=plan.replace_s) == plan, name
        assert name == "within" or again.replace_s == plan.replace_s, name
    unsaid = {"time_limit_s", "patience_s", "source", "shown_as", "first_line", "at_most_s"}
    assert {each.name for each in dataclasses.fields(QUICK)} - unsaid == others.keys()


def test_plans_whose_processes_take_turns_give_a_recording_each() -> None:
    other = dataclasses.replace(QUICK, variants=("realtime",), processes=2)
    seen: list[Progress] = []
    one, two = measure_in_turns_now((QUICK, other), seen.append)
    assert (one.variants, two.variants) == (("fenced",), ("realtime",))
    assert len(one.processes) == QUICK.processes and len(two.processes) == 2
    assert one.conditions["command"] == QUICK.command_line()
    assert one.conditions["in_turns_with"] == two.conditions["command"]
    assert one.conditions["turns"] == two.conditions["turns"] != ""
    seeds = [[each["seed"] for each in run.processes] for run in (one, two)]
    assert seeds[0][:2] == seeds[1] and len(set(seeds[0])) == QUICK.processes
    assert result_of(one).estimate is not None and result_of(two).estimate is not None
    assert seen[-1].done == seen[-1].total == len(one) + len(two)


def test_no_other_call_has_its_turns() -> None:
    alone, *twice = (measure_in_turns_now((QUICK,) * n)[0].conditions for n in (1, 2, 2))
    assert "turns" not in alone and twice[0]["turns"] != twice[1]["turns"]


def test_one_plan_that_cannot_be_keeps_all_from_being_carried_out() -> None:
    with pytest.raises(BadPlan, match="samples 0"):
        measure_in_turns_now((QUICK, dataclasses.replace(QUICK, samples=0)))


def test_it_works_inside_a_running_event_loop() -> None:
    async def cell() -> Recording:
        return measure_now(QUICK)

    assert len(asyncio.run(cell())) == 630


def test_it_works_in_a_thread_that_is_not_the_first() -> None:
    found: list[Recording] = []
    thread = threading.Thread(target=lambda: found.append(measure_now(QUICK)))
    thread.start()
    thread.join()
    assert len(found[0]) == 630


def test_spreading_takes_the_time_it_says() -> None:
    recording = measure_now(dataclasses.replace(QUICK, spread_s=0.3))
    assert len(recording) == 630
    assert "--spread 0.3" in recording.conditions["command"]


# Plans that cannot be carried out

BAD_PLANS: dict[str, dict[str, object]] = {
    "zero samples": {"samples": 0},
    "negative samples": {"samples": -1},
    "absurdly many samples": {"samples": MOST_SAMPLES + 1},
    "samples true": {"samples": True},
    "samples a fraction": {"samples": 10.5},
    "samples as text": {"samples": "10"},
    "no processes": {"processes": 0},
    "too many processes": {"processes": MOST_PROCESSES + 1},
    "negative warm-up": {"warmup": -1},
    "absurd warm-up": {"warmup": MOST_WARMUP + 1},
    "negative batch": {"batches": (-1,)},
    "batch true": {"batches": (True,)},
    "no time": {"time_limit_s": 0},
    "negative time": {"time_limit_s": -1},
    "time not a number": {"time_limit_s": float("nan")},
    "endless time": {"time_limit_s": float("inf")},
    "negative spread": {"spread_s": -1},
    "spread beyond the time limit": {"spread_s": 500},
    "CPU outside the set": {"cpu": 1023},
    "negative CPU": {"cpu": -1},
    "CPU true": {"cpu": True},
    "peer CPU outside the set": {"peer_cpu": 1023},
    "more rows than a recording holds": {
        "samples": 100_000, "variants": ("fenced", "unfenced", "monotonic")},
}  # fmt: skip


def test_a_plan_that_cannot_be_is_refused() -> None:
    for case, options in BAD_PLANS.items():
        plan = dataclasses.replace(QUICK, **options)  # type: ignore[arg-type]
        with pytest.raises(BadPlan) as refused:
            measure_now(plan)
        option = next(iter(options)).rstrip("es").partition("_")[0]
        assert option in str(refused.value) and "\n" not in str(refused.value), case


def test_what_only_the_c_kernel_knows_it_refuses_itself() -> None:
    with pytest.raises(RunFailed, match="no such variant") as refused:
        measure_now(dataclasses.replace(QUICK, variants=("sundial",)))
    assert refused.value.status == 2 and not refused.value.impossible_here


# C kernels that go wrong


def test_a_compile_error_names_the_line_of_the_cell() -> None:
    plan = Plan("mine", source="int main(void)\n{\n    return x;\n}\n", shown_as="cell 3")
    with pytest.raises(toolchain.CompileError, match=r"^cell 3, line 3: error"):
        measure_now(plan)


def test_no_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(toolchain.NoCompiler):
        measure_now(QUICK)


GOOD_LINES = r'printf("# a: b\nvariant,sample,batch,ticks\nv,0,1,5\n");'

BAD_PROGRAMS: dict[str, tuple[str, type[Exception], str]] = {
    "prints nothing": ("return 0;", BadRecording, "printed no line"),
    "prints garbage": ('puts("hello"); return 0;', BadRecording, "printed no line"),
    "prints a bad row": (
        GOOD_LINES + 'puts("v,1,1,nan"); return 0;', BadRecording, "'v,1,1,nan' is not a row"),
    "prints a gigabyte": (
        "static char z[1 << 20]; memset(z, 65, sizeof z);"
        "for (int i = 0; i < 1024; i++) fwrite(z, 1, sizeof z, stdout); return 0;",
        RunFailed, "more than its samples"),
    "prints without end": ('for (;;) puts("x");', RunFailed, "more than its samples"),
    "complains without end": (
        "static char z[5000]; memset(z, 65, sizeof z);"
        "for (int i = 0; i < 20000; i++) fwrite(z, 1, sizeof z, stderr); return 7;",
        RunFailed, "AAAA"),
    "writes to a null pointer": (
        "volatile int *p = NULL; *p = 1; return 0;", RunFailed, "ended by SIGSEGV"),
    "aborts": ('fputs("my reason\\n", stderr); abort();', RunFailed, "SIGABRT: my reason"),
    "says that it cannot": (
        'fputs("no such counter here\\n", stderr); return 3;', RunFailed, "no such counter here"),
    "ends with a status and no word": ("return 5;", RunFailed, "status 5 and printed no error"),
    "says so in bytes that are no text": (
        'fputs("\\xff\\xfe\\n", stderr); return 1;', RunFailed, "\ufffd"),
    "measures and then fails": (GOOD_LINES + "return 1;", RunFailed, "status 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_PROGRAMS)
def test_a_program_that_goes_wrong_is_told(case: str) -> None:
    body, kind, message = BAD_PROGRAMS[case]
    with pytest.raises(kind, match=re.escape(message)) as failed:
        measure_now(program(body))
    assert len(str(failed.value)) < 12_000


def test_status_three_means_that_this_machine_cannot() -> None:
    with pytest.raises(RunFailed) as failed:
        measure_now(program("return 3;"))
    assert failed.value.impossible_here


def test_progress_that_is_nonsense_does_no_harm() -> None:
    body = r'fputs("progress 99999999999999999999 1\nprogress x y\nprogress -1 2\n", stderr);'
    seen: list[Progress] = []
    measure_now(program(body + GOOD_LINES + "return 0;"), seen.append)
    assert all(0 <= at.done <= at.total for at in seen)


# Ends


def test_the_time_limit_ends_the_run_and_its_children() -> None:
    plan = Plan("forever", source=FOREVER, time_limit_s=0.4)
    with pytest.raises(RunFailed, match=r"time limit of 0\.4 s, and no sample is kept. Take fewer"):
        measure_now(plan)
    assert soon_nothing_runs()


def own_program(body: str) -> Plan:
    """A plan for a program that is ended soon if it shows no progress."""
    return dataclasses.replace(program(body), patience_s=0.4)


def test_c_of_a_student_that_waits_for_ever_is_ended_and_told() -> None:
    with pytest.raises(
        RunFailed, match=r"no sample for 0\.4 s\. It used no processor time"
    ) as failed:
        measure_now(own_program("if (fork() == 0) pause(); pause(); return 0;"))
    assert "look for a call that" in str(failed.value)
    assert "patience" in str(failed.value)
    assert soon_nothing_runs()


def test_c_of_a_student_that_computes_for_ever_is_ended_and_told() -> None:
    with pytest.raises(RunFailed, match="a loop that never ends") as failed:
        measure_now(own_program("for (volatile int i = 0;; i++) ; return 0;"))
    assert "it waits" not in str(failed.value)


def test_c_that_goes_on_is_not_ended_however_long_it_takes() -> None:
    body = r'for (int i = 0; i < 25; i++) { usleep(100000); fputs("progress 1 2\n", stderr); }'
    plan = dataclasses.replace(program(f"{body} return 5;"), patience_s=2)
    with pytest.raises(RunFailed, match="status 5"):
        measure_now(plan)


def test_a_c_kernel_of_the_kit_may_take_its_time() -> None:
    assert not Plan("timer_overhead").of_student
    assert Plan("own.c").of_student and Plan("own", source="").of_student


def test_cancel_ends_the_run_and_its_children() -> None:
    async def cancelled() -> float:
        begun = asyncio.Event()
        plan = Plan("forever", source=FOREVER)
        task = asyncio.create_task(measure(plan, lambda at: begun.set() if at.done else None))
        await begun.wait()
        assert len(programs_running()) == 2
        at = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time() - at

    assert asyncio.run(cancelled()) < 1


def test_cancelling_at_any_moment_leaves_nothing() -> None:
    moments = random.Random(20)
    plan = dataclasses.replace(QUICK, samples=50_000, processes=20)
    measure_now(QUICK)  # builds

    async def once(seconds: float) -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(measure(plan), seconds)
        # The loop's own tasks are all that is left.
        assert len(asyncio.all_tasks()) == 1

    for _ in range(30):
        asyncio.run(once(moments.uniform(0, 0.08)))
    assert soon_nothing_runs()


def test_a_callback_that_fails_ends_the_run() -> None:
    def fails(at: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure_now(Plan("forever", source=FOREVER), fails)


SCRIPT = """
import sys
from labs.run.measure import Plan, measure_now
plan = Plan("slow", source=sys.stdin.read(), processes=1)
measure_now(plan, lambda at: at.done and print(at, flush=True))
"""


def started(source: str) -> subprocess.Popen[str]:
    """Another Python in the middle of a run."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(source)
    process.stdin.close()
    assert process.stdout.readline().startswith("Progress(")
    assert programs_running() != []
    return process


@pytest.mark.parametrize("source", [FOREVER, SLOW], ids=["forks and ignores signals", "slow"])
def test_an_interrupt_ends_the_run_before_it_is_raised(source: str) -> None:
    with started(source) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) != 0
        assert process.stderr is not None
        assert process.stderr.read().rstrip().endswith("KeyboardInterrupt")
    assert soon_nothing_runs()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_run_ends_when_its_parent_is_killed() -> None:
    with started(SLOW) as process:
        process.kill()
        process.wait(timeout=60)
    assert soon_nothing_runs()


#: A daemon, in a session of its own, holds the pipes and lives on.
ESCAPES = """
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    fputs("progress 1 100\\n", stderr);
    return 0;
"""


def test_a_process_that_left_the_group_does_not_hold_up_the_end() -> None:
    plan = dataclasses.replace(program(ESCAPES), time_limit_s=0.5)
    with pytest.raises(RunFailed, match="time limit"):
        measure_now(plan)
    (daemon,) = programs_running()
    daemon.kill()


def test_no_handles_are_left_open() -> None:
    measure_now(QUICK)
    before = psutil.Process().num_fds()
    for body in ("return 1;", GOOD_LINES + "return 0;", 'for (;;) puts("x");'):
        with contextlib.suppress(RunFailed):
            measure_now(program(body))
    assert psutil.Process().num_fds() <= before


def test_the_command_names_the_variants_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["measure", "timer_overhead", "--variant", "fencd"]) == 2
    message = capsys.readouterr().err
    assert "no such variant: fencd" in message and "It has" in message and "unfenced" in message


# Pauses and load are no fault of what is measured


def times(*gaps: float) -> Callable[[], float]:
    """A clock whose readings are so many seconds apart."""
    readings = itertools.accumulate((1000.0, *gaps))
    return lambda: next(readings)


def test_a_clock_counts_ticks_and_no_pause() -> None:
    clock = RunClock(times(TICK_S, TICK_S, 14, TICK_S, 3600, TICK_S))
    assert [clock.now() for _ in range(6)] == [TICK_S * n for n in (1, 2, 2, 3, 3, 4)]


def test_a_tick_that_load_delays_is_counted() -> None:
    late = 0.9 * STOPPED_S
    deadline = Deadline(RunClock(times(late, late)), 5.0)
    assert deadline.left_s() == pytest.approx(5 - late)
    assert deadline.left_s() == pytest.approx(5 - 2 * late)


def test_the_time_limit_counts_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    class Paused(RunClock):
        """Once some samples are taken, its time jumps, as after the pause of a container."""

        def __init__(self) -> None:
            super().__init__(lambda: time.monotonic() + (5000.0 if seen else 0.0))

    seen: list[Progress] = []
    monkeypatch.setattr(c_process, "RunClock", Paused)
    plan = Plan("timer_overhead", samples=600, processes=4, time_limit_s=3000.0)

    def progress(at: Progress) -> None:
        if at.done >= 300:
            seen.append(at)

    assert len(measure_now(plan, progress).processes) == 4


# What counts as a standstill


def stood(readings: list[Reading], every_s: float = 1.0) -> Standstill:
    """What is counted of a program that shows no progress, with these readings of its group."""
    known = iter(readings)
    found = Standstill(0, lambda group: next(known))
    for number in range(len(readings) + 1):
        found.look(number * every_s)
    return found


def working(share: float, *, ready: bool) -> list[Reading]:
    """Eleven readings, a second apart, of a program that used this share of a CPU between them."""
    return [Reading(7.0 + share * n, ready) for n in range(11)]


def test_only_its_own_time_counts() -> None:
    for readings, own_s, cause in (
        (working(0.0, ready=False), 10.0, "so it waits"),
        (working(1.0, ready=True), 10.0, "It computed all the time"),
        # Its threads use several CPUs.
        (working(3.0, ready=True), 10.0, "It computed all the time"),
        # Other programs have four fifths of the CPU that it needs.
        (working(0.2, ready=True), 2.0, "It computed all the time"),
        # Something has stopped it, or the CPU never comes.
        (working(0.0, ready=True), 0.0, ""),
        (working(0.1, ready=False), 10.0, "Look for a loop"),
    ):
        found = stood(readings)
        assert found.own_s == pytest.approx(own_s)
        assert cause in c_process.likely_cause(found.cpu_share)


def test_progress_begins_anew_and_is_not_disturbed() -> None:
    looked = []

    def read(group: int) -> Reading:
        looked.append(group)
        return Reading(0.0, False)

    found = Standstill(7, read)
    for now in range(20):
        found.progressed()
        found.look(now)
    assert not looked
    found.look(20)
    found.look(21)
    assert (found.own_s, looked) == (1.0, [7, 7])
    found.progressed()
    assert found.own_s == 0.0


@pytest.fixture
def own_group() -> Iterator[Callable[[str], psutil.Process]]:
    """Start Python code in a process group of its own."""
    started = []

    def start(code: str) -> psutil.Process:
        command = [sys.executable, "-S", "-c", f"print(flush=True)\n{code}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout is not None
        process.stdout.readline()
        started.append(process)
        return psutil.Process(process.pid)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def becomes(process: psutil.Process, status: str) -> None:
    while process.status() != status:
        assert process.status() != psutil.STATUS_ZOMBIE


@LINUX
def test_the_os_tells_who_waits_computes_and_is_stopped(
    own_group: Callable[[str], psutil.Process],
) -> None:
    waits, computes = own_group("import time; time.sleep(600)"), own_group("while True: pass")
    becomes(waits, psutil.STATUS_SLEEPING)
    assert not c_process.reading(waits.pid).ready
    first = c_process.reading(computes.pid)
    assert first.ready
    while c_process.reading(computes.pid).cpu_s <= first.cpu_s:
        assert computes.status() != psutil.STATUS_ZOMBIE
    waits.suspend()
    becomes(waits, psutil.STATUS_STOPPED)
    assert c_process.reading(waits.pid).ready
    assert c_process.reading(waits.pid).cpu_s == c_process.reading(waits.pid).cpu_s


@LINUX
def test_a_thread_that_computes_is_seen_behind_one_that_waits(
    own_group: Callable[[str], psutil.Process],
) -> None:
    # The hash is computed without Python's lock, so the first thread can sleep.
    code = "import hashlib, threading\n"
    code += "work = lambda: hashlib.pbkdf2_hmac('sha256', b'', b'', 1 << 30)\n"
    code += "threading.Thread(target=work).start()"
    process = own_group(code)
    becomes(process, psutil.STATUS_SLEEPING)
    while len(process.threads()) < 2:
        assert process.status() != psutil.STATUS_ZOMBIE
    assert c_process.reading(process.pid).ready


# Runs that are stopped and go on

PATIENCE_S = 0.6
STOPPED = f"""
import sys
from labs.run.measure import Plan, measure_now
plan = Plan("slow", source=sys.stdin.read(), samples=150, warmup=1, processes=1,
            patience_s={PATIENCE_S})
print(len(measure_now(plan, lambda at: at.done and print(at, flush=True)).processes), "whole")
"""


@LINUX
def test_a_run_that_is_stopped_longer_than_patience_goes_on() -> None:
    """Three at once: all of the run is stopped, the C alone, and we alone."""

    def stopped_and_continued(ours: bool, theirs: bool) -> tuple[str, int]:
        run = subprocess.Popen(
            [sys.executable, "-c", STOPPED],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
        )  # fmt: skip
        assert run.stdin is not None and run.stdout is not None
        run.stdin.write(SLOW)
        run.stdin.close()
        assert run.stdout.readline().startswith("Progress(")
        (c_kernel,) = psutil.Process(run.pid).children()
        stopped = [run.pid] * ours + [c_kernel.pid] * theirs
        for each in stopped:
            os.kill(each, signal.SIGSTOP)
        time.sleep(2.5 * PATIENCE_S)
        for each in stopped:
            os.kill(each, signal.SIGCONT)
        with run:
            last = run.stdout.read().splitlines()[-1]
        return last, run.returncode

    with ThreadPoolExecutor(3) as pool:
        ended = pool.map(stopped_and_continued, (True, False, True), (True, True, False))
        assert [*ended] == [("1 whole", 0)] * 3


@LINUX
def test_c_that_stops_itself_is_ended_by_the_time_limit() -> None:
    plan = dataclasses.replace(own_program("raise(SIGSTOP); return 0;"), time_limit_s=1)
    with pytest.raises(RunFailed, match="time limit of 1 s"):
        measure_now(plan)


@LINUX
def test_a_parent_that_waits_in_vfork_counts_as_one_that_waits() -> None:
    plan = own_program("if (vfork() == 0) { pause(); _exit(0); } return 0;")
    with pytest.raises(RunFailed, match=r"no sample for 0\.4 s\. It used no processor time"):
        measure_now(plan)
