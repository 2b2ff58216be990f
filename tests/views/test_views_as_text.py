"""Views that are tables or text: what they say is what the runs, the compiler and strace gave."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labs import views
from labs.course import published
from labs.messages import Refused
from labs.notebook.run import Later, Run, compare
from labs.recording import file
from labs.units import fixed
from labs.views.other_tools import calls_in, only_leaving
from testing.c_programs import LINUX
from testing.paths import REPOSITORY

HONEST = REPOSITORY / "tests/fixtures/honest"


def saved(lab: str, name: str) -> Run:
    return Run.of(file.read(HONEST / lab / "recordings" / f"{name}.csv"))


@pytest.fixture(scope="module")
def calls() -> Run:
    return saved("03-system-call", "calls")


@pytest.fixture(scope="module")
def levels() -> tuple[Run, Run]:
    return saved("04-procedure-call", "o0"), saved("04-procedure-call", "o2")


# ------------------------------------------------------------------------------- numbers of runs


def test_the_parts_are_the_round_the_loop_and_their_difference(calls: Run) -> None:
    shown = views.parts(calls, calls["invalid"].in_unit("us"))
    assert shown.caption == "The parts of a figure, in nanoseconds and microseconds"
    name, *numbers = shown.rows[0]
    whole, loop, net = map(float, numbers)
    assert name == "system_call getppid"
    assert whole - loop == pytest.approx(net, rel=0.01)
    assert net == pytest.approx(calls.value, rel=0.01)
    with pytest.raises(Refused, match="has no parts"):
        views.parts(calls["loop"])


@pytest.mark.parametrize(("factor", "said"), [(1.0, False), (100.0, True)])
def test_the_parts_say_where_the_net_is_not_the_difference_of_the_other_two(
    calls: Run, factor: float, said: bool
) -> None:
    first, *others = calls.results
    assert first.net is not None and first.net.baseline is not None
    net = replace(first.net, baseline=first.net.baseline.times(factor))
    run = replace(calls, results=(replace(first, net=net), *others))
    assert ("Here 'net' is not" in views.parts(run).caption) == said


def test_the_lengths_are_all_samples_and_the_most_frequent_have_a_row() -> None:
    naive = saved("04-procedure-call", "broken-one_call")
    found = views.lengths(naive)
    samples = naive.recording.samples("args0")
    assert sorted(found.ticks) == sorted(samples.ticks.tolist())
    assert found.empty == naive.recording.number("counter.overhead")
    assert found.cycle == samples.clock.core_cycle_ticks
    rows = found.table().rows
    assert sum(int(row[2].replace(",", "")) for row in rows) == len(found.ticks)
    shown = [int(row[0].split()[0]) for row in rows if row[0].endswith("ticks")]
    assert shown == sorted(shown) and len(shown) <= 8
    least = min(found.ticks.count(ticks) for ticks in shown)
    others = set(found.ticks) - set(shown)
    assert all(found.ticks.count(ticks) <= least for ticks in others)
    assert "An empty sample takes" in repr(found)


def test_a_step_is_marked_where_the_comparison_finds_a_difference(levels: tuple[Run, Run]) -> None:
    shown = views.steps(*levels)
    assert shown.header == ("arguments", "-O0", "-O2")
    assert len(shown.rows) == 12
    marked = 0
    for n, row in enumerate(shown.rows):
        for run, cell in zip(levels, row[1:], strict=True):
            more, less = run.in_unit("cycles")[f"args{n + 1}"], run.in_unit("cycles")[f"args{n}"]
            found = compare(more, less, 1.0)
            assert cell.startswith(fixed(found.difference, 2, signed=True))
            assert ("*" in cell) == found.distinguishable
            assert ("2 modes" in cell) == any("two modes" in each for each in found.modes)
            marked += "*" in cell
    assert 0 < marked < 24


def test_without_two_neighbours_there_is_no_step(calls: Run) -> None:
    with pytest.raises(Refused, match="no run has two neighbours"):
        views.steps(calls)


def test_a_comparison_with_an_earlier_run_says_so(calls: Run) -> None:
    failed = Run(calls.recording, calls.results, later=Later("it did not compile"))
    assert "(it did not compile)" in repr(compare(failed, calls["invalid"], 1.0))
    assert "earlier run" not in repr(compare(calls, calls["invalid"], 1.0))


def test_a_view_of_an_earlier_run_says_so(calls: Run, levels: tuple[Run, Run]) -> None:
    failed = Run(calls.recording, calls.results, later=Later("it did not compile"))
    said = f"{calls.variant}: this is the earlier run; a later one"
    assert said in repr(views.parts(failed)) and "earlier run" not in repr(views.parts(calls))
    drawn, again = (views.among_published(each, "system call") for each in (failed, calls))
    assert said in repr(drawn) and said in drawn._repr_html_() and "earlier run" not in repr(again)
    old, new = levels
    failed = Run(old.recording, old.results, later=Later("it did not compile"))
    assert repr(views.steps(failed, new)).count("this is the earlier run") == 1


# ------------------------------------------------------------------------ what a report printed


def test_a_report_is_shown_as_printed() -> None:
    calls = published.as_printed("procedure call", "A", "cycles")
    assert calls.header[1:] == tuple(f"{n} args" for n in range(6))
    assert len(calls.rows) == 4
    assert calls.rows[1][1:3] == ("5.46", "7.5")
    clock = published.as_printed("system call", "B", "ns")
    assert [row[0] for row in clock.rows] == ["run 1", "run 2", "run 3"]
    with pytest.raises(KeyError, match="in another unit than cycles"):
        published.as_printed("system call", "B", "cycles")


def test_reasons_against_a_report_are_written_once(calls: Run) -> None:
    rows = views.among_published(calls, "system call").table.rows
    settled = published.settled(published.figures("system call"))
    printed = [
        next(some)
        for _, some in itertools.groupby(
            settled, key=lambda each: (each.report, each.quantity, each.machine, each.suspect)
        )
    ]
    shown = [row[4] for row in rows[-len(printed) :]]
    for (above, each), text in zip(itertools.pairwise(printed), shown[1:], strict=True):
        repeated = above.suspect == each.suspect
        assert text == ("the same as in the row above" if repeated else each.suspect)


# ------------------------------------------------------------------------------ compiler, strace


@LINUX
def test_the_machine_code_is_that_of_the_function_at_each_level() -> None:
    shown = views.machine_code("procedure_call", "args12", flags=("-O0", "-O2"))
    (first, slow), (second, fast) = shown.pieces
    assert "-O0" in first and "-O2" in second
    assert len(slow.splitlines()) > len(fast.splitlines()) >= 1
    assert "```text" in shown._repr_markdown_() and first in repr(shown)


@LINUX
def test_an_inlined_function_is_named_with_the_reason(tmp_path: Path) -> None:
    own = tmp_path / "own.c"
    own.write_text("static int one(int x) { return x + 1; }\nint main(int n) { return one(n); }\n")
    (title, code), *_ = views.machine_code(str(own), "one").pieces
    assert "own.c" in title and "perhaps it was inlined" in code


@LINUX
def test_another_level_than_that_of_the_run_is_named(tmp_path: Path) -> None:
    own = tmp_path / "own.c"
    own.write_text("int main(void) { return 0; }\n")
    o0 = HONEST / "04-procedure-call/recordings/o0.csv"
    own.with_suffix(".csv").write_bytes(o0.read_bytes())
    pieces = views.machine_code(str(own), "main", flags=("-O0", "-O2")).pieces
    assert ["its run was compiled with `-O0`" in title for title, _ in pieces] == [False, True]


def test_only_what_leaves_the_function_is_kept() -> None:
    code = "10: mov %rax,%rbx\n11: syscall\n12: jle 10 <f>\n13: call 20 <g>\n14: bl g\n15: ret"
    left = only_leaving(code).splitlines()
    assert [line[:2] for line in left] == ["11", "13", "14"]
    assert only_leaving("1: nop") == "(this function contains no call and no trap)"


@pytest.mark.parametrize(
    ("kernel", "function", "flags"),
    [("no_such_kernel", "f", "-O2"), ("absent.c", "f", "-O2"), ("procedure_call", 5, "-O2")],
)
def test_what_has_no_machine_code_is_refused(kernel: str, function: Any, flags: str) -> None:
    with pytest.raises(Refused):
        views.machine_code(kernel, function, flags=flags)


def test_calls_are_counted_by_their_name() -> None:
    trace = "getppid() = 1\nread(3, 0, 0) = 0\npread64(3) = 0\ngetppid() = 1\n+++ exited +++"
    assert [calls_in(trace, name) for name in ("getppid", "read", "sync")] == [2, 1, 0]


@LINUX
def test_the_rounds_stand_next_to_the_counted_calls() -> None:
    for wrong in ((), ("absent",)):
        with pytest.raises(Refused):
            views.counted_calls(*wrong)
    shown = views.counted_calls("getppid", "gettimeofday-vdso", "invalid")
    if shown is None:
        pytest.skip("nothing can be traced here")
    assert [row[:2] for row in shown.rows] == [
        (name, "1,000") for name in ("getppid", "gettimeofday-vdso", "invalid")
    ]
    for _, _, _, calls in (shown.rows[0], shown.rows[2]):
        assert 1_000 <= int(calls.replace(",", "")) < 2_000
