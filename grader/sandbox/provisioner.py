"""Start a Jupyter kernel inside the sandbox, and execute the cells of a notebook in it.

A kernel provisioner of jupyter_client starts the kernel. There is no network inside, so the
messages go through sockets in the sandbox's private /tmp, which we reach through /proc. A
kernelspec chooses the provisioner by its name:

    "metadata": {"kernel_provisioner": {"provisioner_name": "ticklab-sandbox"}}

:class:`SandboxKernelManager` is a manager of such a kernel that needs no kernelspec.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import nbformat
import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import DottedObjectName, Float, Int, Type

from grader.sandbox import EVERY_S, GIVEN, WORK, Inside, Limits, Sandbox, demand, start

NAME = "ticklab-sandbox"
_VALUE = f"{__name__}:SandboxProvisioner"
#: The path of a socket has at most 107 bytes, of which jupyter_client and we add some.
_LONGEST_FOLDER = 60
_CONNECTION, _FILES = "connection.json", "files"
#: The folder of the sockets inside, and a link to it. The link stays when the kernel is restarted.
_INSIDE, _LINK = "/tmp", "sockets"
#: No message of an honest kernel is longer. The sockets of the grader refuse it unread.
_MOST_MESSAGE = 16_000_000
#: The most characters that a kernel sends of what its cells print, and the note behind them.
MOST_PRINTED = 1_000_000
CUT = "\n(The output was cut here: it is too long.)\n"

#: Starts a kernel that does not send what nobody would read. A student's code can undo this; then
#: the limit on a message holds. The first entry of the path is the student's folder.
_KERNEL = f"""
import sys
del sys.path[0]
from ipykernel import iostream, kernelapp

def shortened(write, left):
    def written(stream, text):
        nonlocal left
        if left > 0 and isinstance(text, str):
            write(stream, text if len(text) <= left else text[:left] + {CUT!r})
            left -= len(text)
        return len(text)
    return written

