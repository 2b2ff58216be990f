"""Python programs and Jupyter kernels without their start, which takes most of a test's time.

One process imports nbgrader, IPython and what our settings, notebooks and checks name. Each program
and each kernel is a fork of that process with its own folder, environment and streams, and ends as
a process ends; so is each Python program that such a fork starts. `test_adapter.py` and
`test_wheel.py` start nbgrader as an instructor does, `test_worker.py` and `test_hostile.py` start
the process that judges, `test_exit_status.py` and `test_doctor.py` start our commands,
`test_wheel.py` and `test_browser.py` start Jupyter kernels as a student does.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.provisioning import local_provisioner

from labs import paths
from support.paths import REPOSITORY

#: A command that takes longer than this has hung, and is ended.
PATIENCE_S = 500
_PRELOADED = (
    "grader.class_grading.feedback_process",
    "grader.class_grading.grading_process",
    "grader.commands.check",
    "grader.commands.collect",
    "grader.judging.presentation",
    "grader.submissions.submitted_notebook",
    "labs.plots.figure_svg",
    "nbgrader.apps.nbgraderapp",
    "grader.with_nbgrader.nbgrader_exchange",
    "grader.with_nbgrader.feedback",
    "grader.with_nbgrader.pages.formgrader",
    "grader.with_nbgrader.pages.student_text",
    "grader.with_nbgrader.replay",
    "ipykernel.kernelapp",
    "grader.lab_pages",
    "labs.notebook.session",
)
_start_anew = paths.start
#: Where the process that forks listens; here it is that process or a fork of it.
_listens_at = ""
_one = threading.Lock()


class Forked(subprocess.Popen[Any]):
    """`python -m` with these words, or a Jupyter kernel, as a fork; used like any other process.

    `path` is where it looks for modules; without it, in its folder first, as `python -m` does.
    """

    def __init__(self, words: Sequence[str], path: Sequence[str] = (), **how: Any) -> None:
        self._path = path
        self._waiting = threading.Lock()
        super().__init__(words, **how)

    def _execute_child(self, words: Sequence[str], *how: Any) -> None:
        """Popen calls this. `how` has the folder, the environment, and both ends of each stream,
        where -1 is an end that we have already."""
        folder, environment, ends = how[4], how[5], how[9:15]
        streams = [ends[0], ends[3], ends[5]]
        streams = [own if end < 0 else end for own, end in enumerate(streams)]
        job = words, str(folder or Path.cwd()), dict(environment or os.environ), self._path
        server = socket.socket(socket.AF_UNIX)
        server.connect(_server())
        socket.send_fds(server, [b"."], streams)
        server.sendall(json.dumps(job).encode() + b"\n")
        self._answers = server.makefile("rb")
        server.close()  # when its file is
        self.pid = int(self._answers.readline())
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, at its end."""
        if not self._waiting.acquire(timeout=-1 if timeout is None else timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        try:
            if self.returncode is None:
                if not select.select([self._answers], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                # Nothing is said where the process that forks has ended, at the end of the tests.
                self.returncode = int(self._answers.readline() or -signal.SIGKILL)
                self._answers.close()
            return self.returncode
        finally:
            self._waiting.release()

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        return self.poll()


def run(
    folder: Path | str, environment: Mapping[str, str], *words: str, module: str = "nbgrader"
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m nbgrader`, or another module, with these words in `folder` to its end."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with Forked([module, *words], cwd=folder, env=environment, text=True,
                stdin=nothing, stdout=pipe, stderr=pipe) as process:  # fmt: skip
        said, errors = process.communicate()
        return subprocess.CompletedProcess(words, process.wait(), said, errors)


def _start(
    command: Sequence[str],
    folder: Path | str | None = paths.NEUTRAL,
    environment: Mapping[str, str] | None = None,
    **streams: Any,
) -> subprocess.Popen[Any]:
    if list(command[:3]) != paths.python_command("")[:3]:
        return _start_anew(command, folder, environment, **streams)
    return Forked(command[3:], paths.modules_path(), cwd=folder, env=environment, **streams)


@contextmanager
def programs() -> Iterator[None]:
    """Here, Python programs that the kit starts are forks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "start", _start)
        yield
    # A judge that began as a fork would serve whoever grades in this process later.
    if replay := sys.modules.get("grader.with_nbgrader.replay"):
        replay.worker_of_this_process.cache_clear()


@contextmanager
def started_in_full() -> Iterator[None]:
    """Here, inside `programs`, they start as they do for everybody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "start", _start_anew)
        yield


def _kernel(
    command: Sequence[str], cwd: str, env: Mapping[str, str], **_: object
) -> subprocess.Popen[Any]:
    return Forked(["kernel", *command[3:]], cwd=cwd, env=env, stdout=subprocess.DEVNULL)


@contextmanager
def kernels() -> Iterator[None]:
    """Here, what starts a Jupyter kernel of this Python gets a fork."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_provisioner, "launch_kernel", _kernel)
        yield


def _server() -> str:
    """Where the process that forks listens."""
    with _one:
        return _listens_at or _started_server()


@functools.cache
def _started_server() -> str:
    """It ends when its input does, so at the latest with this process."""
    folder = tempfile.TemporaryDirectory(prefix="ticklab-forked-")
    listens_at = str(Path(folder.name, "socket"))
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, listens_at],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(folder.cleanup)
    atexit.register(server.communicate)
    assert server.stdout is not None and server.stdout.readline() == b"ready\n"
    return listens_at


def _serve() -> list[str]:
    """Forks for each job that arrives, and says there who it is and how it ended. Returns what to
    run, with its arguments, in a fork, and nothing at the end."""
    # A kernel ends when this process does.
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(_listens_at)
    listener.listen(100)
    ended, tell = socket.socketpair()
    tell.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    print("ready", flush=True)
    asked: dict[int, socket.socket] = {}
    while True:
        waited_for: list[int | socket.socket] = [0, listener, ended]
        ready = select.select(waited_for, [], [])[0]
        if 0 in ready:
            return []
        if ended in ready:
            ended.recv(1000)
            while asked and (child := os.waitpid(-1, os.WNOHANG))[0]:
                with asked.pop(child[0]) as asking, suppress(OSError):  # who asked may have ended
                    asking.sendall(b"%d\n" % os.waitstatus_to_exitcode(child[1]))
        if listener in ready:
            asking, _ = listener.accept()
            _, streams, _, _ = socket.recv_fds(asking, 1, 3)
            with asking.makefile("rb") as job:
                words, *where = json.loads(job.readline())
            if not (pid := os.fork()):
                for ours in (asking, *asked.values(), listener, ended):
                    ours.close()
                _begin(streams, *where)
                tell.close()
                return list(words)
            if words[0] == "kernel":
                # A signal for a kernel is one for all processes that it started, and for no other.
                os.setpgid(pid, pid)
            for stream in streams:
                os.close(stream)
            asked[pid] = asking
            asking.sendall(b"%d\n" % pid)


def _begin(streams: list[int], folder: str, environment: dict[str, str], path: list[str]) -> None:
    """Makes this fork what a new process is."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if path:
        sys.path[:] = path
    else:
        # `python -m` looks for modules in the current folder first.
        sys.path[0] = folder
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    paths.start = _start


def _run_to_its_end(kind: str) -> int:
    """The exit status of this fork."""
    try:
        if kind == "kernel":
            importlib.import_module("ipykernel.kernelapp").launch_new_instance()
        else:
            signal.alarm(PATIENCE_S)
            if not hasattr(sys.modules.get(kind), "__path__"):
                sys.modules.pop(kind, None)  # runpy warns of what is imported and then run
            runpy.run_module(kind, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _listens_at = sys.argv[1]
    asked = _serve()
    if asked:
        kind, *_ = sys.argv = asked
        status = _run_to_its_end(kind)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        # To take apart all that is imported takes ten times as long as a short command.
        os._exit(status)
