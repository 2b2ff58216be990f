"""Samples that were preempted: a C kernel states them, and nothing else is believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from labs.recording.file import Recording
from labs.recording.run_conditions import PREEMPTED_KEY, preempted, ranges_of
from labs.run.c_process import gather, parse_run
from support import simulate
from support.c_programs import FOLDER, LINUX, Program, compile_c, conditions_of, rows_of
from support.programs import call

#: A machine with a counter of 2.6 GHz, whose samples take 0.4 to 0.8 ms.
LONG = simulate.Machine(cost=1e6, overhead=50, batches=(1, 2), processes=3, samples=60)


def stating(*texts: str | None, machine: simulate.Machine = LONG) -> Recording:
    """A run whose processes state these texts; None: the process states nothing."""
    made = simulate.run(machine, 1)
    assert len(texts) == len(made.processes)
    each = [
        MappingProxyType({**stated, **({} if text is None else {PREEMPTED_KEY: text})})
        for stated, text in zip(made.processes, texts, strict=True)
    ]
    return replace(made, processes=tuple(each))


def marked(recording: Recording) -> list[tuple[int, int]]:
    """Process and number of each sample that counts as preempted."""
    samples = recording.samples(recording.variants[0])
    found = preempted(recording, samples.variant)
    assert found.shape == (len(samples),)
    return sorted(zip(samples.process[found].tolist(), samples.sample[found].tolist(), strict=True))


def test_each_process_states_its_own() -> None:
    found = marked(stating("0-3 7", None, "2 19-900"))
    assert found == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 7), (2, 2), (2, 19)]
    assert marked(stating(None, None, None)) == []


def test_what_all_processes_state_alike_is_in_the_recording_once() -> None:
    made = stating(None, None, None)
    made = replace(made, conditions=MappingProxyType({**made.conditions, PREEMPTED_KEY: "4-5"}))
    assert marked(made) == [(process, number) for process in range(3) for number in (4, 5)]


def test_a_sample_that_is_too_short_is_not_marked() -> None:
    assert marked(stating("0-19", "0-19", "0-19", machine=replace(LONG, cost=100.0))) == []


def test_a_sample_of_the_warm_up_has_no_mark() -> None:
    assert marked(stating("0", "-1", None)) == [(0, 0)]


def test_any_other_text_is_no_evidence() -> None:
    for text in (
        "", " ", "x", "1 x", "1,2", "3-", "-3", "1-2-3", "5-2", "3 3", "4 2", "1-3 3", "1-3 2",
        "0-3  7", "0-3 7 ", "\t1", "1\n2", "1e3", "+1", "1.0", "0x1", "١", "３",
        "1\N{NO-BREAK SPACE}2", "9" * 10, "0-" + "9" * 400, "1 " * 1_500 + "1", "nan",
        " ".join(map(str, range(1_000))),
    ):  # fmt: skip
        assert ranges_of(text).shape == (0, 2)
        assert marked(stating(text, None, "1")) == [(2, 1)], text


def test_ranges_are_read() -> None:
    assert ranges_of("0-3 4 12-14").tolist() == [[0, 3], [4, 4], [12, 14]]
    assert ranges_of("7-7 999999999").tolist() == [[7, 7], [999_999_999] * 2]


#: Children that sleep or work, inside the timed region or after it. While a child sleeps here,
#: nobody has the CPU: that is as good as another program that has it.
SOURCE = """
#define _GNU_SOURCE
#include <sys/resource.h>
#include <time.h>
@ABOVE@
#include "harness.h"
#include "placement.h"
#include <sys/wait.h>

enum { SLEEP = 1, WORK = 2 };

static void stand(struct run *run)
{
    place(0, first_place(run));
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void do_it(int what)
{
    const struct timespec pause = {0, 200 * 1000};
    const uint64_t begin = cpu_ns();
    if (what == SLEEP)
        failed_calls |= nanosleep(&pause, NULL) != 0;
    while (what == WORK && cpu_ns() - begin < 500 * 1000)
        ;
}

static void child_does(int what)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        do_it(what);
        _exit(0);
    }
    failed_calls |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

#define INTERVAL(name, inside, outside) \\
    static uint64_t name(long batch) \\
    { \\
        (void)batch; \\
        const uint64_t begin = counter_begin(); \\
        inside; \\
        const uint64_t end = counter_end(); \\
        outside; \\
        return end - begin; \\
    }
