"""What must hold of the readers of notebooks, answers and names, for any input at all."""

from __future__ import annotations

import contextlib
import copy
import functools
import getpass
import json
import logging
import os
import re
import sqlite3
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError

from bench.fuzz import good_inputs
from bench.fuzz.checks import Wrong
from grader.submissions import safe_files
from grader.submissions.safe_files import printable
from grader.submissions.submitted_notebook import quoted, read_submitted, rebuild
from grader.with_nbgrader.nbgrader_exchange import CarefulCollect
from grader.with_nbgrader.pages.student_text import markdown2html
from labs.limits import MOST_ANSWER

LAB = "01-timer-overhead"
WORD_JOINER = "\u2060"
ENTRY_ENDING = f"+{LAB}+2026-01-01 00:00:00 UTC+x".encode()
#: Tags that run something, fetch something, or change the page around an answer.
_HARMFUL_TAGS = re.compile(
    "script|style|iframe|object|embed|link|meta|base|form|input|button|textarea|select|audio|video|"
    "source|template|noscript|foreignobject|frame|frameset|applet|title"
)
_FETCHED = re.compile("src|srcset|poster|background|data|xlink:href|action|formaction|href")
_NO_SCHEME = re.compile(r"(?!//)(?![a-z][a-z0-9+.-]*:)|data:image/(?:png|svg\+xml);base64,")
_LINK = re.compile(r"(?!//)(?:(?![a-z][a-z0-9+.-]*:)|https?:|mailto:)")


class Page(HTMLParser):
    """Raises Wrong at a tag or an attribute that no answer may have in an instructor's browser."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Examine one tag. The parser has already replaced character references in values."""
        if _HARMFUL_TAGS.fullmatch(tag):
            raise Wrong(f"the page has a tag {tag}")
        for name, value in attrs:
            # As a browser reads it: without blanks around and line ends inside, / for \.
            address = re.sub(r"[\t\r\n]", "", (value or "").strip("".join(map(chr, range(33)))))
            address = address.replace("\\", "/").lower()
            form = _LINK if (tag, name) == ("a", "href") else _NO_SCHEME
            if name.startswith("on") or "position:" in address or "url(" in address:
                raise Wrong(f"the tag {tag} has {name}={address[:80]}")
            if _FETCHED.fullmatch(name) and not form.match(address):
                raise Wrong(f"the tag {tag} loads {name}={address[:80]}")


@functools.lru_cache(maxsize=1)
def _released() -> nbformat.NotebookNode:
    node: nbformat.NotebookNode = nbformat.from_dict(good_inputs.released())  # type: ignore
    return node


