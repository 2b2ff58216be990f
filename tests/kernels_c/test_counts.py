"""`--perf`: events are counted where the machine offers it; elsewhere the reason is stated."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader.figures import figure_named
from grader.judging.check import check
from labs.commands.cli import main
from labs.paths import kernels_c
from labs.recording import counts
from labs.recording.file import Recording, parse, read
from labs.results import event_counts
from labs.results.event_counts import per_operation
from labs.results.result import result_of
from labs.run.c_process import COLUMNS_OF_COUNTS, parse_run
from labs.run.measure import Plan, mean_counts, measure_now
from support.c_programs import LINUX
from support.paths import FIXTURES
from support.programs import call
from support.submitted_figures import FENCED, figure, recording

SAVED = FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv"

#: Each operation touches one page that the OS has taken away before the timed region.
TOUCH = """#define _GNU_SOURCE
#include <sys/mman.h>
#include "harness.h"

enum { PAGES = 64 };
static volatile char *memory;
static long page;

static void prepare_memory(struct run *run)
{
    (void)run;
    page = sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE) != 0)
        stop(STATUS_FAILED, "no memory");
}

#define INTERVAL(name, preparation, operation)                        \\
    static uint64_t name(long batch)                                  \\
    {                                                                 \\
        preparation;                                                  \\
        const uint64_t begin = counter_begin();                       \\
        for (register long left = batch; left > 0; left--) {          \\
            __asm__ volatile("" : "+r"(left));                        \\
            operation;                                                \\
        }                                                             \\
        return counter_end() - begin;                                 \\
    }
INTERVAL(touch, failed_calls |= madvise((void *)memory, PAGES * page, MADV_DONTNEED) != 0,
         memory[(left - 1) * page] = 1)
INTERVAL(loop, memory[0] = 0, (void)0)

static uint64_t own_clock(long batch)
{
    return (uint64_t)batch * 100 + clock_ns(REFERENCE_CLOCK) % 7;
}

