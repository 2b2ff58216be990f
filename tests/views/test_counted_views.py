"""The views that are tables: what the OS counted, and what strace prints."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labs import paths, views
from labs.c_kernels import toolchain
from labs.messages import Refused
from labs.notebook.run import Run
from labs.recording import file
from testing.c_programs import LINUX
from testing.paths import REPOSITORY

HONEST = REPOSITORY / "tests" / "fixtures" / "honest"


def saved(lab: str, name: str) -> Run:
    return Run.of(file.read(HONEST / lab / "recordings" / f"{name}.csv"))


def creation(name: str) -> Run:
    return saved("05-task-creation", name)


def switch(name: str) -> Run:
    return saved("06-process-and-thread-switch", name)


# -- what the OS counted


def test_a_task_of_its_own_memory_is_seen_by_its_counts() -> None:
    table = views.created_tasks(creation("naive"), "number seen", "page faults")
    assert table.rows == (
        ("own", "1,000", "0 of 1,000", "5"),
        ("fork", "1,005", "counted for own only", "17.6"),
    )
    (own, _) = views.created_tasks(creation("own"), "page faults", "number seen").rows
    assert own == ("own", "996", "0", "996 of 996")


def test_a_parent_that_slept_is_counted_where_the_run_tried_it(tmp_path: Path) -> None:
    counts = ("number seen", "parent slept")
    assert len(views.created_tasks(creation("own"), *counts).header) == 3
    honest = HONEST / "05-task-creation" / "recordings" / "own.csv"
    tried = "# variant.own.tried: 1\n# variant.own.parent_slept: 1\n# variants:"
    (tmp_path / "own.csv").write_text(honest.read_text("utf-8").replace("# variants:", tried))
    run = Run.of(file.read(tmp_path / "own.csv"))
    own, fork = views.created_tasks(run, *counts).rows
    assert own[-1] == "10 of 10" and fork[-1] == "counted for own only"


def test_a_count_of_the_exercise_is_not_counted_elsewhere_and_the_table_says_so() -> None:
    rows = views.created_tasks(creation("kinds"), "parent slept", "number seen").rows
    assert {row[2:] for row in rows} == {("not counted", "not counted")}


def test_switches_of_child_processes_distinguish_a_thread_from_a_vfork_child() -> None:
    kinds = creation("kinds")
    rows = {row[0]: row[2:] for row in views.created_tasks(kinds, "page faults", "switches").rows}
    assert rows == {
        "fork-wait": ("17.9", "1"),
        "vfork-wait": ("0", "2"),
        "pthread-wait": ("0", "0"),
    }


def test_a_table_of_counts_keeps_the_warnings_that_concern_counts() -> None:
    recording = creation("kinds").recording
    odd = np.arange(len(recording)) % 2  # a cost that no line shows, in every second sample
    disturbed = replace(
        recording,
        ticks=recording.ticks * (1 + 9 * odd),
        conditions={**recording.conditions, "cpu.asked": "1", "cpu.after": "0"},
    )
    run = Run.of(disturbed)
    said = " ".join(run.compare().warnings)
    assert "too wide to use" in said and "pinned to CPU 1" in said
    kept = views.created_tasks(run, "switches").warnings
    assert len(kept) == 1 and "pinned to CPU 1" in kept[0]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((), "name one count or more"),
        (("page fault",), "did you mean page faults?"),
        (("threads",), "there is no count 'threads'\nThe counts are"),
    ],
)
def test_an_unknown_count_is_refused_and_the_known_ones_are_named(
    counts: tuple[str, ...], said: str
) -> None:
    with pytest.raises(Refused, match=said.replace("?", r"\?")) as refused:
        views.created_tasks(creation("kinds"), *counts)
    assert '"number seen"' in str(refused.value)


def test_a_run_that_created_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="created no task"):
        views.created_tasks(switch("naive"), "switches")


def test_switches_are_shown_as_claimed_and_as_counted() -> None:
    table = views.switches(switch("naive"), switch("threads")["pipe"], switch("floor"))
    naive, pipe, floor = table.rows
    assert naive[-3:] == ("581,500, 2 for each operation", "34", "0.000117")
    assert pipe[0] == "thread_switch pipe" and pipe[-1] == "2.03"
    assert floor[2:] == ("none, or not counted here", "", "")


def test_who_went_on_without_being_woken_is_told_where_it_was_tried(tmp_path: Path) -> None:
    without = views.switches(switch("own"))
    assert "went on without being woken" not in without.header
    honest = HONEST / "06-process-and-thread-switch" / "recordings" / "own.csv"
    tried = "# variant.own.turns_tried: 1\n# variant.own.turns_unwoken: 1\n# variants:"
    (tmp_path / "own.csv").write_text(honest.read_text("utf-8").replace("# variants:", tried))
    run = Run.of(file.read(tmp_path / "own.csv"))
    assert views.switches(run).rows[0][-1] == "in 10 of 10 processes"


# -- strace

CAN_TRACE = pytest.mark.skipif(
    shutil.which("strace") is None
    or subprocess.run(["strace", "-q", "-o", "/dev/null", "true"], check=False).returncode != 0,
    reason="no program can be traced here",
)


@LINUX
@CAN_TRACE
def test_only_the_thread_is_put_into_the_process_of_its_creator() -> None:
    table = views.traced_creation("pthread-wait", "clone-vm-wait", "fork-wait")
    assert table is not None
    thread, shares, fork = (row[2].split(" | ") for row in table.rows)
    assert "CLONE_VM" in thread and "CLONE_THREAD" in thread
    assert "CLONE_VM" in shares and "CLONE_THREAD" not in shares
    assert "CLONE_VM" not in fork
    assert [row[3:] for row in table.rows] == [
        ("shared", "the same"),
        ("shared", "another process"),
        ("not shared: it has its own", "another process"),
    ]


@LINUX
@CAN_TRACE
def test_a_handoff_enters_the_kernel_and_a_bare_mutex_does_not() -> None:
    table = views.traced_calls("futex", "thread_switch", "bare-mutex", "condvar", samples=20)
    assert table is not None
    bare, condvar = (float(row[3]) for row in table.rows)
    assert bare < 1 < condvar


@LINUX
@CAN_TRACE
@pytest.mark.parametrize(
    ("call", "kernel", "variant", "said"),
    [
        ("futexx", "thread_switch", "condvar", "invalid system call 'futexx'"),
        ("futex", "thread_switch", "condvr", "no such variant"),
        ("futex", "thread_swich", "condvar", "no C kernel 'thread_swich'"),
    ],
)
def test_a_wrong_name_is_refused(call: str, kernel: str, variant: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        views.traced_calls(call, kernel, variant)


def test_where_nothing_can_be_traced_a_note_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("strace")

    monkeypatch.setattr(paths, "run", missing)
    monkeypatch.setattr(toolchain, "build", lambda _: type("B", (), {"path": Path("x")}))
    assert views.traced_creation("fork-wait") is None
    assert "strace is not installed" in capsys.readouterr().out


def test_no_variant_to_trace_is_refused() -> None:
    with pytest.raises(Refused, match="name the variants"):
        views.traced_creation()
