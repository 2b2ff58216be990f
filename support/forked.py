"""Python programs and Jupyter kernels without their start, which takes most of a test's time.

One process imports nbgrader, IPython and what our settings and notebooks name. Each program and
each kernel is a fork of that process with its own folder, environment and streams, and ends as a
process ends. `test_adapter.py` and `test_labs_through_nbgrader.py` start nbgrader as an instructor
does, `test_exit_status.py` and `test_doctor.py` start our commands, `test_wheel.py` and
`test_browser.py` start Jupyter kernels as a student does.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.provisioning import local_provisioner

from labs import paths
from support.paths import REPOSITORY

#: A command that takes longer than this has hung, and is ended.
PATIENCE_S = 500
_one = threading.Lock()
_PRELOADED = (
    "grader.commands.check",
    "grader.commands.collect",
    "grader.submissions.submitted_notebook",
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


def run(
    folder: Path | str, environment: Mapping[str, str], *words: str, module: str = "nbgrader"
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m nbgrader`, or another module, with these words in `folder` to its end."""
    with tempfile.TemporaryDirectory(prefix="ticklab-forked-") as scratch:
        said, errors = Path(scratch) / "stdout", Path(scratch) / "stderr"
        pid = _ask(module, str(folder), dict(environment), [str(said), str(errors)], words)
        status = _ask("wait", pid, 0)
        return subprocess.CompletedProcess(
            words, status, said.read_text("utf-8"), errors.read_text("utf-8")
        )


_run_anew = paths.run


def _run(
    command: Sequence[str],
    limit_s: float,
    folder: Path | str | None = paths.NEUTRAL,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    if list(command[:3]) != paths.python_command("")[:3]:
        return _run_anew(command, limit_s, folder, environment)
    module, *words = command[3:]
    return run(folder or Path.cwd(), environment or os.environ, *words, module=module)


@contextmanager
def programs() -> Iterator[None]:
    """Here, Python programs that the kit runs to their end are forks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "run", _run)
        yield


class Kernel:
    """A Jupyter kernel: what jupyter_client asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None
    returncode: int | None = None

    def __init__(
        self, command: Sequence[str], cwd: str, env: Mapping[str, str], **_: object
    ) -> None:
        self.pid: int = _ask("kernel", cwd, dict(env), [os.devnull], command[3:])

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self.returncode is None:
            self.returncode = _ask("wait", self.pid, os.WNOHANG)
        return self.returncode

    def wait(self) -> int:
        """The exit status, at its end."""
        if self.returncode is None:
            self.returncode = _ask("wait", self.pid, 0)
        return self.returncode or 0

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    kill = functools.partialmethod(send_signal, signal.SIGKILL)
    terminate = functools.partialmethod(send_signal, signal.SIGTERM)


@contextmanager
def kernels() -> Iterator[None]:
    """Here, what starts a Jupyter kernel of this Python gets a fork."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_provisioner, "launch_kernel", Kernel)
        yield


def _ask(*job: object) -> Any:
    """What the process that forks answers to this job; it has one at a time."""
    with _one:
        server = _server()
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())


@functools.cache
def _server() -> subprocess.Popen[str]:
    """The process that forks. It ends when its input does, so at the latest with this process."""
    server = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    return server


def _serve() -> tuple[str, list[str]] | None:
    """Answers each job: with the id of a new process, or the exit status of one that ended. Returns
    what to run, with its arguments, in a fork."""
    # A kernel ends when this process does.
    os.environ["JPY_PARENT_PID"] = str(os.getpid())
    for name in _PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        kind, *job = json.loads(line)
        if kind == "wait":
            pid, status = os.waitpid(*job)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                return kind, _begin(kind, *job)
            if kind == "kernel":
                # A signal for a kernel is one for all processes that it started, and for no other.
                os.setpgid(answer, answer)
        print(json.dumps(answer), flush=True)
    return None


def _begin(
    kind: str, folder: str, environment: dict[str, str], streams: list[str], words: list[str]
) -> list[str]:
    """Makes this fork what a new process is; returns its arguments."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # `python -m` looks for modules in the current folder first.
    sys.path[0] = folder
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    if kind != "kernel":
        signal.alarm(PATIENCE_S)
    return [kind, *words]


def _run_to_its_end(kind: str) -> int:
    """The exit status of this fork."""
    try:
        if kind == "kernel":
            importlib.import_module("ipykernel.kernelapp").launch_new_instance()
        else:
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
    asked = _serve()
    if asked is not None:
        kind, sys.argv = asked
        status = _run_to_its_end(kind)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        # To take apart all that is imported takes ten times as long as a short command.
        os._exit(status)
