"""A lab in each front end of a Jupyter server: JupyterLab, Notebook 7 and nbclassic.

They are opened as on a hub, where nobody calls `labs start`: what colours C comes from the folders
that the wheel installs. nbclassic is no dependency of Ticklab; it is tried where it is installed.
With --save the screenshots are kept, to be looked at by eye.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.report import must_hold, say, skipped, verdict
from grader.with_nbgrader.release import release
from labs.commands.start import update_copy
from support.paths import REPOSITORY

try:
    from playwright.sync_api import BrowserContext, Locator, Page, expect
    from playwright.sync_api import Error as PlaywrightError

    from bench.labs import accessible, jupyterlab
except ImportError:
    MISSING = "playwright is not installed"
else:
    MISSING = "" if jupyterlab.CHROMIUM else "chromium is not installed"

LAB = "01-timer-overhead"
SHARED = REPOSITORY / "labs" / "front_ends"
SAMPLES, PROCESSES = 200, 2
#: Said by ipywidgets in place of a widget whose Jupyter kernel has ended.
LOST = re.compile("Error displaying widget|widget could not be displayed")
#: A directive of C is a comment to Python, and each front end shows comments in italics.
_IN_C = """cell => {
  const pieces = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (pieces.nextNode())
    if (pieces.currentNode.textContent.includes('#include'))
      return getComputedStyle(pieces.currentNode.parentElement).fontStyle !== 'italic';
  return false;
}"""

_SERVE = """
import sys
from jupyterlab.labapp import LabApp
server = LabApp.initialize_server(
    [f"--ServerApp.root_dir={sys.argv[1]}", "--ServerApp.open_browser=False", "--allow-root"])
