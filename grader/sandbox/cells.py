"""Executes cells of a notebook in a kernel inside the sandbox, and keeps what they printed as text.

What a kernel sends may come from a student's code. So each message has a limit, only text is kept,
and a cell counts as executed only if the kernel said so.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from grader.sandbox.enclosed import NoSandbox
from grader.sandbox.provisioner import CUT, SandboxKernelManager
from grader.sandbox.run import refusal

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
    why = refusal()
    if why is not None:
        raise NoSandbox(why)
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
