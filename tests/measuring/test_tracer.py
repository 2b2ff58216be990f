"""A tracer that follows the C kernels is stated, warned of and found; one that does not is not."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.evidence import observed
from labs.machine import surroundings
from labs.machine.surroundings import name_of_tracer
from labs.recording.file import Recording
from labs.results.result import result_of
from support.submitted_figures import Clocked, recording

ASK = "from labs.machine.surroundings import name_of_tracer; print(name_of_tracer())"


def shown(folder: Path, status: str, comm: str = "") -> Path:
    (folder / "self").mkdir()
    (folder / "self" / "status").write_text(status)
    if comm:
        (folder / "7").mkdir()
        (folder / "7" / "comm").write_text(f"{comm}\n")
    return folder


@pytest.mark.parametrize(
    ("status", "comm", "expected"),
    [
        ("Name:\tpython\nTracerPid:\t7\n", "strace", "strace"),
        ("TracerPid:\t7\n", "", "process 7"),
        ("TracerPid:\t0\n", "strace", None),
        ("TracerPid:\tseven\n", "strace", None),
        ("Name:\tpython\n", "", None),
    ],
)
def test_the_tracer_is_named_by_its_process(
    tmp_path: Path, status: str, comm: str, expected: str | None
) -> None:
    assert name_of_tracer(shown(tmp_path, status, comm)) == expected


def test_a_debugger_that_leaves_children_alone_traces_no_c_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "_status_of_a_child", lambda proc: "TracerPid:\t0\n")
    assert name_of_tracer(shown(tmp_path, "TracerPid:\t7\n", "gdb")) is None


@pytest.mark.parametrize(("options", "expected"), [(["-f"], "strace"), ([], "None")])
def test_strace_is_seen_if_it_follows_children(options: list[str], expected: str) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    command = [strace, "-o", "/dev/null", *options, sys.executable, "-c", ASK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pytest.skip(f"strace may not trace here: {done.stderr[:200]}")
    assert done.stdout.strip() == expected


def run_with(voluntary: int, *, stated: str = "", switches: int = 0) -> Recording:
    """Ten processes, each with 1,000 claimed system calls and so many voluntary switches."""
    conditions = {
        "claimed.system_calls": "1000",
        "claimed.switches": str(switches),
        "task.main.voluntary_switches": str(voluntary),
    }
    if stated:
        conditions["tracer"] = stated
    run = recording({"getppid": Clocked(60.0, 300.0)}, kernel="system_call", extra=conditions)
    return dataclasses.replace(run, batch=run.batch.clip(max=1))


def test_counts_alone_show_it_where_nothing_else_explains_them() -> None:
    for voluntary, claimed, own, found in (
        (2000, 0, False, True),  # two stops at each call
        (1000, 0, False, False),  # a call that waits once, such as waiting for a child
        (30, 0, False, False),
        (2000, 0, True, False),  # a student's C may wait twice
        (3000, 3000, False, False),  # switches are what it measures
    ):
        run = run_with(voluntary, switches=claimed)
        assert (observed.stops_of_tracer(run, own=own) is not None) == found


def test_a_stated_tracer_is_believed_if_it_stopped_something() -> None:
    stopped = observed.stops_of_tracer(run_with(9000, stated="strace", switches=3000), own=True)
    assert stopped is not None and (stopped.tracer, stopped.switches) == ("strace", 60_000)
    assert observed.stops_of_tracer(run_with(30, stated="gdb")) is None


def test_the_run_warns_of_a_tracer_that_it_states() -> None:
    for stated in ("strace", ""):
        codes = [each.code for each in result_of(run_with(9000, stated=stated)).warnings]
        assert ("traced" in codes) == bool(stated)