server.io_loop.add_callback(print, server.connection_url + "lab?", flush=True)
server.start()
"""


@dataclass(frozen=True)
class FrontEnd:
    """Where a front end opens a notebook, and by which selectors its page is read.

    `saves` is JavaScript; "" presses Control-S.
    """

    name: str
    package: str
    path: str
    cell: str
    editor: str
    prompt: str
    themes: tuple[str, ...]
    saves: str = ""


_OF_JUPYTERLAB = (".jp-CodeCell", ".cm-content", ".jp-InputPrompt")
FRONT_ENDS = (
    FrontEnd("JupyterLab", "jupyterlab", "lab/tree/", *_OF_JUPYTERLAB, ("Light", "Dark")),
    FrontEnd("Notebook 7", "notebook", "notebooks/", *_OF_JUPYTERLAB, ("Light", "Dark")),
    FrontEnd(
        "nbclassic",
        "nbclassic",
        "nbclassic/notebooks/",
        ".code_cell",
        ".CodeMirror",
        ".input_prompt",
        ("Light",),
        "() => Jupyter.notebook.save_notebook()",
    ),
)


def run(quick: bool, save: Path | None = None) -> bool:
    """Every front end that is installed, in its themes; with `quick` only in the light one."""
    must_hold(
        "in JupyterLab, Notebook 7 and nbclassic, %%ckernel cells have the colours of C, the panel "
        "runs and shows its result once, a prediction is stored, axe-core finds nothing, "
        "and the saved notebook shows the last result without its Jupyter kernel"
    )
    if MISSING:
        return skipped(MISSING)
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder, own = Path(scratch) / "labs", Path(scratch) / "jupyter"
        release(REPOSITORY / "notebooks", Path(scratch) / "released")
        tried = [each for front_end in FRONT_ENDS for each in _installed(front_end, quick)]
        for front_end, theme in tried:
            update_copy(Path(scratch) / "released", folder / _folder(front_end, theme))
        more = {
            "JUPYTER_PATH": str(SHARED / "share" / "jupyter"),
            "JUPYTER_CONFIG_PATH": str(SHARED / "etc" / "jupyter"),
        }
        with (
            jupyterlab.served(folder, own, _SERVE, more) as server,
            jupyterlab.chromium() as browser,
        ):
            for front_end, theme in tried:
                _set(own / "SETTINGS", theme)
                context = browser.new_context(viewport={"width": 1280, "height": 1400})
                visit = _Visit(server, context, front_end, theme, save)
                try:
                    found = list(visit.faults())
                except (AssertionError, PlaywrightError) as error:
                    found = [str(error).partition("\n")[0]]
                    visit.screenshot("fault")
                for fault in found:
                    say(f"   {front_end.name}, {theme.lower()}: {fault}")
                faults += len(found)
                context.close()
                jupyterlab.end_jupyter_kernels(server, browser.new_page())
    return verdict(not faults, f"{len(tried)} front ends and themes, {faults} faults")


def _installed(front_end: FrontEnd, quick: bool) -> Iterator[tuple[FrontEnd, str]]:
    """The front end with each theme to try; says its version, or that it is not installed."""
    try:
        version = importlib.metadata.version(front_end.package)
    except importlib.metadata.PackageNotFoundError:
        say(f"   {front_end.name}: not installed, not tried")
        return
    say(f"   {front_end.name} {version}")
    for theme in front_end.themes[:1] if quick else front_end.themes:
        yield front_end, theme


def _folder(front_end: FrontEnd, theme: str) -> str:
    return f"{front_end.package}-{theme.lower()}"


def _set(settings: Path, theme: str) -> None:
    """Choose what the menus of JupyterLab and Notebook 7 choose.

    In the dark theme, the state of the widgets is saved too. So both ways are tried.
    """
    chosen = {
        "@jupyterlab/apputils-extension/themes": {"theme": f"JupyterLab {theme}"},
        "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": theme == "Dark"},
    }
    for name, values in chosen.items():
        file = settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")


class _Visit:
    """One student's lab in one front end."""

    def __init__(
        self,
        server: jupyterlab.Server,
        context: BrowserContext,
        front_end: FrontEnd,
        theme: str,
        save: Path | None,
    ) -> None:
        self._server, self._front_end, self._save = server, front_end, save
        self._path = f"{_folder(front_end, theme)}/{LAB}/{LAB}.ipynb"
        cells = self._notebook()["cells"]
        self._ids = [cell["id"] for cell in cells if cell["cell_type"] == "code"]
        self.page: Page = context.new_page()
        self.page.set_default_timeout(1e3 * jupyterlab.PATIENCE_S)
        self.page.on("dialog", lambda dialog: dialog.accept())

    def faults(self) -> Iterator[str]:
        """What is wrong, from the first cell to the notebook that is opened again."""
        self._open(self._path)
        for cell in ("begin", "prediction", "panel"):
            self._run(cell)
        yield from self._faults_of_colours()
        yield from self._faults_of_prediction()
        yield from self._faults_of_panel()
        self._save_notebook()
        yield from self._faults_of_saved(self._path, "again")
        # Changed elsewhere, so this server has not signed it: the front end leaves out styles.
        other = self._path.replace(f"{LAB}.ipynb", "from-elsewhere.ipynb")
        changed = self._notebook()
        changed["cells"][0]["source"] = "Sent by somebody else."
        (self._server.folder / other).write_text(json.dumps(changed), encoding="utf-8")
        yield from self._faults_of_saved(other, "from-elsewhere")

    def _faults_of_colours(self) -> Iterator[str]:
        cell = self._cell("own-pair")
        # JupyterLab draws a cell when it comes into view, nbclassic colours it when it is chosen.
        cell.evaluate("shown => shown.scrollIntoView({block: 'center'})")
        cell.locator(self._front_end.editor).first.click()
        try:
            self.page.wait_for_function(_IN_C, arg=cell.element_handle(), timeout=10_000)
        except PlaywrightError:
            yield "C does not have the colours of C"
        self.screenshot("colours", cell)

    def _faults_of_prediction(self) -> Iterator[str]:
        form = self.page.locator(".ticklab-form").first
        form.get_by_label("Number").fill("1e3")
        form.get_by_label("Reason").fill("dd and x are letters here, not commands")
        form.get_by_role("button", name="Store").click()
        expect(form.get_by_role("status")).to_have_text("Stored.")
        yield from (f"prediction: {each}" for each in accessible.violations(form))
        self.screenshot("prediction", form)

    def _faults_of_panel(self) -> Iterator[str]:
        panel = self.page.locator(".ticklab-panel").first
        plot = jupyterlab.run_panel(panel, SAMPLES, PROCESSES)
        expect(plot).to_be_visible()
        yield from (f"panel: {each}" for each in accessible.violations(panel))
        if self.page.locator(".ticklab-kept").first.is_visible():
            yield "the result is shown twice: in the panel and below it"
        self.screenshot("panel", panel)

    def _faults_of_saved(self, path: str, name: str) -> Iterator[str]:
        """The notebook at `path`, opened by a new Jupyter kernel that has run nothing."""
        jupyterlab.end_jupyter_kernels(self._server, self.page)
        self._open(path)
        cell, prediction = self._cell("panel"), self._cell("prediction")
        cell.scroll_into_view_if_needed()
        kept = cell.locator(".ticklab-kept")
        expect(kept.get_by_text("and then this one (Shift+Enter)")).to_be_visible()
        expect(kept.get_by_text("timer_overhead fenced: overhead")).to_be_visible()
        plot = jupyterlab.plot_of(kept)
        expect(plot).to_be_visible()
        if not plot.evaluate("image => image.naturalWidth"):
            yield f"{name}: the plot is not drawn"
        line = prediction.locator(".ticklab-form-line")
        expect(line.get_by_text(", 1000, ")).to_be_visible()
        for what, where in (("panel", cell), ("form", prediction)):
            if where.get_by_text(LOST).filter(visible=True).count():
                yield f"{name}: the place of the {what} says that a widget is lost"
            if where.locator(".ticklab-panel, .ticklab-form").filter(visible=True).count():
                yield f"{name}: there is a picture of the {what}, and it does not answer"
        yield from (f"{name}: {each}" for each in accessible.violations(kept))
        self.screenshot(name, cell)
        self.screenshot(f"{name}-prediction", self._cell("prediction"))

    def _open(self, path: str) -> None:
        where = f"{self._server.address}{self._front_end.path}{path}"
        # Without `reset`, JupyterLab also opens the notebooks of its last visit.
        self.page.goto(f"{where}?token={jupyterlab.TOKEN}&reset")
        self._cell("begin").locator(self._front_end.editor).wait_for()
        # The page is drawn again once its Jupyter kernel is there.
        self.page.wait_for_load_state("networkidle")

    def _cell(self, cell: str) -> Locator:
        return self.page.locator(self._front_end.cell).nth(self._ids.index(cell))

    def _run(self, cell: str) -> None:
        where = self._cell(cell)
        where.locator(self._front_end.editor).first.click()
        self.page.keyboard.press("Shift+Enter")
        prompt = where.locator(self._front_end.prompt).first
        expect(prompt).to_have_text(re.compile(r"\d"))

    def _save_notebook(self) -> None:
        file = self._server.folder / self._path
        before = file.stat().st_mtime_ns
        if self._front_end.saves:
            self.page.evaluate(self._front_end.saves)
        else:
            self.page.locator("body").press("Control+s")
        jupyterlab.wait_for(
            lambda: file.stat().st_mtime_ns > before, jupyterlab.PATIENCE_S, "the lab is saved"
        )

    def _notebook(self) -> dict[str, list[dict[str, str]]]:
        text = (self._server.folder / self._path).read_text(encoding="utf-8")
        parsed: dict[str, list[dict[str, str]]] = json.loads(text)
        return parsed

    def screenshot(self, name: str, around: Locator | None = None) -> None:
        """Keep what the window shows, if screenshots are asked for."""
        if self._save is not None:
            if around is not None:
                around.evaluate("shown => shown.scrollIntoView({block: 'center'})")
            self._save.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=self._save / f"{Path(self._path).parts[0]}-{name}.png")
