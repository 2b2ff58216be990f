"""What strangers hand in, on purpose or because their system made it so.

Programs and settings, links to folders, letters that nobody sees, what a spreadsheet would run,
file names of other systems, C in other encodings, and notebooks that are not where they should be.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from support.hostile.case import HONEST, Hostile, changed
from support.hostile.modules import MODULES, PROGRAMS, SETTINGS

LAB, ENTRY = "01-timer-overhead", "timer-step"
#: The points of the honest submission, and without ENTRY, its unit, the own C and the own figure.
ALL, OTHERS, NO_UNIT, NO_C, NO_OWN = 18.0, 16.0, 17.0, 16.0, 14.0
#: What ends the program that imports or runs it.
_PYTHON, _SHELL = "raise SystemExit('a stranger was run')\n", "#!/bin/sh\nkill -9 $PPID\n"


def _files(content: str | bytes, *names: str | bytes, mode: int = 0o644) -> Callable[[Path], None]:
    """Lays files with this content next to the honest ones."""

    def write(folder: Path) -> None:
        for name in names:
            path = folder / (
                name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            path.chmod(mode)

    return write


def _link(name: str, folder: Path) -> None:
    """The folder or file is a link to what another student has."""
    path = folder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(HONEST / LAB / name)


def _with_figures(change: Callable[[dict[str, Any]], object], folder: Path) -> None:
    path = folder / "figures.json"
    figures = json.loads(path.read_text(encoding="utf-8"))
    change(figures)
    path.write_text(json.dumps(figures), encoding="utf-8")


def _figures(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return partial(_with_figures, change)


def _id(name: str) -> Callable[[Path], None]:
    """The figure has another id, which looks the same or does something elsewhere."""
    return _figures(lambda figures: figures.update({name: figures.pop(ENTRY)}))


def _entry(**changed: object) -> Callable[[Path], None]:
    return _figures(lambda figures: figures[ENTRY].update(changed))


def _renamed(name: str, folder: Path) -> None:
    """A recording, and the figure that names it, under another file name."""
    (folder / "recordings" / "own.csv").rename(folder / "recordings" / f"{name}.csv")
    (folder / "recordings" / "own.c").rename(folder / "recordings" / f"{name}.c")
    path = folder / "figures.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace('"recordings/own.csv"', json.dumps(f"recordings/{name}.csv")), encoding="utf-8"
    )


def _c(change: Callable[[str], bytes], folder: Path) -> None:
    """The student's own C, saved in another form by an editor after it was measured."""
    path = folder / "recordings" / "own.c"
    path.write_bytes(change(path.read_text(encoding="utf-8")))


FILES: dict[str, tuple[Callable[[Path], None], float]] = {
    "modules of Python and of the kit": (_files(_PYTHON, *MODULES), ALL),
    "modules in recordings": (_files(_PYTHON, *(f"recordings/{each}" for each in MODULES)), ALL),
    "settings of Jupyter and nbgrader": (_files(_PYTHON, *SETTINGS, ".jupyter/x_config.py"), ALL),
    "programs that the kit starts": (_files(_SHELL, *PROGRAMS, mode=0o6777), ALL),
    "a repository with a program": (
        _files('[core]\n\tfsmonitor = "kill -9 $PPID"\n', ".git/config", "x/.git/config"),
        ALL,
    ),
    "a bare repository": (_files("ref: refs/heads/x\n", "HEAD", "config", "refs/x"), ALL),
    "settings of a shell": (_files(_SHELL, ".bashrc", ".profile", ".envrc", ".gdbinit"), ALL),
    "a build that runs": (_files(_SHELL, "Makefile", "conftest.py", "setup.py", "x.pth"), ALL),
    "recordings is a link": (partial(_link, "recordings"), 0.0),
    "figures.json is a link": (partial(_link, "figures.json"), 0.0),
    "a soft hyphen in an id": (_id("timer\u00ad-step"), OTHERS),
    "a blank without width in an id": (_id("timer-step\u200b"), OTHERS),
    "a letter of another alphabet in an id": (_id("t\u0456mer-step"), OTHERS),
    "a letter of another alphabet in a unit": (_entry(unit="t\u0456cks"), NO_UNIT),
    "tag letters in a unit": (_entry(unit="ticks\U000e0041"), NO_UNIT),
    "an id that turns the writing": (_id("\u202etimer-step"), OTHERS),
    "an id that a spreadsheet runs": (_id("=HYPERLINK(1)"), OTHERS),
    "an id with a full-width equals sign": (_id("\uff1d1+1"), OTHERS),
    "a unit that a spreadsheet runs": (_entry(unit="+cmd|' /C calc'!A0"), OTHERS),
    "a time that a spreadsheet runs": (_entry(when="@SUM(1;=1+1)"), ALL),
    "a file that a spreadsheet runs": (partial(_renamed, "=1+1;cmd"), NO_OWN),
    "a file with letters that nobody sees": (partial(_renamed, "o\u200bwn\u00ad"), NO_OWN),
    "a file in another normal form": (partial(_renamed, "e\u0301"), NO_OWN),
    "a file that looks like an option": (partial(_renamed, "-o"), NO_OWN),
    "a file whose name is no text": (_files("x", b"x\xff.c", b"recordings/\xe9.csv"), ALL),
    "files with blanks and quotes": (
        _files("x", "'", '"', "a b.c", "x;y", "$(id)", "%s"),
        ALL,
    ),
    "files that Windows cannot have": (_files("x", "con", "nul.txt", "a:b", "x."), ALL),
    "files of a Mac": (_files("x", ".DS_Store", "._figures.json", "__MACOSX/._x"), ALL),
    "C with a byte-order mark": (partial(_c, lambda c: c.encode("utf-8-sig")), ALL),
    "C of Windows": (partial(_c, lambda c: c.replace("\n", "\r\n").encode()), ALL),
    "C in Latin-1": (partial(_c, lambda c: f"{c}// caf\u00e9\n".encode("latin-1")), NO_C),
    "C in UTF-16": (partial(_c, lambda c: c.encode("utf-16")), ALL),
    "C in UTF-16 without a mark": (partial(_c, lambda c: c.encode("utf-16-le")), NO_C),
    "C that turns the writing": (
        partial(_c, lambda c: f"{c}/* \u202e \u2066 */ // \u200b\n".encode()),
        NO_C,
    ),
    "times, secrets and receipts of another": (
        _files("2031-01-01 00:00:00 UTC", "timestamp.txt", ".ticklab-collected.json"),
        ALL,
    ),
}

