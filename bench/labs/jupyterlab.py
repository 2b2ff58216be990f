"""JupyterLab as a student meets it: a folder served, and its notebooks used in headless Chromium.

What a student does by mouse and keyboard is done so here. For `python -m bench browser` and for
the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from support.paths import REPOSITORY

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TOKEN = "token-of-this-run"
#: For each single thing that JupyterLab does, on a machine that may be busy.
PATIENCE_S = 60.0

#: Python that serves the folder in its first argument as `labs start` does.
SERVE = (
    "import sys; from pathlib import Path; from labs.commands.start import serve; "
    "serve(Path(sys.argv[1]), first=None, port=None, browser=False)"
)
#: nbclassic prints a banner before it.
_ADDRESS = re.compile(r"^(http\S+/)lab(?:/workspaces/\w+)?\?.*\n", re.MULTILINE)
_NO_ERRANDS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

#: Each cell that waits for the Jupyter kernel has a star, and each that has run a number.
_ENDED = """notebook => {
  const prompts = [...notebook.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
    .map(prompt => prompt.textContent);
  return prompts.some(words => /\\d/.test(words)) && !prompts.some(words => words.includes('*'));
}"""
_STDERR = ", ".join(
    f'[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in ("error", "stderr")
)


@dataclass(frozen=True)
class Server:
    """A JupyterLab that serves `folder`; its `address` ends in a slash."""

    folder: Path
    address: str


def wait_for(condition: Callable[[], object], seconds: float, what: str) -> float:
    """Wait until `condition` holds; returns how long that took. Raises TimeoutError."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > seconds:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.01)
    return time.monotonic() - begin


@contextlib.contextmanager
def served(
    folder: Path, own: Path, program: str = SERVE, more: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Server]:
    """Serve `folder` as `labs start` does; what Jupyter itself keeps goes to the folder `own`.

    `program` is Python that serves it otherwise, and `more` are variables for its environment.
    Raises RuntimeError, with the end of what JupyterLab said, where it ends instead of serving,
    and TimeoutError where it does neither.
    """
    (own / "CONFIG").mkdir(parents=True, exist_ok=True)
    # For `opened_in`: JupyterLab's own commands, without the keyboard and where the focus is.
    settings = {"LabApp": {"expose_app_in_browser": True}}
    (own / "CONFIG" / "jupyter_lab_config.json").write_text(json.dumps(settings))
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "JUPYTER_TOKEN": TOKEN,
        **{f"JUPYTER_{name}_DIR": str(own / name) for name in ("CONFIG", "DATA", "RUNTIME")},
        **{f"JUPYTERLAB_{name}_DIR": str(own / name) for name in ("SETTINGS", "WORKSPACES")},
        **more,
    }
    said, log = own / "said", own / "log"
    with said.open("wb") as out, log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder)],
            env=environment,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
    try:
        wait_for(
            lambda: _ADDRESS.search(said.read_text()) or process.poll() is not None,
            PATIENCE_S,
            "JupyterLab says where it serves",
        )
        address = _ADDRESS.search(said.read_text())
        if address is None:
            raise RuntimeError(f"JupyterLab ended:\n{log.read_text(errors='replace')[-1000:]}")
        yield Server(folder, address[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium that runs no errands of its own; `expect` gets patience."""
    expect.set_options(timeout=1e3 * PATIENCE_S)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_NO_ERRANDS))
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(
    server: Server, context: BrowserContext, name: str, *, width: int = 1280, height: int = 1400
) -> Iterator[Notebook]:
    """The notebook `name`, a path within the server's folder, in a page and a Jupyter kernel of
    its own, which both end with it."""
    page = _new_page(server, context, f"lab/tree/{name}", width, height)
    try:
        yield _when_idle(page, server.folder / name)
    finally:
        end_jupyter_kernels(server, page)
        page.close()


def without_notebook(server: Server, context: BrowserContext) -> Page:
    """A page in which JupyterLab runs, for `opened_in`."""
    page = _new_page(server, context, "lab", 1280, 1400)
    page.locator(".jp-Launcher").first.wait_for()
    return page


@contextlib.contextmanager
def opened_in(page: Page, server: Server, name: str) -> Iterator[Notebook]:
    """The notebook `name` in a page in which JupyterLab runs already: half the time of `opened`."""
    page.evaluate(
        "async path => { await jupyterapp.commands.execute('docmanager:open', {path}) }", name
    )
    try:
        yield _when_idle(page, server.folder / name)
    finally:
        # Before its Jupyter kernel ends, which is else asked about.
        page.evaluate("() => { jupyterapp.shell.currentWidget.dispose() }")
        end_jupyter_kernels(server, page)


def _new_page(server: Server, context: BrowserContext, path: str, width: int, height: int) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.set_default_timeout(1e3 * PATIENCE_S)
    page.goto(f"{server.address}{path}?token={TOKEN}&reset")
    return page


def _when_idle(page: Page, file: Path) -> Notebook:
    """The notebook, once its Jupyter kernel waits and JupyterLab no longer moves the focus."""
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(shown.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
        "data-status", "idle"
    )
    expect(page.locator("#jp-bottom-panel")).to_contain_text("| Idle")
    return Notebook(page, file)


def end_jupyter_kernels(server: Server, page: Page) -> None:
    """End every Jupyter kernel of the server."""
    where, key = f"{server.address}api/kernels", f"?token={TOKEN}"
    for kernel in page.request.get(where + key).json():
        page.request.delete(f"{where}/{kernel['id']}{key}")


def command(page: Page, name: str) -> None:
    """Carry out a command of JupyterLab by its palette, as the keyboard does, and confirm it."""
    page.keyboard.press("Control+Shift+C")
    palette = page.locator(".lm-CommandPalette:visible")
    expect(palette.locator("input")).to_be_focused()
    page.keyboard.type(name)
    chosen = palette.locator(".lm-CommandPalette-item.lm-mod-active .lm-CommandPalette-itemLabel")
    expect(chosen).to_contain_text(name)
    page.keyboard.press("Enter")
    if name.startswith("Restart"):
        page.locator(".jp-Dialog .jp-mod-accept").click()


def theme(page: Page, name: str) -> None:
    """Show JupyterLab in the theme "light" or "dark"."""
    full = f"JupyterLab {name.capitalize()}"
    command(page, f"Use Theme: {full}")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", full)


def run_panel(panel: Locator, samples: int, processes: int) -> Locator:
    """Press Run with so many samples and wait for the plot, which is returned."""
    panel.get_by_label("Samples", exact=True).fill(str(samples))
    panel.get_by_label("Processes").fill(str(processes))
    panel.get_by_role("button", name="Run").click()
    expect(status_of(panel)).to_contain_text("Done: ")
    return plot_of(panel)


def status_of(panel: Locator) -> Locator:
    """Where a panel says how far its run is; whether its result is stale comes below that."""
    return panel.get_by_role("status").first


def plot_of(panel: Locator) -> Locator:
    """The plot of a panel's last run, not that which compares the last runs."""
    return panel.get_by_role("img", name=re.compile("^Samples of"))


class Notebook:
    """A notebook that is open in `page`; its cells go by their ids."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.shown = page.locator(".jp-Notebook")
        cells = json.loads(file.read_text("utf-8"))["cells"]
        self.ids: list[str] = [cell["id"] for cell in cells]
        #: What is written in each cell of code.
        self.code: dict[str, str] = {
            cell["id"]: "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
        }

    @property
    def panel_cells(self) -> list[str]:
        """The cells that show a panel."""
        return [cell for cell, source in self.code.items() if "lab.panel(" in source]

    def cell(self, cell: str) -> Locator:
        """A cell: what is written in it, and its outputs."""
        return self.shown.locator(".jp-Cell").nth(self.ids.index(cell))

    def run(self, cell: str) -> None:
        """Run one cell by Shift+Enter, and wait for its end."""
        self.cell(cell).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        expect(self.cell(cell).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\d"))

    def run_all(self, seconds: float) -> None:
        """Restart, run all cells, and wait until the last has run or one has stopped the rest.

        For a notebook without outputs. Raises playwright's TimeoutError.
        """
        command(self.page, "Restart Kernel and Run All Cells")
        shown = self.shown.element_handle()
        self.page.wait_for_function(_ENDED, arg=shown, timeout=1e3 * seconds)

    def has_run(self, cell: str) -> bool:
        """Whether a cell of code has run, and come to an end of whatever kind."""
        return bool(
            re.search(r"\d", self.cell(cell).locator(".jp-InputPrompt").text_content() or "")
        )

    def complaints(self, cell: str) -> list[str]:
        """What a cell wrote to stderr, tracebacks included, with what it showed before that."""
        if not self.cell(cell).locator(_STDERR).count():
            return []
        return self.cell(cell).locator(".jp-OutputArea-output").all_text_contents()

    def panel(self, cell: str) -> Locator:
        """The panel that a cell shows."""
        return self.cell(cell).locator(".ticklab-panel")
