"""The command `nbgrader` without its start, which takes most of its time in a test.

One process imports nbgrader and what our settings name. Each command is a fork of that process with
its own folder, environment and streams, and ends as a process ends. `test_adapter.py`,
`test_class.py` and `test_labs_through_nbgrader.py` start nbgrader as an instructor does.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from testing.paths import REPOSITORY

#: A command that takes longer than this has hung, and is ended.
PATIENCE_S = 200
_one = threading.Lock()
_PRELOADED = (
    "nbgrader.apps.nbgraderapp",
    "grader.with_nbgrader.nbgrader_exchange",
    "grader.with_nbgrader.nbgrader_exchange",
    "grader.with_nbgrader.feedback",
    "grader.with_nbgrader.pages.formgrader",
    "grader.with_nbgrader.pages.student_text",
    "grader.with_nbgrader.replay",
)


def run(
    folder: Path, environment: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Runs `nbgrader` with these arguments in `folder`, one command at a time."""
    with _one, tempfile.TemporaryDirectory(prefix="ticklab-nbgrader-") as scratch:
        server = _server()
        assert server.stdin is not None and server.stdout is not None
        said, errors = Path(scratch) / "stdout", Path(scratch) / "stderr"
        job = [str(folder), dict(environment), [str(said), str(errors)], arguments]
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(
            arguments, status, said.read_text("utf-8"), errors.read_text("utf-8")
        )


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


def _serve() -> list[str] | None:
    """Answers each job with its exit status. Returns the arguments of nbgrader in a fork."""
    for name in _PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        folder, environment, streams, arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.alarm(PATIENCE_S)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(folder)
            # `python -m` looks for modules in the current folder first.
            sys.path[0] = folder
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, path in enumerate(streams, start=1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
            return list(arguments)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    asked = _serve()
    if asked is not None:
        sys.argv = ["nbgrader", *asked]
        importlib.import_module("nbgrader.apps.nbgraderapp").main()
