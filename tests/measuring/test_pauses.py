"""A pause is no fault of what is measured: patience and time limit count neither a stop nor the
load of the machine."""

from __future__ import annotations

import dataclasses
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from labs.run import run_clock, standstill
from labs.run.c_process import RunFailed
from labs.run.measure import Plan, Progress, measure_now
from labs.run.run_clock import STOPPED_S, TICK_S, Deadline, RunClock
from labs.run.standstill import Reading, Standstill
from testing.paths import REPOSITORY

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the states of tasks")

# The clock of a run


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
    monkeypatch.setattr(run_clock, "RunClock", Paused)
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


@pytest.mark.parametrize(
    ("readings", "own_s", "cause"),
    [
        (working(0.0, ready=False), 10.0, "so it waits"),
        (working(1.0, ready=True), 10.0, "It computed all the time"),
        # Its threads use several CPUs.
        (working(3.0, ready=True), 10.0, "It computed all the time"),
        # Other programs have four fifths of the CPU that it needs.
        (working(0.2, ready=True), 2.0, "It computed all the time"),
        # Something has stopped it, or the CPU never comes.
        (working(0.0, ready=True), 0.0, ""),
        (working(0.1, ready=False), 10.0, "Look for a loop"),
    ],
)
def test_only_its_own_time_counts(readings: list[Reading], own_s: float, cause: str) -> None:
    found = stood(readings)
    assert found.own_s == pytest.approx(own_s)
    assert cause in standstill.likely_cause(found.cpu_share)


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
    assert not standstill.reading(waits.pid).ready
    first = standstill.reading(computes.pid)
    assert first.ready
    while standstill.reading(computes.pid).cpu_s <= first.cpu_s:
        assert computes.status() != psutil.STATUS_ZOMBIE
    waits.suspend()
    becomes(waits, psutil.STATUS_STOPPED)
    assert standstill.reading(waits.pid).ready
    assert standstill.reading(waits.pid).cpu_s == standstill.reading(waits.pid).cpu_s


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
    assert standstill.reading(process.pid).ready


# Runs that are stopped and go on

#: A C kernel of a student's own, whose every sample takes 10 ms.
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
        .name = "slow", .about = "", LISTED_VARIANTS(variants), LISTED_BATCHES(batches),
        .batches_fixed = 1};
    return measure(&kernel, argc, argv);
}
"""

PATIENCE_S = 0.6
SCRIPT = f"""
import sys
from labs.run.measure import Plan, measure_now
plan = Plan("paused", source=sys.stdin.read(), samples=150, warmup=1, processes=1,
            patience_s={PATIENCE_S})
print(len(measure_now(plan, lambda at: at.done and print(at, flush=True)).processes), "whole")
"""


@LINUX
@pytest.mark.parametrize("who", ["all of the run", "the C alone", "we alone"])
def test_a_run_that_is_stopped_longer_than_patience_goes_on(who: str) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
    )  # fmt: skip
    assert run.stdin is not None and run.stdout is not None
    run.stdin.write(SLOW)
    run.stdin.close()
    assert run.stdout.readline().startswith("Progress(")
    (c_kernel,) = psutil.Process(run.pid).children()
    groups = {"all of the run": (run.pid, c_kernel.pid), "the C alone": (c_kernel.pid,)}
    stopped = groups.get(who, (run.pid,))
    for each in stopped:
        os.kill(each, signal.SIGSTOP)
    time.sleep(2.5 * PATIENCE_S)
    for each in stopped:
        os.kill(each, signal.SIGCONT)
    with run:
        assert run.stdout.read().endswith("1 whole\n")
    assert run.returncode == 0


def waiting(body: str) -> Plan:
    source = f"#include <signal.h>\n#include <unistd.h>\nint main(void)\n{{\n{body}\n}}\n"
    return Plan("mine", source=source, processes=1, patience_s=0.4)


@LINUX
def test_c_that_stops_itself_is_ended_by_the_time_limit() -> None:
    plan = dataclasses.replace(waiting("raise(SIGSTOP); return 0;"), time_limit_s=2)
    with pytest.raises(RunFailed, match="time limit of 2 s"):
        measure_now(plan)


@LINUX
def test_a_parent_that_waits_in_vfork_counts_as_one_that_waits() -> None:
    plan = waiting("if (vfork() == 0) { pause(); _exit(0); } return 0;")
    with pytest.raises(RunFailed, match=r"no sample for 0\.4 s\. It used no processor time"):
        measure_now(plan)