INTERVAL(sleeps, child_does(SLEEP), (void)0)
INTERVAL(works, child_does(WORK), (void)0)
INTERVAL(sleeps_after, do_it(WORK), child_does(SLEEP))

#define OF(function) .interval = function, .creates = 1, .prepare = stand
static const struct variant variants[] = {
    {.name = "sleeps", .about = "", OF(sleeps), .placement = PLACED_ON_ONE_CPU},
    {.name = "works", .about = "", OF(works), .placement = PLACED_ON_ONE_CPU},
    {.name = "sleeps-after", .about = "", OF(sleeps_after), .placement = PLACED_ON_ONE_CPU},
    {.name = "anywhere", .about = "", OF(sleeps)},
};
static const long batches[] = {1};
MEASURE(.name = "preempted", .about = "", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
"""

#: An OS that counts CPU time in whole milliseconds.
COARSE = """
static int coarse(int who, struct rusage *usage)
{
    const int failed = getrusage(who, usage);
    usage->ru_utime.tv_usec -= usage->ru_utime.tv_usec % 1000;
    usage->ru_stime.tv_usec -= usage->ru_stime.tv_usec % 1000;
    return failed;
}
#define getrusage coarse
"""


def built(folder: Path, above: str = "") -> Program:
    source = folder / "preempted.c"
    source.write_text(SOURCE.replace("@ABOVE@", above))
    return compile_c(folder, "-O2", f"-I{FOLDER}", source=source)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return built(tmp_path_factory.mktemp("preempted"))


def printed(program: Program, *options: str) -> str:
    done = call(program, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


#: Of a longer sample, the sleep may be less than the tenth from which on it counts as preempted.
LONGEST_JUDGED_S = 1.9e-3


def shares(output: str) -> dict[str, float]:
    """The share of each variant's samples that counts as preempted, of those that must show it."""
    made = gather({}, [parse_run(output.encode(), "preempted")], "preempted")
    found = {}
    for name in made.variants:
        samples = made.samples(name)
        judged = samples.ticks < LONGEST_JUDGED_S * samples.clock.frequency_hz
        assert judged.sum() > 10, "the machine is too busy for any sample of this test"
        found[name] = float(np.mean(preempted(made, samples.variant)[judged]))
    return found


@LINUX
def test_a_sample_is_marked_if_its_tasks_did_not_have_the_cpu(program: Program) -> None:
    options = ("--variant", "sleeps,sleeps-after,works,anywhere", "--samples", "40")
    found = shares(printed(program, *options, "--warmup", "2"))
    assert found["sleeps"] == 1
    assert found["sleeps-after"] == 1, "what ran meanwhile is in the caches"
    assert found["anywhere"] == 0, "its tasks may be on several CPUs, so nothing is known"
    assert found["works"] < 1, "only on a busy machine do other programs preempt some of these"


@LINUX
def test_without_preempted_samples_nothing_is_stated(program: Program) -> None:
    output = printed(program, "--variant", "anywhere", "--samples", "9")
    assert PREEMPTED_KEY not in conditions_of(output)


@LINUX
def test_where_cpu_time_is_coarse_nothing_is_known(tmp_path: Path) -> None:
    program = built(tmp_path, above=COARSE)
    output = printed(program, "--variant", "sleeps,works", "--samples", "9")
    assert PREEMPTED_KEY not in conditions_of(output)


@LINUX
def test_what_one_line_does_not_hold_counts_as_preempted(program: Program) -> None:
    options = ("--variant", "sleeps,anywhere", "--samples", "1000", "--warmup", "0")
    output = printed(program, *options)
    stated = conditions_of(output)[PREEMPTED_KEY]
    found = ranges_of(stated)
    assert 1_800 < len(stated) < 1_900 and len(found) > 300
    rows = [row for row in rows_of(output) if row[1] >= 0]
    *ranges, (rest, last) = found.tolist()
    assert last == max(number for _, number, _, _ in rows), "and misses none"
    assert rest < last - 100, "all of it would not fit"
    known = {number for first, end in ranges for number in range(first, end + 1)}
    slept = {n: ticks for name, n, _, ticks in rows if name == "sleeps" and n < rest}
    longest = LONGEST_JUDGED_S * float(conditions_of(output)["counter.frequency_hz"])
    assert {n for n, ticks in slept.items() if ticks < longest} <= known <= set(slept)
