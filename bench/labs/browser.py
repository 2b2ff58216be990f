"""Every lab in headless Chromium: run from top to bottom, its panels pressed, its outputs legible.

Each lab is run as its author solved it and as a student gets it, and what it shows is looked at
in the light and in the dark theme of JupyterLab, from a wide window to a phone's. With --save the
screenshots of all outputs are kept, to be looked at by eye: nothing here sees into a plot.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.report import must_hold, say, skipped, verdict
from grader.with_nbgrader.release import copy_labs, release
from support.paths import REPOSITORY

try:
    from playwright.sync_api import BrowserContext, Locator
    from playwright.sync_api import Error as PlaywrightError

    from bench.labs import accessible, jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

THEMES = ("light", "dark")
#: Of the window, in CSS pixels.
WIDTHS = {"wide": 1400, "middle": 700, "phone": 390}
HEIGHT = 2400
#: A lab runs for half a minute where nothing else does.
PATIENCE_S = 600.0


def run(quick: bool, save: Path | None = None) -> bool:
    """Every lab, solved and released; with `quick` the solutions only."""
    must_hold(
        "every cell of every lab runs in the browser and every panel draws, without a traceback; "
        "no output is cut off, to be moved sideways (on a phone, tables may), or too faint, and "
        "axe-core finds nothing in it, light or dark, "
        + " or ".join(f"{width} px wide" for width in WIDTHS.values())
    )
    if MISSING:
        return skipped(MISSING)
    source = REPOSITORY / "notebooks"
    found: list[str] = []
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "labs"
        copy_labs(source, folder / "solved")
        if not quick:
            release(source, folder / "released")
        notebooks = sorted(folder.glob("*/*/*.ipynb"), key=lambda file: (file.stem, str(file)))
        with (
            jupyterlab.served(folder, Path(scratch) / "jupyter") as server,
            jupyterlab.chromium() as chromium,
        ):
            context = chromium.new_context()
            for notebook in notebooks:
                name = notebook.relative_to(folder).as_posix()
                form, lab = notebook.relative_to(folder).parts[:2]
                count += 1
                try:
                    for fault in _faults(server, context, name, save and save / lab / form):
                        say(f"   {lab}, {form}: {fault}")
                        found.append(fault)
                except (AssertionError, PlaywrightError) as error:
                    found.append(str(error).partition("\n")[0])
                    say(f"   {lab}, {form}: {found[-1]}")
    return verdict(not found, f"{count} notebooks, {len(found)} faults")


def _faults(
    server: jupyterlab.Server, context: BrowserContext, name: str, save: Path | None
) -> Iterator[str]:
    """What is wrong with one notebook, after running it; screenshots go to the folder `save`."""
    with jupyterlab.opened(server, context, name, width=WIDTHS["wide"], height=HEIGHT) as notebook:
        notebook.page.keyboard.press("Control+B")  # the list of files leaves little of a phone
        notebook.run_all(PATIENCE_S)
        for cell in notebook.code:
            if not notebook.has_run(cell):  # one before it has stopped the rest, which is told
                notebook.run(cell)
            if said := notebook.complaints(cell):
                yield f"{cell} complains: {' '.join(said)[:300]}"
        for cell in notebook.panel_cells:
            plot = jupyterlab.run_panel(notebook.panel(cell), samples=1000, processes=5)
            if not plot.evaluate("image => image.naturalWidth"):
                yield f"{cell}: no plot"
        seen: dict[tuple[str, str], list[str]] = {}
        for theme in THEMES:
            jupyterlab.theme(notebook.page, theme)
            for wide, width in WIDTHS.items():
                notebook.page.set_viewport_size({"width": width, "height": HEIGHT})
                kept = save and save / f"{theme}-{wide}"
                for each in _looked_at(notebook, kept, phone=wide == "phone"):
                    seen.setdefault(each, []).append(f"{theme} {wide}")
        for (cell, fault), where in seen.items():
            yield f"{cell} ({', '.join(where)}): {fault}"


def _looked_at(
    notebook: jupyterlab.Notebook, save: Path | None, *, phone: bool
) -> Iterator[tuple[str, str]]:
    """The faults of each cell as the page is now; tables that are folded are unfolded for it."""
    for number, cell in enumerate(notebook.ids):
        shown = notebook.cell(cell)
        output = shown.locator(".jp-OutputArea-output")
        if cell not in notebook.code or not output.count():
            continue
        shown.scroll_into_view_if_needed()
        if save:
            _keep(shown, save / f"{number:02}-{cell}.png")
        if _unfold(shown, True) and save:
            _keep(shown, save / f"{number:02}-{cell}-unfolded.png")
        for each in output.all():
            for fault in accessible.illegible(each, movable=phone) + accessible.violations(each):
                yield cell, fault
        _unfold(shown, False)


def _unfold(shown: Locator, whether: bool) -> int:
    """Unfold or fold whatever can be; returns how much that is."""
    count: int = shown.locator(".jp-OutputArea details").evaluate_all(
        "(all, whether) => { all.forEach(each => { each.open = whether }); return all.length; }",
        whether,
    )
    return count


def _keep(shown: Locator, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shown.screenshot(path=path)
