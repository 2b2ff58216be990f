"""Static pages of the labs, for reading without JupyterLab: `make html`.

A page shows the released notebook without solutions. Its plots and results come from the author's
notebook, which runs again on saved recordings. It measures nothing, so the same recordings give the
same page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbconvert.filters import strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from grader.figures import LABS
from grader.figures.verdict import Outcome
from grader.judging import flags
from grader.judging.lab_folder import check_folder
from grader.with_nbgrader.release import LEFT_BY_RUNNING
from labs import paths
from labs.c_kernels.catalogue import sources_beside
from labs.course import figures
from labs.files import cpu_list, write_atomically
from labs.html import filled, inline
from labs.machine.description import Machine
from labs.messages import Message, Refused
from labs.notebook.measuring import name_for
from labs.notebook.run import Run
from labs.notebook.session import Session, begin_with
from labs.recording import file
from labs.recording.file import Recording
from labs.run.measure import Plan
from labs.run.variants import has_first_time

# All pages.

_REPOSITORY = Path(__file__).parent.parent.parent
NOTEBOOKS = _REPOSITORY / "notebooks"
#: The files of an honest student's run of each lab; the tests of grading use them too.
HONEST = _REPOSITORY / "tests" / "fixtures" / "honest"


def build(
    released: Path,
    destination: Path,
    *,
    notebooks: Path = NOTEBOOKS,
    saved: Path = HONEST,
    only: Iterable[str] = (),
) -> list[str]:
    """Write the pages of the labs under `released` to `destination`; return what they lack.

    `notebooks` holds the author's notebooks, `saved` one folder of recordings for each lab. `only`
    names the labs whose pages to write (empty: all). Raises OSError, and RuntimeError if no Jupyter
    kernel starts.
    """
    labs = [
        Lab(folder.name, json.loads((folder / f"{folder.name}.ipynb").read_text(encoding="utf-8")))
        for folder in sorted(released.iterdir())
        if (folder / f"{folder.name}.ipynb").is_file()
    ]
    wanted = set(only) or {lab.name for lab in labs}
    chosen = [lab for lab in labs if lab.name in wanted]
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs = pool.map(lambda lab: rerun(notebooks / lab.name, saved / lab.name), chosen)
        done = dict(zip((lab.name for lab in chosen), runs, strict=True))
    destination.mkdir(parents=True, exist_ok=True)
    troubles = []
    for number, lab in enumerate(labs):
        if lab.name not in done:
            continue
        before = labs[number - 1] if number else None
        after = labs[number + 1] if number + 1 < len(labs) else None
        page = lab_page(lab, done[lab.name], before, after)
        write_atomically(destination / lab.page, page.encode())
        troubles += [f"{lab.name}, {cell}: {why}" for cell, why in done[lab.name].troubles.items()]
    write_atomically(destination / "index.html", index_page(labs).encode())
    return troubles


# Run the author's notebook of a lab on its saved recordings, and keep the output of each cell.

Outputs = list[dict[str, Any]]

_CELL_LIMIT_S = 120
#: Each notebook begins with a cell that installs a session of ours in place of the usual one.
_FIRST_LINE = "from grader import lab_pages"
_LONGEST_TROUBLE = 400


@dataclass(frozen=True)
class Rerun:
    """By cell id, the output of the cell, and the reason if it could not run."""

    outputs: Mapping[str, Outputs]
    troubles: Mapping[str, str]


def rerun(source: Path, saved: Path) -> Rerun:
    """Run the notebook in the lab folder `source` on the recordings in `saved`; measures nothing.

    A cell whose recording is missing has a trouble instead of outputs, and so has every cell that
    needs it. Raises OSError, and RuntimeError if no Jupyter kernel starts.
    """
    with tempfile.TemporaryDirectory(prefix="ticklab-page-") as scratch:
        folder = _copy(source, Path(scratch))
        place = str(saved.absolute() / figures.RECORDINGS)
        done = _run(folder, f"{_FIRST_LINE}\nlab_pages.install_saved({place!r})")
        return replace(done, outputs=_without_places(done.outputs, Path(scratch)))


def record(source: Path, destination: Path) -> Rerun:
    """Run the notebook in the lab folder `source`, with short runs, and keep its evidence.

    If nothing went wrong and the figures get all their points, this replaces `figures.json` and
    `recordings/` under `destination`. Otherwise the troubles say what went wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ticklab-record-") as scratch:
        folder = _copy(source, Path(scratch))
        done = _run(folder, f"{_FIRST_LINE}\nlab_pages.install_short()")
        verdicts = check_folder(folder, source.name) if source.name in LABS else []
        failed = {v.figure: v.reason for v in verdicts if v.outcome is not Outcome.PASSED}
        done = Rerun(done.outputs, {**done.troubles, **failed})
        if not done.troubles:
            destination.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(destination / figures.RECORDINGS, ignore_errors=True)
            shutil.copytree(folder / figures.RECORDINGS, destination / figures.RECORDINGS)
            shutil.copy(folder / figures.FILE_NAME, destination)
        return done


