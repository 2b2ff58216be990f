"""What a command in the sandbox can reach and use, seen from within."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import platform
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.sandbox import Limits, NoSandbox, Result, _children, program, refusal, run
from labs import course
from support.programs import alive

why = refusal()
needs_sandbox = pytest.mark.skipif(why is not None, reason=str(why))
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")

NOBODY = 65534
DUMPABLE = 4  # PR_SET_DUMPABLE
SMALL = Limits(memory=300_000_000, processes=16, wall_s=20, output=1_000_000)


def as_nobody(action: Callable[[], Result]) -> Result:
    """What `action` returns if an ordinary user runs it; the test runs as root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), os.fdopen(writing, "wb") as answer:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            # After a change of the user, an exec would set this again.
            ctypes.CDLL(None).prctl(DUMPABLE, 1, 0, 0, 0)
            try:
                answer.write(pickle.dumps(action()))
            except BaseException as error:
                answer.write(pickle.dumps(repr(error)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        result = pickle.loads(answer.read())
    os.waitpid(child, 0)
    assert isinstance(result, Result), result
    return result


def as_now(action: Callable[[], Result]) -> Result:
    return action()


@pytest.fixture(params=["this user", "an ordinary user"])
def user(request: pytest.FixtureRequest) -> Callable[[Callable[[], Result]], Result]:
    """Runs an action as a user."""
    if request.param == "this user":
        return as_now
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    return as_nobody


LOOK = """
import ctypes, json, os, socket, sys
from pathlib import Path

def refused(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return None

def connect():
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()

def abstract():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\\0" + sys.argv[2])

def interrupt():
    os.kill(int(sys.argv[3]), 0)

print(json.dumps({
    "network": refused(connect),
    "abstract socket": refused(abstract),
    "file outside": refused(Path(sys.argv[4]).read_text),
    "password file": refused(Path("/etc/passwd").read_text),
    "signal": refused(interrupt),
    "processes": len([each for each in os.listdir("/proc") if each.isdigit()]),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "vsock": refused(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)),
    "namespace": ctypes.CDLL(None).unshare(0x10000000),
    "variables": sorted(os.environ),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if "CapEff" in line],
    "descriptors": len(os.listdir("/proc/self/fd")),
}))
"""
CHANGE = """
import json
from pathlib import Path

def refused(path):
    try:
        Path(path).write_text("x")
    except OSError as error:
        return error.strerror
    return None

print(json.dumps({path: refused(path) for path in PATHS}))
"""


@pytest.fixture(scope="module")
def listening() -> Iterator[tuple[int, str]]:
    """A port of this machine, and the name of an abstract socket, on which somebody answers."""
    name = f"ticklab-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        other.bind("\0" + name)
        other.listen()
        yield server.getsockname()[1], name


@needs_sandbox
def test_it_reaches_nothing_outside(
    listening: tuple[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "of the instructor")
    secret = tmp_path / "grades.txt"
    secret.write_text("1.0")
    port, name = listening
    with subprocess.Popen(["sleep", "600"]) as other:
        words = [sys.executable, "-c", LOOK, str(port), name, str(other.pid)]
        try:
            outside = subprocess.run([*words, str(secret)], capture_output=True, check=True)
            done = run([*words, str(secret)], tmp_path, SMALL, python=True)
        finally:
            other.kill()
    # The same program reaches all of it if nothing encloses it.
    free = json.loads(outside.stdout)
    for each in ("network", "abstract socket", "file outside", "signal"):
        assert free[each] is None, each
    assert "SECRET_TOKEN" in free["variables"]
    seen = json.loads(done.output)
    assert seen["network"] and seen["abstract socket"] and seen["vsock"]
    assert seen["namespace"] == -1
    assert seen["interfaces"] == ["lo"]
    assert seen["file outside"] == seen["password file"] == "FileNotFoundError"
    assert seen["signal"] == "ProcessLookupError"
    assert seen["processes"] <= 2
    assert "SECRET_TOKEN" not in seen["variables"]
    assert seen["capabilities"] == ["0000000000000000"]
    assert seen["descriptors"] <= 4


@needs_sandbox
def test_it_changes_only_its_private_folders(tmp_path: Path) -> None:
    kit = str(Path(course.__file__))
    closed = [kit, sys.prefix + "/own", "/usr/bin/own", "/own", "/dev/own", "/etc/own"]
    closed += ["/given/own", f"/proc/{os.getpid()}/comm", "/proc/sys/kernel/core_pattern"]
    private = ["own", "/tmp/own", "/dev/shm/own"]
    script = CHANGE.replace("PATHS", repr(closed + private))
    done = run([sys.executable, "-c", script], tmp_path, SMALL, python=True)
    refused = json.loads(done.output)
    assert all(refused[path] for path in closed), refused
    assert not any(refused[path] for path in private), refused
    assert list(tmp_path.iterdir()) == []


@needs_sandbox
def test_a_fork_bomb_is_contained(user: Callable[[Callable[[], Result]], Result]) -> None:
    bomb = "n=0; while [ $n -lt 100 ]; do n=$((n+1)); echo $n; sleep 600 & done"
    done = user(lambda: run(["sh", "-c", bomb], limits=SMALL))
    counted = [int(line) for line in done.output.split()]
    assert 5 < max(counted) <= SMALL.processes
    assert b"fork" in done.errors.lower()


@needs_sandbox
def test_3_gb_are_contained(user: Callable[[Callable[[], Result]], Result]) -> None:
    take = "head -c 3000000000 /dev/zero | tail -n 1 | wc -c"
    done = user(lambda: run(["sh", "-c", take], limits=SMALL))
    assert b"memory exhausted" in done.errors
    assert int(done.output) < 3_000_000_000


@needs_sandbox
def test_many_processes_cannot_take_together_what_one_cannot(
    user: Callable[[Callable[[], Result]], Result],
) -> None:
    """Each one stays below the limit of a process."""
    # Nobody reads what tail holds, so it keeps it.
    take = "head -c 100000000 /dev/zero | tail -c 100000000 | sleep 600 & "
    limits = replace(SMALL, memory=250_000_000)
    done = user(lambda: run(["sh", "-c", take * 4 + "sleep 600"], limits=limits))
    assert done.status is None and "of memory together" in done.ended


@needs_sandbox
def test_100_mb_of_output_are_cut(user: Callable[[Callable[[], Result]], Result]) -> None:
    done = user(lambda: run(["head", "-c", "100000000", "/dev/zero"], limits=SMALL))
    assert len(done.output) == SMALL.output
    assert done.ended == "It printed more than 1,000,000 bytes and was ended."


@needs_sandbox
def test_its_files_are_limited(user: Callable[[Callable[[], Result]], Result]) -> None:
    limits = replace(SMALL, file_bytes=500_000, scratch=2_000_000, files=300)
    large = "head -c 900000 /dev/zero > large; wc -c < large"
    assert user(lambda: run(["sh", "-c", large], limits=limits)).output.split() == [b"500000"]
    full = "for n in 1 2 3 4 5 6 7; do head -c 400000 /dev/zero > $n; done; du -sk ."
    done = user(lambda: run(["sh", "-c", full], limits=limits))
    assert b"No space left" in done.errors
    many = "n=0; while :; do n=$((n+1)); : > /tmp/$n; done"
    assert "more than 300 files" in user(lambda: run(["sh", "-c", many], limits=limits)).ended


@needs_sandbox
def test_time_is_limited() -> None:
    done = run(["sleep", "600"], limits=replace(SMALL, wall_s=0.2))
    assert done.status is None and done.ended == "It took more than 0.2 s and was ended."
    busy = run(["sh", "-c", "while :; do :; done"], limits=replace(SMALL, cpu_s=1))
    assert busy.status == 128 + signal.SIGKILL


@needs_sandbox
@pytest.mark.parametrize("wall_s", [20.0, 0.3])
def test_nothing_survives(user: Callable[[Callable[[], Result]], Result], wall_s: float) -> None:
    """A process that left its group and session, and one that ignores signals."""
    marker = f"60{os.getpid()}"
    leave = f"setsid -f sleep {marker}; (trap '' TERM INT HUP; sleep {marker}) & "
    end = "sleep 600" if wall_s < 1 else f"grep -l {marker} /proc/[0-9]*/cmdline"
    done = user(lambda: run(["sh", "-c", leave + end], limits=replace(SMALL, wall_s=wall_s)))
    assert bool(done.ended) == (wall_s < 1)
    assert (b"cmdline" in done.output) == (wall_s > 1), "they did not run"
    assert alive(marker) == []


@needs_sandbox
def test_it_ends_with_the_program_that_started_it() -> None:
    script = """
        from grader.sandbox import Inside
        from grader.sandbox import Limits
        from grader.sandbox import start
        sandbox = start(["sh", "-c", "echo inside; sleep 600"], Limits(), Inside(), None)
        sandbox.process.wait()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"inside\n"
        process.kill()
        assert process.stdout.read() == b""  # nobody holds the other end of the pipe any more


def test_without_bubblewrap_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(NoSandbox, match=r"no program bwrap.*nothing was run.*bubblewrap"):
            run(["/bin/sh", "-c", f"echo ran > {tmp_path}/ran"])
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert not (tmp_path / "ran").exists()


def test_where_bubblewrap_may_not_build_the_sandbox_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container without user namespaces."""
    refused = tmp_path / "bwrap"
    refused.write_text("#!/bin/sh\necho 'bwrap: No permissions to create namespace' >&2\nexit 1\n")
    refused.chmod(0o755)
    refusal.cache_clear()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    try:
        with pytest.raises(NoSandbox, match="No permissions to create namespace"):
            run(["sh", "-c", f"echo ran > {tmp_path}/ran"])
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert not (tmp_path / "ran").exists()


@needs_sandbox
def test_a_folder_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoSandbox, match="nothing was run"):
        run(["true"], tmp_path / "missing")


@needs_sandbox
def test_threads_can_run_sandboxes_side_by_side() -> None:
    """As root, each has a user id of its own, so their limits on processes are separate."""
    results: list[Result] = []

    def work() -> None:
        results.append(run(["sh", "-c", "sleep 1 & sleep 1 & sleep 1 & wait; id -u"], limits=SMALL))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.status for each in results] == [0] * 4
    if os.geteuid() == 0:
        assert len({each.output for each in results}) == 4


def test_on_a_machine_without_a_filter_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal.cache_clear()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    try:
        with pytest.raises(NoSandbox, match=r"riscv64, so nothing was run|no program bwrap"):
            run(["/bin/sh", "-c", f"echo ran > {tmp_path}/ran"])
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert not (tmp_path / "ran").exists()


def test_the_filter_is_known_for_the_machines_of_most() -> None:
    for machine in ("x86_64", "aarch64"):
        steps = program(machine)
        assert steps is not None and len(steps) % 8 == 0
    if platform.machine() in ("x86_64", "aarch64"):
        assert program() == program(platform.machine())


def test_children_are_found_with_and_without_the_help_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some kernels do not list them, and then the limits of all processes must hold too."""
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            listed = _children(os.getpid())
            monkeypatch.setattr(Path, "exists", lambda _: False)
            assert other.pid in listed
            assert sorted(_children(os.getpid())) == sorted(listed)
        finally:
            other.kill()
