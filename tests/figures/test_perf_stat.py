"""What `perf stat -x` prints is read: counts, missing ones, and those of counters that took turns.

The first text was recorded with perf 6.1 on a virtual machine. The others were written after man
perf-stat, because that machine has no hardware counters.
"""

from __future__ import annotations

import pytest

from bench.figures.event_counts import parse

RECORDED = """\
49;;page-faults;1.18%;548432;100.00;80.694;K/sec
0;;context-switches;0.00%;548432;100.00;0.000;/sec
<not supported>;;instructions;0.00%;0;100.00;;
0.55;msec;task-clock;7.35%;548432;100.00;0.489;CPUs utilized
"""
IN_TURNS = """\
# started on Mon Nov 23 14:22:29 2026

3012345678;;cycles:u;750123456;74.95;;
4512345678;;instructions:u;1000123456;100.00;1.50;insn per cycle
;;;;;0.50;stalled cycles per insn
<not counted>;;cache-misses;0;0.00;;
12;;dTLB-load-misses;250123456;25.01;;
"""


def test_a_recorded_output_is_read() -> None:
    found = parse(RECORDED)
    assert {event: count.value for event, count in found.items()} == {
        "page-faults": 49,
        "context-switches": 0,
        "instructions": None,
        "task-clock": 0.55,
    }
    assert found["page-faults"].whole and found["context-switches"].whole
    assert not found["instructions"].whole
    assert "does not count it" in found["instructions"].why_not


def test_a_count_that_was_scaled_up_says_so() -> None:
    found = parse(IN_TURNS)
    assert set(found) == {"cycles", "instructions", "cache-misses", "dTLB-load-misses"}
    assert found["instructions"].whole and found["instructions"].value == 4512345678
    assert not found["cycles"].whole and found["cycles"].share == pytest.approx(0.7495)
    assert found["cache-misses"].value is None
    assert "no counter was free" in found["cache-misses"].why_not


@pytest.mark.parametrize(
    "line",
    [
        "",
        "variant,sample,batch,ticks",
        "12;;cycles",
        "12;;cycles;5;nan",
        "12;;cycles;5;101.00",
        "inf;;cycles;5;100.00",
        "nan;;cycles;5;100.00",
        "twelve;;cycles;5;100.00",
        "12;;;5;100.00",
    ],
)
def test_a_line_of_another_form_is_no_count(line: str) -> None:
    assert parse(line) == {}


def test_a_count_of_no_time_is_no_count() -> None:
    assert parse("12;;cycles;0;0.00;;")["cycles"].value is None