WORDS = "A fenced pair costs 26 ticks, because each read waits for the one before."
Cells = list[dict[str, Any]]


def _report(cells: Cells) -> int:
    """The place of the report."""
    return next(
        n
        for n, one in enumerate(cells)
        if one["metadata"].get("nbgrader", {}).get("grade_id") == "report"
    )


def _with_cells(change: Callable[[Cells, int], object], path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    marks = [one["metadata"].get("nbgrader", {}) for one in cells]
    at = next(n for n, each in enumerate(marks) if each.get("grade_id") == "report")
    cells[at]["source"] = WORDS
    change(cells, at)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def _added(cells: Cells, at: int, place: int, **cell: Any) -> None:
    """The report stands in a cell of the student, and its own cell is as released."""
    cells[at]["source"] = "Write your answer here."
    made = {"cell_type": "markdown", "metadata": {}, "id": "mine", "source": WORDS, **cell}
    cells.insert(place, made)


def _in_output(cells: Cells, at: int) -> None:
    shown = [{"output_type": "stream", "name": "stdout", "text": [WORDS]}]
    program = {"cell_type": "code", "source": "print(text)", "outputs": shown}
    _added(cells, at, at + 1, execution_count=None, **program)


def _split(cells: Cells, at: int) -> None:
    half = {**cells[at], "id": "second-half"}
    cells[at]["source"], half["source"] = "The first half.", WORDS
    cells.insert(at + 1, half)


def _without_ids(cells: Cells, at: int) -> None:
    for one in cells:
        one["metadata"] = {}
        one.pop("id", None)


def _moved(to: str, path: Path) -> None:
    _with_cells(lambda cells, at: None, path)
    path.rename(path.with_name(to))


def _fetched_again(path: Path) -> None:
    """The work is in a copy, and the lab was fetched once more."""
    released = json.loads(path.read_text(encoding="utf-8"))
    _moved(f"{LAB}-Copy1.ipynb", path)
    for one in released["cells"]:
        if one["metadata"].get("nbgrader", {}).get("solution"):
            one["source"] = "Write your answer here." if one["cell_type"] == "markdown" else "..."
    path.write_text(json.dumps(released), encoding="utf-8")


#: What happens to the notebook with the answers; the report is read and waits for a person.
NOTEBOOKS: dict[str, Callable[[Path], None]] = {
    "another name": partial(_moved, "mine.ipynb"),
    "a copy": partial(_moved, f"{LAB}-Copy1.ipynb"),
    "a number": partial(_moved, f"{LAB} (1).ipynb"),
    "a name with letters that nobody sees": partial(_moved, f"{LAB}\u200b.ipynb"),
    "a name that a spreadsheet runs": partial(_moved, "=1+1.ipynb"),
    "the work in a copy": _fetched_again,
    "the answer below": partial(_with_cells, lambda cells, at: _added(cells, at, at + 1)),
    "the answer at the end": partial(_with_cells, lambda cells, at: _added(cells, at, len(cells))),
    "the answer printed": partial(_with_cells, _in_output),
    "the answer split in two": partial(_with_cells, _split),
    "ids lost in another editor": partial(_with_cells, _without_ids),
}

CASES = [
    *(
        Hostile(name, "stranger", LAB, changed(LAB, change), points)
        for name, (change, points) in FILES.items()
    ),
    *(
        Hostile(
            name, "a stranger's notebook", LAB, changed(LAB, lambda _: None), ALL, notebook=change
        )
        for name, change in NOTEBOOKS.items()
    ),
]
