"""The picture of lab 01 in the README: python -m bench.labs.picture

It runs the lab as its author solved it, and keeps what JupyterLab shows after a run of its panel.
Run it on a quiet machine, and look at the picture before you commit it. As a student would, it
presses Run again if a run has warnings, up to `MOST_RUNS` times.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, expect

from bench.labs import jupyterlab
from grader.with_nbgrader.release import copy_labs
from labs.files import write_atomically
from support.paths import REPOSITORY

PICTURE = REPOSITORY / "docs" / "images" / "lab-01.png"
LAB = "01-timer-overhead"
WIDTH, HEIGHT = 1180, 1130
#: Where the cell with the panel begins, in pixels: below a line of the text before it.
TOP = 137
MOST_RUNS = 20
#: A lab runs for half a minute on a quiet machine.
PATIENCE_S = 600.0
_SCROLL = """(cell, top) => {
  const outer = cell.closest('.jp-WindowedPanel-outer');
  outer.scrollTop += cell.querySelector('.jp-InputArea').getBoundingClientRect().top - top;
}"""


def take() -> bytes:
    """The picture as PNG."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "labs"
        copy_labs(REPOSITORY / "notebooks", folder)
        with (
            jupyterlab.served(folder, Path(scratch) / "jupyter") as server,
            jupyterlab.chromium() as browser,
            jupyterlab.opened(
                server,
                browser.new_context(),
                f"{LAB}/{LAB}.ipynb",
                width=WIDTH,
                height=HEIGHT,
            ) as notebook,
        ):
            notebook.page.keyboard.press("Control+B")  # hides the list of files
            notebook.run_all(PATIENCE_S)
            [cell] = notebook.panel_cells
            notebook.cell(cell).scroll_into_view_if_needed()
            _run_until_quiet(notebook.panel(cell), folder / LAB / "recordings" / "panel.csv")
            notebook.cell(cell).locator(".jp-InputPrompt").click()
            notebook.page.mouse.move(WIDTH - 1, HEIGHT // 2)
            notebook.cell(cell).evaluate(_SCROLL, TOP)
            notebook.page.wait_for_timeout(1000)  # JupyterLab lays the cells out again
            return notebook.page.screenshot()


def _run_until_quiet(panel: Locator, saved: Path) -> None:
    """Press Run until a run has no warnings; `saved` is the recording of the last run.

    Raises SystemExit if each run has some, as on a busy machine.
    """
    for _ in range(MOST_RUNS):
        _run_once(panel, saved)
        if not panel.get_by_text("Warnings", exact=True).count():
            return
    raise SystemExit(f"{MOST_RUNS} runs had warnings. Take the picture on a quiet machine.")


def _run_once(panel: Locator, saved: Path) -> None:
    """Press Run, and wait for the end of this run: the panel may still show the one before."""
    before = saved.stat().st_mtime_ns if saved.exists() else 0
    jupyterlab.run_panel(panel, samples=10_000, processes=10)
    jupyterlab.wait_for(
        lambda: saved.exists() and saved.stat().st_mtime_ns > before,
        jupyterlab.PATIENCE_S,
        "the panel saves its run",
    )
    expect(jupyterlab.status_of(panel)).to_contain_text("Done: ")


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE, take())