def _without_places(outputs: Mapping[str, Outputs], scratch: Path) -> Mapping[str, Outputs]:
    """The same text with a reader's folders in place of those of this machine."""
    home = str(Path.home())
    places = {
        str(scratch): "~/ticklab-labs",
        str(paths.cache()): "~/.cache/ticklab",
        **({home: "~"} if len(Path(home).parts) > 1 else {}),
    }
    text = json.dumps(outputs)
    for place, replacement in places.items():
        text = text.replace(json.dumps(place)[1:-1], replacement)
    cleaned: Mapping[str, Outputs] = json.loads(text)
    return cleaned


def _copy(source: Path, scratch: Path) -> Path:
    """A copy of the lab, without files that a run left."""
    folder = scratch / source.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_BY_RUNNING))
    return folder


def _run(folder: Path, first: str) -> Rerun:
    """Run the notebook in `folder` after a first cell `first`; it continues after errors."""
    path = folder / f"{folder.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    builder_cell = nbformat.v4.new_code_cell(first, id="builder")  # type: ignore[no-untyped-call]
    notebook.cells.insert(0, builder_cell)
    client = NotebookClient(
        notebook,
        timeout=_CELL_LIMIT_S,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
        # Encrypt if possible: without encryption, the Jupyter kernel prints long warnings.
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),
    )
    known = os.environ.get("PYTHONPATH")
    paths = [str(_REPOSITORY), *([known] if known else [])]
    client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return Rerun(
        {cell.id: [dict(each) for each in cell.outputs] for cell in code},
        {cell.id: trouble for cell in code if (trouble := _trouble(cell))},
    )


def _trouble(cell: NotebookNode) -> str:
    """Why a cell failed, in one line; empty if it did not fail."""
    for output in cell.outputs:
        if output.output_type == "error":
            # The first line of a message says what went wrong, and those below it why.
            return " ".join(f"{output.ename}: {output.evalue}".split())[:_LONGEST_TROUBLE]
        if output.output_type == "stream" and output.name == "stderr":
            return str(output.text).strip().splitlines()[0]
    return ""


# One lab as one self-contained HTML page, without scripts, fonts or images from other servers.

Notebook = dict[str, Any]
Cell = dict[str, Any]

_HERE = Path(__file__).parent
_IMAGE = '<img alt="{{ said }}" src="data:image/png;base64,{{ image }}">'

_LINK_TO_LAB = re.compile(r'href="\.\./([\w-]+)/\1\.ipynb')
#: The pages come without the recordings of the runs that they show.
_LINK_TO_RECORDING = re.compile(r'<a href="recordings/[^"]*">(.*?)</a>')
_ANCHOR = re.compile(r'<a class="anchor-link"[^>]*>.*?</a>')
_MINUTES = re.compile(r"\*(\d+) minutes")

_LIGHT = HtmlFormatter(style="default").get_style_defs(".highlight")
_DARK = HtmlFormatter(style="github-dark").get_style_defs(".highlight")