def notebook(content: bytes) -> bool:
    """Whether a submitted notebook is read; the rebuilt one has the released cells in any case."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"{LAB}.ipynb"
        path.write_bytes(content)
        submitted = read_submitted(path)
    rebuilt = rebuild(_released(), submitted)
    nbformat.validate(rebuilt.notebook)
    nbformat.writes(rebuilt.notebook).encode()  # type: ignore[no-untyped-call]
    cells = rebuilt.notebook.cells[1 if rebuilt.set_aside else 0 :]
    for released, cell in zip(_released().cells, cells, strict=True):
        marks = released.metadata.get("nbgrader", {})
        if cell.metadata != released.metadata or cell.cell_type != released.cell_type:
            raise Wrong(f"cell {marks.get('grade_id')} is not the released one")
        if not marks.get("solution") and cell.source != released.source:
            raise Wrong(f"the locked cell {marks.get('grade_id')} was changed")
        if len(cell.source) > max(2 * MOST_ANSWER, len(released.source)):
            raise Wrong(f"cell {marks.get('grade_id')} has {len(cell.source)} characters")
    notes = [*rebuilt.set_aside, submitted.trouble or ""]
    _must_be_printable(notes)
    if any(len(note) > 500 for note in notes):
        raise Wrong(f"a note has {max(map(len, notes))} characters")
    return submitted.trouble is None


def answer(content: bytes) -> bool:
    """An answer, from the submitted notebook to the page that an instructor opens."""
    cells = copy.deepcopy(good_inputs.released())
    answered = next(each for each in cells["cells"] if _is_answer(each))
    answered["source"] = content.decode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"{LAB}.ipynb"
        path.write_text(json.dumps(cells))
        rebuilt = rebuild(_released(), read_submitted(path)).notebook
    for cell in rebuilt.cells:
        if _is_answer(cell) and cell.metadata.nbgrader == answered["metadata"]["nbgrader"]:
            context = Environment().from_string("").new_context({"cell": cell, "resources": {}})
            Page().feed(markdown2html(context, cell.source))
            return True
    raise Wrong("the answer is not in the rebuilt notebook")


def _is_answer(cell: Any) -> bool:
    marks = cell["metadata"].get("nbgrader", {})
    return cell["cell_type"] == "markdown" and bool(marks.get("solution"))


def names(content: bytes) -> bool:
    """Names of students, files and exchange entries: at most eight, separated by zero bytes."""
    given = [each for each in content.split(b"\0") if each][:8]
    for each in given:
        name = os.fsdecode(each)
        for text in (printable(name), quoted(name)):
            _must_be_printable([text])
            if len(text) > 300:
                raise Wrong(f"prints {len(text)} characters of a name")
        if re.search(r"`|<[a-z/!?]", quoted(name)[1:-1], re.IGNORECASE):
            raise Wrong(f"quotes {quoted(name)!r}")
    # No folder can hold an entry with one of these names.
    given = [each for each in given if b"/" not in each and each not in (b".", b"..")]
    with tempfile.TemporaryDirectory() as name:
        _files(Path(name), [each for each in given if len(each) < 256])
    with tempfile.TemporaryDirectory() as name:
        _entries(Path(name), [each for each in given if len(each + ENTRY_ENDING) < 256])
    return True


def _files(folder: Path, given: list[bytes]) -> None:
    """A lab folder with such files is copied, whatever else is next to the evidence."""
    source, destination = folder / "submitted", folder / "graded"
    (source / "recordings").mkdir(parents=True)
    evidence = ("figures.json", "recordings/run.csv")
    for name in given:
        for place in (source, source / "recordings"):
            path = place / os.fsdecode(name)
            if not path.exists():
                path.write_bytes(b"x")
    for each in evidence:
        (source / each).write_bytes(b"evidence")
    notes = safe_files.copy(source, destination).left_out
    if not all((destination / each).read_bytes() == b"evidence" for each in evidence):
        raise Wrong("the evidence was not copied")
    _must_be_printable(notes)


def _entries(folder: Path, given: list[bytes]) -> None:
    """Collecting takes the honest entry and puts nothing elsewhere; later steps can read names."""
    exchange, course = folder / "exchange", folder / "course"
    inbound = exchange / LAB[:2] / "inbound"
    inbound.mkdir(parents=True)
    course.mkdir()
    database = sqlite3.connect(course / "gradebook.db")
    database.execute("CREATE TABLE alembic_version (version_num)")  # else nbgrader runs alembic
    database.close()
    honest = getpass.getuser()
    for entry in dict.fromkeys((honest.encode() + ENTRY_ENDING, *given)):
        for name in {entry, entry.split(b"+")[0] + ENTRY_ENDING}:
            path = inbound / os.fsdecode(name)
            path.mkdir(exist_ok=True)
            (path / "figures.json").write_bytes(b"{}")
    lines = _Lines()
    log = logging.Logger("collect", logging.INFO)  # of its own: the root logger prints
    log.addHandler(lines)
    place = CourseDirectory(
        root=str(course),
        course_id=LAB[:2],
        assignment_id=LAB,
        db_url=f"sqlite:///{course / 'gradebook.db'}",
    )
    with contextlib.suppress(ExchangeError):  # it tells at the end that an entry was refused
        CarefulCollect(coursedir=place, root=str(exchange), log=log).start()
    if not (course / "submitted" / honest / LAB / "figures.json").is_file():
        raise Wrong("the honest entry was not collected")
    found = {each.name for each in course.iterdir()} - {"submitted"}
    if {each for each in found if not each.startswith("gradebook.db")}:
        raise Wrong(f"collecting wrote {found}")
    _must_be_printable([each.name for each in (course / "submitted").iterdir()])
    _must_be_printable([line for text in lines.texts for line in text.splitlines()])


class _Lines(logging.Handler):
    """What a terminal shows."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line as it is printed."""
        self.texts.append(self.format(record))


def _must_be_printable(texts: list[str]) -> None:
    for text in texts:
        if not text.replace(WORD_JOINER, "").isprintable():
            raise Wrong(f"a terminal gets {text[:200]!r}")
        text.encode()