static const struct variant variants[] = {
    {.name = "touch", .about = "first touch", .interval = touch, .prepare = prepare_memory,
     .baseline = "loop"},
    {.name = "loop", .about = "no touch", .interval = loop, .prepare = prepare_memory},
    {.name = "own-clock", .about = "no reading", .interval = own_clock},
};
static const long batches[] = {8, 16, 32, 64};
MEASURE(.name = "touched", .about = "it", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
"""


def with_conditions(found: Recording, more: Mapping[str, str]) -> Recording:
    return parse(replace(found, conditions={**found.conditions, **more}).as_bytes())


def counted_conditions(event: str, variant: str, *processes: Mapping[int, float]) -> dict[str, str]:
    return {
        counts.count_key(event, variant, number): counts.as_text(cells)
        for number, cells in enumerate(processes)
    }


# Counts of hardware events cannot be had on every machine that runs these tests. What follows is
# the output of a process as kernels_c/harness.h prints it, with counts as they would come from
# perf_event_open(2): 30 instructions of the readings, some for each operation, and one interrupt.
def output_of(instructions: int, interrupted: int = 5000) -> bytes:
    rows = [
        f"own,{sample},{batch},{30 + instructions * batch + (interrupted if sample == 3 else 0)}"
        for batch in (8, 16, 32)
        for sample in range(-2, 12)
    ]
    head = ["# kernel: mine", "# count.event: instructions", "# count.scope: user mode"]
    return ("\n".join([*head, COLUMNS_OF_COUNTS.decode(), *rows]) + "\n").encode()


def test_the_slope_of_the_counts_is_that_of_one_operation() -> None:
    runs = [parse_run(output_of(n), "mine", COLUMNS_OF_COUNTS) for n in (7, 7, 8)]
    cells = [mean_counts(run)["own"] for run in runs]
    assert cells[0] == {8: 86.0, 16: 142.0, 32: 254.0}  # no interrupt, no reading before the first
    found = recording({"own": FENCED})
    found = with_conditions(found, counted_conditions("instructions", "own", *cells))
    (event,) = per_operation(found, "own")
    assert (event.value, event.low, event.high) == pytest.approx((7, 7, 8))
    assert (event.processes, event.batch) == (3, 32)
    table = event_counts.table_of(found, "own")
    assert table is not None
    assert table.rows[0][:3] == ("instructions", "7.00", "7.00 to 8.00 (3 processes)")


def test_the_baseline_is_subtracted_process_by_process_and_parts_are_divided() -> None:
    found = recording({"own": FENCED, "loop": FENCED})
    stated = counted_conditions("cycles", "own", {1: 110, 2: 120}, {1: 120, 2: 140})
    stated |= counted_conditions("cycles", "loop", {1: 12, 2: 14}, {1: 14, 2: 18})
    claims = {"variant.own.baseline": "loop", "variant.own.parts": "2"}
    claims["variant.own.baseline_times"] = "3"
    (event,) = per_operation(with_conditions(found, stated | claims), "own")
    assert (event.low, event.high) == pytest.approx(((10 - 6) / 2, (20 - 12) / 2))
    # What cannot be subtracted is no count of the operation.
    without = {key: text for key, text in stated.items() if "loop" not in key}
    assert per_operation(with_conditions(found, without | claims), "own") == ()


def test_what_is_no_list_of_counts_is_left_out() -> None:
    found = recording({"own": FENCED})
    for text in (
        *("", "8", "8=", "8=-1", "8=1e9", "8=nan", "8=inf 16=2", "8=9999999999999999"),
        *("99999999999=1 2=2", "8=1,16=2", "8=1 8=2", "<b>8=1</b>"),
        " ".join(f"{k}=1" for k in range(65)),
    ):
        stated = with_conditions(found, {counts.count_key("cycles", "own", 0): text})
        assert counts.counted(stated, "own") == (), text
        assert event_counts.as_lines(stated, ["own"]) == [], text


def test_only_known_events_and_few_processes_are_read() -> None:
    found = recording({"own": FENCED})
    many = counted_conditions("cycles", "own", *({1: 1.0, 2: 2.0} for _ in range(50)))
    stated = many | counted_conditions("<script>", "own", {1: 1, 2: 2})
    stated = {key: text for key, text in stated.items() if "<" not in key}
    stated |= counted_conditions("secrets", "own", {1: 1, 2: 2})
    (event,) = counts.counted(with_conditions(found, stated), "own")
    assert len(event.processes) == counts.MOST_COUNTING


@pytest.mark.parametrize("absurd", ["0", "999999999999999"])
def test_no_figure_and_no_grade_depends_on_counts(absurd: str) -> None:
    honest = read(SAVED)
    lies = {
        counts.count_key(event, variant, number): f"8={absurd} 16=1"
        for event in counts.EVENTS
        for variant in honest.variants
        for number in range(3)
    }
    lies |= {counts.SCOPE: "user mode", counts.absent_key("cycles"): "x" * 1999}
    told = with_conditions(honest, lies)
    assert event_counts.as_lines(told, ["fenced"])  # they are read and shown
    one, other = (result_of(each, "fenced", "ns") for each in (honest, told))
    assert one.sentence() == other.sentence() and one.warnings == other.warnings
    assert one.estimate is not None
    for factor in (1.0, 3.0):
        submitted = figure("timer-overhead-fenced", factor * one.estimate.value, "ns")
        asked = figure_named("timer-overhead-fenced")
        assert check(asked, submitted, honest) == check(asked, submitted, told)


def test_what_a_recording_says_of_counts_stays_text(tmp_path: Path) -> None:
    told = with_conditions(
        read(SAVED), {counts.absent_key("cycles"): "<script>alert(1)</script>" + "y" * 1500}
    )
    (tmp_path / "told.csv").write_bytes(told.as_bytes())
    page = tmp_path / "told.html"
    assert main(["show", str(tmp_path / "told.csv"), "--output", str(page)]) == 0
    assert "&lt;script&gt;" in page.read_text() and "<script>alert" not in page.read_text()
    assert "y" * counts.MOST_REASON not in page.read_text()


@pytest.mark.slow
@LINUX
def test_a_page_fault_of_each_touched_page_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "touched.c"
    source.write_text(TOUCH, encoding="utf-8")
    few = Plan(str(source), ("touch", "own-clock"), samples=200, processes=2, flags=("-O0",))
    found = measure_now(replace(few, perf=True))
    assert len(found.processes) == 2  # those that count take no part in the figure
    reasons = counts.absent(found)
    events = {each.event: each for each in per_operation(found, "touch")}
    assert set(events) | set(reasons) == set(counts.EVENTS)  # each is counted, or says why not
    assert not set(events) & set(reasons)
    if "page-faults" in reasons:
        pytest.skip(f"page faults: {reasons['page-faults']}")
    faults = events["page-faults"]
    assert (faults.low, faults.high) == pytest.approx((1, 1), abs=0.02)
    assert faults.whole == pytest.approx(64, abs=1)
    # A variant that does not read the counter has no counts, and the run says why.
    assert per_operation(found, "own-clock") == ()
    assert any(line.startswith("not counted: own-clock") for line in said_of(found))
    path = tmp_path / "touched.csv"
    found.write(path)
    assert per_operation(read(path), "touch") == per_operation(found, "touch")
    assert main(["show", str(path), "--text"]) == 0
    assert "page-faults" in capsys.readouterr().out


def said_of(found: Recording) -> list[str]:
    return event_counts.as_lines(found, list(found.variants))


@pytest.mark.slow
@LINUX
def test_labs_record_keeps_the_counts_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["record", "system_call", "--samples", "200", "--processes", "2"]
    assert main([*command, "--perf"]) == 0
    assert re.search(r"recording: +system_call.csv", capsys.readouterr().out)
    first = (tmp_path / "system_call.csv").read_bytes()
    found = read(tmp_path / "system_call.csv")
    stated = {each.event for each in counts.counted(found, found.variants[0])}
    assert stated | set(counts.absent(found)) == set(counts.EVENTS)
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "counts" not in told  # nothing was counted unasked
    assert told["recording"] == "system_call-2.csv"
    assert (tmp_path / "system_call.csv").read_bytes() == first
    assert main([*command, "--variant", "no-such"]) == 2
    assert capsys.readouterr().err.startswith("labs record: ")


@pytest.mark.slow
@LINUX
def test_the_switches_of_the_peer_are_counted_too() -> None:
    plan = Plan("process_switch", ("pipe-pinned",), samples=200, processes=2, perf=True)
    found = measure_now(plan)
    events = {each.event: each for each in per_operation(found, "pipe-pinned")}
    if "context-switches" not in events:
        pytest.skip(counts.absent(found)["context-switches"])
    # One of both tasks, as the OS's own count of the timed processes says.
    assert events["context-switches"].value == pytest.approx(1, abs=0.1)
    told = json.dumps(event_counts.as_json(found, "pipe-pinned"), allow_nan=False)
    assert "context-switches" in told


@pytest.mark.slow
@LINUX
def test_a_first_operation_has_no_count_and_says_why() -> None:
    found = measure_now(Plan("first_iteration", ("call",), processes=3, samples=3, perf=True))
    assert set(counts.absent(found)) == set(counts.EVENTS)
    assert all("cold only once" in why for why in counts.absent(found).values())


@LINUX
def test_each_refusal_of_the_os_has_its_reason(tmp_path: Path) -> None:
    source, program = tmp_path / "refused.c", tmp_path / "refused"
    source.write_text(
        "#define _GNU_SOURCE\n#include <unistd.h>\n#include <sys/syscall.h>\n"
        '#include <errno.h>\n#define syscall(...) (errno = atoi(getenv("WHY")), -1L)\n'
        '#include "events.h"\nint main(void) { open_countable("cycles"); }\n'
    )
    subprocess.run(["gcc", "-I", str(kernels_c()), str(source), "-o", str(program)], check=True)
    for why, said in {
        errno.ENOENT: "does not offer the count",
        errno.EACCES: "refuses to count",
        errno.EPERM: "refuses to count",
        errno.ENOSYS: "built without counts",
        errno.EMFILE: "Too many open files",
    }.items():
        done = call(program, env={**os.environ, "WHY": str(why)})
        assert done.returncode == 3
        assert done.stderr.startswith("cycles: ") and said in done.stderr, why


def test_the_list_of_events_is_that_of_the_c_header() -> None:
    text = (kernels_c() / "events.h").read_text(encoding="utf-8")
    assert all(f'"{event}"' in text for event in counts.EVENTS)
    assert text.count('    {"') == len(counts.EVENTS)
