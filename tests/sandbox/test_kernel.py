"""Cells that are executed in a kernel inside the sandbox: what they reach, and what comes back."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grader.sandbox import NoSandbox, refusal
from grader.sandbox.provisioner import (
    CUT,
    MOST_OF_CELL,
    NAME,
    Execution,
    SandboxKernelManager,
    SandboxProvisioner,
    execute,
)
from support.paths import REPOSITORY
from support.programs import alive

why = refusal()
needs_sandbox = pytest.mark.skipif(why is not None, reason=str(why))
MARKER = f"61{os.getpid()}"


@pytest.fixture(scope="module", autouse=True)
def scratch() -> Iterator[Path]:
    """Where kernels have their folders: a short path, because of the sockets."""
    with (
        tempfile.TemporaryDirectory(prefix="tk-", dir="/tmp") as place,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(tempfile, "tempdir", place)
        yield Path(place)


LOOK = """
import json, os, pathlib, socket, subprocess
def refused(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
subprocess.Popen(["setsid", "sleep", "{marker}"])
print(json.dumps([
    refused(lambda: socket.create_connection(("127.0.0.1", {port}), 5)),
    refused(pathlib.Path("{secret}").read_text),
    len([each for each in os.listdir("/proc") if each.isdigit()]),
    refused(lambda: pathlib.Path(json.__file__).write_text("")),
    sorted(set(os.environ) & {{"JPY_PARENT_PID", "SECRET_TOKEN"}}),
    sorted(os.listdir()), pathlib.Path("figures.json").read_text(), os.getcwd(),
]))
open("figures.json", "w").write("changed")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a submission. Its modules must not get into the way of the kernel."""
    place = tmp_path_factory.mktemp("submission")
    (place / "figures.json").write_text("{}")
    (place / "ipykernel.py").write_text("raise SystemExit('of the student')")
    (place / "link.csv").symlink_to("/etc/hostname")
    (place / "recordings").mkdir(mode=0o700)
    (place / "recordings" / "own.csv").write_text("")
    return place


@pytest.fixture(scope="module")
def execution(folder: Path) -> Iterator[Execution]:
    """Several cells, one after the other, in one kernel."""
    secret = folder.parent / "grades.txt"
    secret.write_text("1.0")
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "of the instructor")
        port = server.getsockname()[1]
        yield execute(
            [
                LOOK.format(marker=MARKER, port=port, secret=secret),
                "value = 6 * 7\nvalue",
                "1 / 0",
                "print('\\x1b[2J\\x07<script>')",
                "bytearray(3_000_000_000)",
                "for _ in range(100):\n    print('x' * 1_000_000)",
                "value",
            ],
            folder,
            timeout_s=60,
        )


@needs_sandbox
def test_a_kernel_reaches_nothing_outside(execution: Execution, folder: Path) -> None:
    assert execution.stopped == ""
    text = execution.cells[0].text
    assert text is not None and execution.cells[0].error is None
    network, secret, processes, kit, variables, files, figures, place = json.loads(text)
    assert network and secret == "FileNotFoundError" and kit
    assert processes < 10 and variables == []
    assert files == ["figures.json", "ipykernel.py", "recordings"]
    assert (figures, place) == ("{}", "/student")
    # It changed a copy.
    assert (folder / "figures.json").read_text() == "{}"


@needs_sandbox
def test_what_cells_give_comes_back_as_text(execution: Execution) -> None:
    _look, value, error, odd, memory, flood, last = execution.cells
    assert all(each.done for each in execution.cells)
    assert (value.result, value.error, value.text) == ("42", None, None)
    assert error.error is not None and "ZeroDivisionError" in error.error
    assert "\x1b" not in error.error
    assert odd.text == "\ufffd[2J\ufffd<script>\n"
    assert memory.error is not None and "MemoryError" in memory.error
    # 100 MB are cut, and the next cell is executed.
    assert flood.text is not None and flood.text.endswith(CUT)
    assert len(flood.text) == MOST_OF_CELL + len(CUT)
    assert last.result == "42"


@needs_sandbox
def test_nothing_of_a_kernel_survives(execution: Execution, scratch: Path) -> None:
    assert alive(MARKER) == []
    assert list(scratch.iterdir()) == []


@needs_sandbox
def test_a_cell_that_takes_too_long_ends_the_execution(folder: Path, scratch: Path) -> None:
    found = execute(["1", f"import os\nos.system('sleep {MARKER}')", "2"], folder, timeout_s=1)
    assert [each.done for each in found.cells] == [True, False, False]
    assert found.stopped == "a cell took more than 1 s"
    assert alive(MARKER) == [] and list(scratch.iterdir()) == []


@needs_sandbox
def test_a_kernel_that_ends_itself(folder: Path) -> None:
    found = execute(["import os\nos._exit(0)", "1"], folder, timeout_s=20)
    assert [each.done for each in found.cells] == [False, False]
    assert found.stopped.startswith("the kernel ended")


@needs_sandbox
def test_the_limits_of_all_processes_hold_for_a_kernel(folder: Path) -> None:
    many = "import pathlib\nfor n in range(10**6):\n    pathlib.Path(f'/tmp/{n}').touch()"
    found = execute([many, "1"], folder, timeout_s=60)
    assert [each.done for each in found.cells] == [False, False]
    assert found.stopped == "It made more than 5,000 files and was ended."


@needs_sandbox
def test_a_message_without_end_is_not_received(folder: Path) -> None:
    """It goes round the limit on what is printed."""
    found = execute(["display({'text/plain': 'x' * 60_000_000}, raw=True)", "1"], folder, 60)
    assert [each.done for each in found.cells] == [False, False]
    assert found.stopped == "a cell printed too much at once, so what it printed was lost"


def test_without_a_sandbox_no_kernel_starts(
    folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    refusal.cache_clear()
    manager = SandboxKernelManager()
    try:
        with pytest.raises(NoSandbox, match="nothing was run"):
            execute(["1"], folder, timeout_s=60)
        with pytest.raises(NoSandbox, match="nothing was run"):
            asyncio.run(manager._async_start_kernel())
    finally:
        monkeypatch.undo()
        refusal.cache_clear()
    assert list(scratch.iterdir()) == []


@needs_sandbox
def test_a_kernelspec_can_choose_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SandboxKernelManager()  # the installed package may be older than the entry point
    spec = tmp_path / "kernels" / "boxed" / "kernel.json"
    spec.parent.mkdir(parents=True)
    chosen = {"provisioner_name": NAME, "config": {"memory": 700_000_000, "processes": 30}}
    kernel = {
        "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python in the sandbox",
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {"kernel_provisioner": chosen},
    }
    spec.write_text(json.dumps(kernel))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    limits = "import os, resource as r\nos.getcwd(), r.getrlimit(r.RLIMIT_AS)"
    notebook = new_notebook()  # type: ignore[no-untyped-call]
    for source in (limits, "while True:\n    pass"):
        notebook.cells.append(new_code_cell(source))  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, kernel_name="boxed", allow_errors=True, timeout=1, interrupt_on_timeout=True
    )
    client.execute()
    (output,), (interrupted,) = (cell.outputs for cell in notebook.cells)
    assert output.data["text/plain"] == "('/student', (700000000, 700000000))"
    assert interrupted.ename == "KeyboardInterrupt"


def test_the_provisioner_is_an_entry_point() -> None:
    """So a kernelspec can name it. We read the file, because what is installed may be older."""
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(
        r'^\[project.entry-points."jupyter_client.kernel_provisioners"\]\n(\S+) = "(\S+):(\w+)"$',
        text,
        re.MULTILINE,
    )
    assert found is not None and found[1] == NAME
    assert getattr(importlib.import_module(found[2]), found[3]) is SandboxProvisioner