iostream.OutStream.write = shortened(iostream.OutStream.write, {MOST_PRINTED})
kernelapp.launch_new_instance()
"""


class SandboxProvisioner(LocalProvisioner):
    """A kernel in the sandbox. Where there is no sandbox, no kernel starts."""

    memory = Int(2_000_000_000, help="Bytes for each process, and for all together.").tag(
        config=True
    )
    processes = Int(64, help="The most processes and threads.").tag(config=True)
    cpu_s = Int(300, help="Seconds of processor time for each process.").tag(config=True)
    wall_s = Float(900.0, help="Seconds from the start to the end of the kernel.").tag(config=True)

    #: Which limit ended the kernel, as a sentence; "" if none.
    ended = ""
    _sandbox: Sandbox | None = None
    _folder: Path | None = None
    _sockets = ""

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Prepare the connection and the files that the kernel is given.

        Raises NoSandbox.
        """
        demand()
        if self._folder is None:
            self._folder = _new_folder()
        manager: Any = self.parent
        # Until the sandbox is built, its /tmp is that of all, so nobody must know the name there.
        self._sockets = self._sockets or f"kernel-{secrets.token_hex(8)}"
        manager.transport, manager.ip = "ipc", str(self._folder / _LINK / self._sockets)
        prepared = await super().pre_launch(**kwargs)
        given = self._folder / "given"
        shutil.rmtree(given / _FILES, ignore_errors=True)
        _copy_files(Path(kwargs.get("cwd") or "/nowhere"), given / _FILES, self._limits().scratch)
        connection = Path(manager.connection_file)
        stated = json.loads(connection.read_bytes())
        stated["ip"] = f"{_INSIDE}/{self._sockets}"
        (given / _CONNECTION).write_text(json.dumps(stated), encoding="utf-8")
        # The sandbox has another user id if we are root; nobody else reaches this folder.
        (given / _CONNECTION).chmod(0o644)
        prepared["cmd"] = [
            f"{GIVEN}/{_CONNECTION}" if word == str(connection) else word
            for word in prepared["cmd"]
        ]
        return prepared

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel in the sandbox. The variables of our own environment stay outside."""
        assert self._folder is not None
        # It starts in a private copy of its folder, which it may change.
        script = f'cp -r {GIVEN}/{_FILES}/. {WORK} && exec "$@"'
        inside = Inside(self._folder / "given", python=True)
        self.ended = ""
        sandbox = start(
            ["sh", "-c", script, "sh", *cmd], self._limits(), inside, subprocess.DEVNULL
        )
        link = self._folder / _LINK
        link.unlink(missing_ok=True)
        link.symlink_to(f"/proc/{sandbox.inhabitants.first}/root{_INSIDE}")
        self._sandbox, self.process = sandbox, sandbox.process
        self.pid, self.pgid, self.cwd = sandbox.process.pid, None, kwargs.get("cwd", os.curdir)
        threading.Thread(target=self._watch, args=(sandbox,), daemon=True).start()
        return self.connection_info

    async def send_signal(self, signum: int) -> None:
        """Only a signal that ends does something; a message interrupts the kernel."""
        if signum != signal.SIGINT and signum != 0:
            self._end()

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and all its processes."""
        self._end()

    terminate = kill

    async def wait(self) -> int | None:
        """Wait for the end of the kernel; then nothing of it is left."""
        status = await super().wait()
        self._end()
        return status

    async def cleanup(self, restart: bool = False) -> None:
        """Remove what the kernel has left, and what it was given."""
        self._end()
        if not restart and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        await super().cleanup(restart)

    def _limits(self) -> Limits:
        return Limits(
            memory=self.memory, processes=self.processes, cpu_s=self.cpu_s, wall_s=self.wall_s
        )

    def _end(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.end()

    def _watch(self, sandbox: Sandbox) -> None:
        limits, until = self._limits(), time.monotonic() + self.wall_s
        while sandbox.process.poll() is None:
            ended = sandbox.inhabitants.excess(limits)
            if ended is None and time.monotonic() > until:
                ended = f"It took more than {self.wall_s:g} s and was ended."
            if ended is not None:
                self.ended = ended
                sandbox.inhabitants.end()
                return
            time.sleep(EVERY_S)


class CarefulClient(AsyncKernelClient):
    """A client whose sockets refuse messages that are too long."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.context.setsockopt(zmq.MAXMSGSIZE, _MOST_MESSAGE)


class SandboxKernelManager(AsyncKernelManager):
    """A manager of a kernel of this Python in the sandbox, whatever a notebook asks for."""

    client_class = DottedObjectName(f"{__name__}.CarefulClient")
    client_factory = Type(CarefulClient)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.context.setsockopt(zmq.MAXMSGSIZE, _MOST_MESSAGE)
        factory = KernelProvisionerFactory.instance(parent=self.parent)
        # A checkout that was installed before it had the entry point does not list it.
        factory.provisioners.setdefault(NAME, EntryPoint(NAME, _VALUE, factory.GROUP_NAME))

    @property
    def kernel_spec(self) -> KernelSpec:
        """A kernel in the sandbox."""
        return KernelSpec(
            argv=[sys.executable, "-c", _KERNEL, "-f", "{connection_file}"],
            display_name="Python in the sandbox",
            language="python",
            interrupt_mode="message",
            metadata={"kernel_provisioner": {"provisioner_name": NAME}},
        )


def _new_folder() -> Path:
    """A folder that nobody else reaches; the sandbox sees `given` of it, and cannot change it."""
    folder = Path(tempfile.mkdtemp(prefix="ticklab-"))
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="ticklab-", dir="/tmp"))
    (folder / "given").mkdir()
    (folder / "given").chmod(0o755)
    return folder


def _copy_files(source: Path, destination: Path, most: int) -> None:
    """Copy the regular files below `source`, without links, until `most` bytes are reached."""
    destination.mkdir()
    destination.chmod(0o755)
    for folder, folders, files in os.walk(source):
        target = destination / Path(folder).relative_to(source)
        for name in folders:
            (target / name).mkdir()
            (target / name).chmod(0o755)
        for name in files:
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            most -= path.stat().st_size
            if most < 0:
                return
            shutil.copyfile(path, target / name)
            (target / name).chmod(0o644)


# What a kernel sends may come from a student's code. So each message has a limit, only text is
# kept, and a cell counts as executed only if the kernel said so.

#: The most characters that are kept of one cell.
MOST_OF_CELL = 20_000

#: By these, IPython colours a traceback.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Executed:
    """What one cell did. `done` says whether it ran to its end, without or with an error.

    `text` is what it printed, `error` its error with the traceback, and `result` the text of its
    last expression, each None if there is none.
    """

    done: bool = False
    text: str | None = None
    error: str | None = None
    result: str | None = None


@dataclass
class Execution:
    """All cells, in their order; `stopped` says why the later ones were not executed, or ""."""

    cells: list[Executed] = field(default_factory=list)
    stopped: str = ""


def execute(sources: Sequence[str], folder: Path, timeout_s: int) -> Execution:
    """Execute `sources` one after the other in a new kernel, which sees a copy of `folder`.

    An error in a cell does not keep the next one from being executed; a cell that takes longer than
    `timeout_s` does. Raises NoSandbox.
    """
    demand()
    found = Execution([Executed() for _ in sources])
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    for source in sources:
        notebook.cells.append(nbformat.v4.new_code_cell(source))  # type: ignore[no-untyped-call]
    client = _Client(notebook, folder, timeout_s, found)
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError, CellControlSignal, RuntimeError) as error:
        found.stopped = client.why() or _reason(error, timeout_s)
    return found


class _Client(NotebookClient):
    """Sends the cells to the kernel, and puts what comes back into an Execution."""

    def __init__(self, notebook: NotebookNode, folder: Path, timeout_s: int, found: Execution):
        super().__init__(
            notebook,
            kernel_manager_class=SandboxKernelManager,
            allow_errors=True,
            timeout=timeout_s,
            raise_on_iopub_timeout=True,
            shutdown_kernel="immediate",
            store_widget_state=False,
            resources={"metadata": {"path": str(folder)}},
            on_cell_executed=self._executed,
            # The caller reports what went wrong. Unasked, this would be nbgrader's own log.
            log=logging.Logger("ticklab.cells", logging.CRITICAL),
        )
        self._found = found
        self._started: Any = None

    def why(self) -> str:
        """Which limit of the sandbox ended the kernel; "" if none."""
        return str(getattr(self._started, "ended", ""))

    async def async_start_new_kernel_client(self) -> Any:
        # The manager forgets the provisioner when the kernel has ended.
        self._started = self.km.provisioner if self.km is not None else None
        return await super().async_start_new_kernel_client()

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> None:
        """Keep the text of one message."""
        cell, content = self._found.cells[cell_index], msg.get("content", {})
        kind = msg.get("msg_type")
        if kind == "stream":
            cell.text = _added(cell.text, content.get("text"))
        elif kind == "error":
            lines = content.get("traceback") or [f"{content.get('ename')}: {content.get('evalue')}"]
            cell.error = _added(cell.error, "\n".join(map(str, lines)) + "\n")
        elif kind == "execute_result":
            cell.result = _added(None, content.get("data", {}).get("text/plain"))
        elif kind == "display_data":
            cell.text = _added(cell.text, f"{content.get('data', {}).get('text/plain')}\n")

    def handle_comm_msg(
        self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int
    ) -> None:
        """Widgets need a browser; none is kept."""

    def clear_output(self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int) -> None:
        """Nothing that was printed is removed."""

    def _executed(self, cell_index: int, execute_reply: dict[str, Any], **_: Any) -> None:
        cell, reply = self._found.cells[cell_index], execute_reply["content"]
        cell.done = reply.get("status") in ("ok", "error")
        if reply.get("status") == "error" and cell.error is None:
            cell.error = _added(None, f"{reply.get('ename')}: {reply.get('evalue')}")


def _added(before: str | None, more: object) -> str:
    """`more` behind `before`, cut at the limit, without what a terminal or a page would obey."""
    before = before or ""
    if len(before) > MOST_OF_CELL:
        return before
    text = more if isinstance(more, str) else ""
    room = MOST_OF_CELL - len(before)
    shown = "".join(
        letter if letter.isprintable() or letter in "\n\t" else "\ufffd"
        for letter in _COLOUR.sub("", text[: 2 * room])
    )
    return before + (shown if len(text) <= room else shown[:room] + CUT)


def _reason(error: BaseException, timeout_s: int) -> str:
    if isinstance(error, CellTimeoutError):
        if "IOPub" in str(error):
            return "a cell printed too much at once, so what it printed was lost"
        return f"a cell took more than {timeout_s} s"
    return f"the kernel ended ({type(error).__name__})"
