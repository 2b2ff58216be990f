"""A clock that a preloaded library replaces: the run states it, keeps its frequency, and ends."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from labs.run import variants
from labs.run.measure import Plan, measure_now
from support.c_programs import LINUX, Program, compile_c, conditions_of, errors_of, listed
from support.programs import Done, call

pytestmark = [
    LINUX,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "aarch64"),
        reason="the trap instruction that reads the clock is known on x86-64 and aarch64",
    ),
]

#: Every clock of the C library goes so many times as fast as the OS kernel's; 0: it stands still.
#: Newer versions of faketime replace the function syscall() as well.
LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
static long asked[16];
int clock_gettime(clockid_t clock, struct timespec *now)
{
    asked[clock & 15]++;
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(clock, now);
    const double ns = SPEED * (1e9 * now->tv_sec + now->tv_nsec);
    now->tv_sec = (time_t)(ns / 1e9) + 1;
    now->tv_nsec = (long)(ns - 1e9 * (double)(time_t)(ns / 1e9));
    return result;
}
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    va_list more;
    va_start(more, number);
    long one = va_arg(more, long), two = va_arg(more, long), three = va_arg(more, long),
         four = va_arg(more, long), five = va_arg(more, long), six = va_arg(more, long);
    va_end(more);
    if (number == SYS_clock_gettime)
        return clock_gettime((clockid_t)one, (struct timespec *)two);
    return real(number, one, two, three, four, five, six);
}
__attribute__((destructor)) static void tell(void)
{
    if (getenv("CLOCKS_ASKED") != NULL)
        for (int clock = 0; clock < 16; clock++)
            fprintf(stderr, "asked %d %ld\\n", clock, asked[clock]);
}
"""

ProgramOf = Callable[[str], Program]


@pytest.fixture(scope="module")
def without_counter(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A C kernel that is timed by the clock which is replaced."""
    return compile_c(tmp_path_factory.mktemp("clock"), "-O2", "-DTICKLAB_NO_COUNTER")


def run_with(speed: float, program: Program, folder: Path, *words: str) -> Done:
    """A run whose clocks go `speed` times as fast, by a library of the name libclock.so."""
    library = folder / "libclock.so"
    build = ["gcc", "-shared", "-fPIC", "-O2", f"-DSPEED={speed}", "-x", "c", "-", "-o"]
    subprocess.run([*build, str(library)], input=LIBRARY, text=True, check=True)
    env = {**os.environ, "LD_PRELOAD": str(library), "CLOCKS_ASKED": ",".join(words)}
    if not words:
        del env["CLOCKS_ASKED"]
    return call(program, "--samples", "100", *words, env=env)


def frequency(done: Done) -> float:
    return float(conditions_of(done.stdout)["counter.frequency_hz"])


@pytest.mark.parametrize("speed", [2.0, 0.5, 1.02])
def test_a_replaced_clock_is_stated_and_changes_no_frequency(
    program_of: ProgramOf, tmp_path: Path, speed: float
) -> None:
    program = program_of("timer_overhead")
    done = run_with(speed, program, tmp_path)
    assert frequency(done) == pytest.approx(frequency(call(program, "--samples", "100")), rel=1e-3)
    stated = conditions_of(done.stdout)
    assert stated["preloaded.ld_preload"] == "libclock.so"
    name, told = stated["clocks.off"].split(", ")[0].split()
    assert name == "CLOCK_MONOTONIC_RAW"
    assert float(told) == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize("speed", [2.0, 0.5])
def test_where_that_clock_is_the_counter_its_frequency_is_that_of_its_readings(
    without_counter: Program, tmp_path: Path, speed: float
) -> None:
    assert frequency(run_with(speed, without_counter, tmp_path)) == pytest.approx(
        speed * frequency(call(without_counter, "--samples", "100")), rel=1e-3
    )


@pytest.mark.parametrize("counter", [True, False])
def test_a_clock_that_stands_still_ends_the_run_with_a_reason(
    program_of: ProgramOf, without_counter: Program, tmp_path: Path, counter: bool
) -> None:
    program = program_of("timer_overhead") if counter else without_counter
    done = run_with(0, program, tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = errors_of(done)
    assert "stands still" in line and "unset LD_PRELOAD" in line


def test_a_variant_reads_the_clock_that_it_declares(program_of: ProgramOf, tmp_path: Path) -> None:
    program = program_of("timer_overhead")
    every = ",".join(name for name, (_, missing) in listed(program).items() if not missing)
    stated = conditions_of(call(program, "--variant", every, "--samples", "20").stdout)
    clocks = {
        name: getattr(time, clock)
        for name in every.split(",")
        if (clock := stated.get(f"clock.{name}.name", "")).startswith("CLOCK_")
    }
    assert len(clocks) >= 5
    others = {stated[f"clock.{name}.name"] for name in {*every.split(",")} - {*clocks}}
    assert others == {stated["counter"], "gettimeofday"}, "a clock is named as in C"
    for name, expected in clocks.items():
        done = run_with(1.0, program, tmp_path, "--variant", name)
        asked = [line.split()[1:] for line in errors_of(done) if line.startswith("asked ")]
        often = {int(clock) for clock, times in asked if int(times) >= 2 * 100}
        # The harness itself goes by the raw clock.
        assert often | {time.CLOCK_MONOTONIC_RAW} == {expected, time.CLOCK_MONOTONIC_RAW}, name


def test_a_clock_that_hardly_advances_ends_too(program_of: ProgramOf, tmp_path: Path) -> None:
    done = run_with(1e-4, program_of("timer_overhead"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert conditions_of(done.stdout)["clocks.off"].startswith("CLOCK_MONOTONIC_RAW 0.000")


def test_clocks_that_agree_are_not_mentioned(
    program_of: ProgramOf, without_counter: Program
) -> None:
    for program in (program_of("timer_overhead"), without_counter):
        for _ in range(20):
            stated = conditions_of(call(program, "--samples", "20").stdout)
            assert "clocks.off" not in stated


def test_every_clock_ticks_as_often_as_it_declares() -> None:
    """All samples together take no longer than the run, and their mean is above 0.5 ns."""
    wrong: dict[str, str] = {}
    for each in variants.of_kernel("timer_overhead"):
        if each.missing:
            continue
        plan = Plan("timer_overhead", (each.name,), samples=2000, warmup=0, processes=1)
        measure_now(replace(plan, samples=20))  # builds it
        begin = time.monotonic()
        recording = measure_now(plan)
        took = time.monotonic() - begin
        seconds = recording.ticks / recording.clock(each.name).frequency_hz
        if not seconds.mean() > 0.5e-9 or seconds.sum() > took:
            wrong[each.name] = f"{seconds.mean():.3g} s a sample, {took:.3g} s in all"
    assert wrong == {}