@dataclass(frozen=True)
class Lab:
    """A released lab: its name, and its notebook as students receive it."""

    name: str
    notebook: Notebook

    @property
    def title(self) -> str:
        """The first heading, without Markdown marks."""
        found = re.search(r"^# (.+)$", self._first_text, re.MULTILINE)
        return re.sub(r"[*_`]", "", found[1]).strip() if found else self.name

    @property
    def minutes(self) -> str:
        """How long the lab takes, if its first cell says so."""
        found = _MINUTES.search(self._first_text)
        return f"{found[1]} minutes" if found else ""

    @property
    def number(self) -> int:
        """The number of the lab, with which its name begins."""
        found = re.match(r"\d+", self.name)
        return int(found[0]) if found else 0

    @property
    def page(self) -> str:
        """The file name of its page."""
        return f"{self.name}.html"

    @property
    def _first_text(self) -> str:
        return next((_source(cell) for cell in self.notebook["cells"] if _is_text(cell)), "")


def lab_page(lab: Lab, run: Rerun, before: Lab | None = None, after: Lab | None = None) -> str:
    """The page of `lab`, with the output of its cells in `run`, and links to its neighbours."""
    first, *rest = [_cell(cell, run) for cell in lab.notebook["cells"]]
    return _whole("lab", title=lab.title, first=first, rest=rest, before=before, after=after)


def index_page(labs: Sequence[Lab]) -> str:
    """The page that lists all labs."""
    return _whole("index", title="The labs", labs=labs)


def _whole(template: str, **values: object) -> str:
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    return filled(_HERE / f"{template}.html.jinja", style=style, light=_LIGHT, dark=_DARK, **values)


def _cell(cell: Cell, run: Rerun) -> str:
    source, marks = _source(cell), cell["metadata"].get("nbgrader", {})
    answered = bool(marks.get("solution"))
    if _is_text(cell):
        text = _markdown(source)
        return _framed("answer", "Your answer", text) if answered else text
    kind = "answer" if answered else "code"
    label = ""
    if answered:
        label = "Your answer"
    elif marks.get("grade"):
        points = marks["points"]
        label = f"Checked: {points:g} point{'s' if points != 1 else ''}"
    # What a decision leads to belongs to the text, and an explanation is opened by its reader. The
    # output of any other answer cell would reveal the answer.
    tags = set(cell["metadata"].get("tags", []))
    shown = not marks or bool(tags & {"decision", "answer"})
    outputs = "".join(map(_output, run.outputs.get(cell["id"], []))) if shown else ""
    folded = "Show one answer, and the explanation" if "answer" in tags else ""
    in_trouble = cell["id"] in run.troubles and shown
    return _framed(
        kind, label, _highlighted(source), outputs=outputs, in_trouble=in_trouble, folded=folded
    )


def _framed(kind: str, label: str, source: str, **more: object) -> str:
    values: dict[str, object] = {"outputs": "", "in_trouble": False, "folded": "", **more}
    return filled(_HERE / "cell.html.jinja", kind=kind, label=label, source=source, **values)


def _markdown(source: str) -> str:
    """Markdown as HTML: headings keep their ids, and links to labs lead to their pages."""
    text = _ANCHOR.sub("", str(markdown2html_mistune(source)))
    text = _LINK_TO_LAB.sub(r'href="\1.html', text)
    return text.replace("<th>", '<th scope="col">')


def _highlighted(source: str) -> str:
    """Code with highlighting; a `%%ckernel` cell is highlighted as C."""
    first, _, rest = source.partition("\n")
    colours = Highlight2HTML()  # type: ignore[no-untyped-call]
    if not first.startswith("%%ckernel"):
        return str(colours(source, language="ipython3"))
    code = str(colours(rest, language="c"))
    magic = inline('<span class="nt">{{ line }}</span>', line=first)
    return code.replace("<pre>", f"<pre>{magic}\n", 1)


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _plain(str(output["text"])) if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        html = _LINK_TO_LAB.sub(r'href="\1.html', data["text/html"])
        html = _LINK_TO_RECORDING.sub(r"\1", html)
        return f"<div>{html}</div>"
    if "text/markdown" in data:
        return _markdown(data["text/markdown"])
    if "image/png" in data:
        said = (
            output.get("metadata", {}).get("image/png", {}).get("alt", data.get("text/plain", ""))
        )
        image = str(data["image/png"]).replace("\n", "")
        return inline(_IMAGE, said=said, image=image)
    return _plain(str(data["text/plain"])) if "text/plain" in data else ""


