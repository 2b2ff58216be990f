"""nbgrader's formgrader as an instructor opens it: a Jupyter server in the course folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.paths import REPOSITORY

TOKEN = "token-of-this-run"
PATIENCE_S = 120.0


@contextmanager
def served_formgrader(course: Path, own: Path) -> Iterator[str]:
    """The address of a server, without a slash at its end, of which `own` keeps what is its own.

    `?token=` and `TOKEN` behind an address sign in. Raises RuntimeError with the end of its log if
    the server does not begin to serve.
    """
    own.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        **{f"JUPYTER_{name}_DIR": str(own / name) for name in ("CONFIG", "DATA", "RUNTIME")},
    }
    command = [
        sys.executable, "-m", "jupyter_server", "--no-browser", "--ip=127.0.0.1", "--port=0",
        "--allow-root", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={course}",
    ]  # fmt: skip
    log = own / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=course, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    try:
        yield _address(own / "RUNTIME", process, log)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _address(runtime: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    # By its process id: the folder may hold the file of a server that was killed.
    file = runtime / f"jpserver-{process.pid}.json"
    begin = time.monotonic()
    while process.poll() is None and time.monotonic() - begin < PATIENCE_S:
        with suppress(FileNotFoundError, ValueError):  # not there, or half of it is written
            return str(json.loads(file.read_text())["url"]).rstrip("/")
        time.sleep(0.05)
    raise RuntimeError(f"no Jupyter server:\n{log.read_text(errors='replace')[-1000:]}")