def _plain(text: str) -> str:
    said = str(strip_ansi(text)).rstrip("\n")  # type: ignore[no-untyped-call]
    return inline("<pre>{{ said }}</pre>", said=said)


def _is_text(cell: Cell) -> bool:
    return bool(cell["cell_type"] == "markdown")


def _source(cell: Cell) -> str:
    return "".join(cell["source"])


# The session that `lab` is while a page is built. It uses saved recordings and does not measure.
# These lines run in the Jupyter kernel, in the cell that `_run` puts first.

#: The size of a run that will be saved: its recording has about ten kilobytes.
MOST_SAMPLES, MOST_WARMUP = 400, 10


class SavedSession(Session):
    """A session whose runs are those of `saved`, a folder of recordings."""

    def __init__(self, name: str, folder: Path, *, saved: Path) -> None:
        super().__init__(name, folder)
        self.saved = saved
        known = sorted(self.saved.glob("*.csv"))
        if known:
            self.machine = machine_of(file.read(known[0]))

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """The saved runs with these names. Raises Refused if one was not saved."""
        return [self._saved(plan, save, unit) for plan, save in zip(plans, saves, strict=True)]

    def _saved(self, plan: Plan, save: str | None, unit: str) -> Run:
        name = figures.recording_name(save or name_for(plan))
        taken = self.saved / f"{name}.csv"
        if not taken.is_file():
            raise Refused(Message("note", f"there is no saved run {name!r}"))
        folder = self.folder / figures.RECORDINGS
        folder.mkdir(exist_ok=True)
        for path in (taken, *sources_beside(taken)):
            if path.is_file():
                shutil.copy(path, folder)
        place = f"{figures.RECORDINGS}/{name}.csv"
        self.runs[name] = self.reduce(plan, file.read(taken), place, unit)
        return self.runs[name]

    def panel(
        self, kernel: str, variants: Any = (), *, save: str = "panel", unit: str = "ns"
    ) -> Any:
        """What a page shows in place of JupyterLab's panel."""
        return Message(
            "note",
            f"JupyterLab shows the panel of {kernel} here",
            ("You choose the number of samples, the CPU and the variant, run it, and see a plot.",),
        )


class ShortSession(Session):
    """A session that takes few samples, because its recordings will be saved."""

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """Like the method of a session, but with fewer samples."""
        return super().carry_out_in_turns([short(plan) for plan in plans], saves, unit)


def short(plan: Plan) -> Plan:
    """The same plan with so few samples that its recording can be kept."""
    warmup = plan.warmup if has_first_time(plan) else min(plan.warmup, MOST_WARMUP)
    return replace(plan, samples=min(plan.samples, MOST_SAMPLES), warmup=warmup)


def install_saved(folder: str) -> None:
    """Make `start` begin a session with the recordings in `folder`.

    These are the project's own runs, and no copies of them. The Jupyter kernel ends with the page.
    """
    flags.saved_runs = frozenset  # type: ignore[assignment]
    begin_with(partial(SavedSession, saved=Path(folder)))


def install_short() -> None:
    """Make `start` begin a session with short runs."""
    begin_with(ShortSession)


def machine_of(of: Recording) -> Machine:
    """The machine on which `of` was recorded, as far as its conditions state it."""
    stated = of.conditions
    system, os_kernel, architecture = (*stated.get("os", "").split(), "", "", "")[:3]
    online, load = of.number("cpus.online"), of.number("load.1min")
    allowed = next(iter(of.condition("cpu.allowed")), "")
    step, frequency = of.number("counter.step"), of.number("counter.frequency_hz")
    return Machine(
        architecture=architecture,
        system=system,
        os_kernel=os_kernel,
        cpu=stated.get("machine.cpu"),
        cpus_online=int(online) if online else None,
        cpus_allowed=cpu_list(allowed),
        pinning=False if of.condition("cpu.pinning") else None,
        virtual={"True": True, "False": False}.get(stated.get("machine.virtual", "")),
        container=stated.get("machine.container"),
        clock_source=stated.get("machine.clock_source"),
        seccomp=stated.get("seccomp"),
        load=load,
        counter_step_ns=1e9 * step / frequency if step and frequency else None,
    )
