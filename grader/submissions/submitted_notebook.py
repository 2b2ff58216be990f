"""Read the notebook that a student handed in, whatever it holds, and build the one to grade.

We trust nothing in it: it may not be JSON, it may have no cells, and the metadata of a cell may be
wrong. We read only plain text, ids and the pictures of answers; and outputs only where an answer is
missing.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import difflib
import hashlib
import io
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.notebooknode import from_dict
from PIL import Image

from grader.submissions.safe_files import cut, listed, not_empty, printable, read_regular
from labs.c_kernels.catalogue import sources_beside
from labs.course import figures
from labs.course.answers import which_count
from labs.course.figures import BadFigures, Figure
from labs.files import read_bounded
from labs.json_text import BadJson, parse_json, text_of
from labs.limits import (
    MOST_ANSWER,
    MOST_ANSWER_LINES,
    MOST_CELLS,
    MOST_NOTEBOOK_BYTES,
    MOST_PICTURE_BYTES,
    MOST_PICTURE_PIXELS,
    MOST_PICTURES,
)
from labs.terminal import say_json
from labs.units import plural

_CONTROL = {code: None for code in range(32) if chr(code) not in "\t\n"} | {127: None}


@dataclass(frozen=True)
class StudentCell:
    """One cell as the student left it. `grade_id` is None if its metadata are missing.

    `attachments` and `outputs` are whatever the notebook holds there: `kept_pictures` and
    `_printed` read them.
    """

    grade_id: str | None
    cell_id: str | None
    cell_type: str
    source: str
    points: object = None
    locked: object = None
    graded: bool = False
    attachments: object = None
    outputs: object = None


@dataclass(frozen=True)
class Submitted:
    """The cells. `trouble` says why none could be read; `notes` lists oddities without effect."""

    cells: tuple[StudentCell, ...] = ()
    trouble: str | None = None
    notes: tuple[str, ...] = ()


def read_submitted(path: Path) -> Submitted:
    """The cells of the notebook at `path`. Never raises; `trouble` says what is wrong and where."""
    if path.is_symlink():
        return Submitted(trouble="the notebook is a link; links are not followed")
    try:
        raw = read_regular(path, MOST_NOTEBOOK_BYTES)
    except FileNotFoundError:
        return Submitted(trouble="no notebook of this name was handed in")
    except OSError as error:
        return Submitted(trouble=f"the notebook cannot be opened: {error.strerror or error}")
    if len(raw) > MOST_NOTEBOOK_BYTES:
        most = f"{MOST_NOTEBOOK_BYTES // 1_000_000} MB"
        return Submitted(trouble=f"the notebook is larger than {most} and was not read")
    if not raw.strip():
        return Submitted(trouble="the notebook is an empty file")
    try:
        return _cells_of(parse_json(text_of(raw), lenient=True))
    except BadJson as error:
        return Submitted(trouble=f"the notebook {error}")


def clean(text: str) -> str:
    """`text` without control characters and lone surrogates, which files and pages cannot hold."""
    return text.replace("\r\n", "\n").translate(_CONTROL).encode("utf-8", "replace").decode("utf-8")


def _cells_of(document: Any) -> Submitted:
    """The cells of a parsed notebook of format 4, 3 or 2."""
    if not isinstance(document, dict):
        return Submitted(trouble="the file is valid JSON, but not a notebook: it is no object")
    notes: list[str] = []
    found = document.get("cells")
    sheets = document.get("worksheets")
    if not isinstance(found, list) and isinstance(sheets, list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        found = [cell for cells in lists if isinstance(cells, list) for cell in cells]
        notes.append("the notebook is in an old format (nbformat 3 or earlier)")
    if not isinstance(found, list):
        return Submitted(
            trouble="the file is valid JSON, but not a notebook: it has no list of cells"
        )
    if len(found) > MOST_CELLS:
        notes.append(f"the notebook has {len(found)} cells; the first {MOST_CELLS} were read")
    cells = [_cell_of(cell) for cell in found[:MOST_CELLS]]
    usable = tuple(cell for cell in cells if cell is not None)
    if len(usable) < len(cells):
        notes.append(f"{len(cells) - len(usable)} entries in the list of cells are not cells")
    return Submitted(cells=usable, notes=tuple(notes))


def _cell_of(cell: Any) -> StudentCell | None:
    """One cell, or None if it holds no text."""
    if not isinstance(cell, dict):
        return None
    # Format 3 calls the source of a code cell `input`.
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    marks = marks if isinstance(marks, dict) else {}
    grade_id, cell_id, cell_type = marks.get("grade_id"), cell.get("id"), cell.get("cell_type")
    return StudentCell(
        grade_id=grade_id if isinstance(grade_id, str) else None,
        cell_id=cell_id if isinstance(cell_id, str) else None,
        cell_type=cell_type if isinstance(cell_type, str) else "",
        source=clean(source),
        points=marks.get("points"),
        locked=marks.get("locked"),
        graded=marks.get("grade") is True,
        attachments=cell.get("attachments"),
        outputs=cell.get("outputs"),
    )


# A picture file may be a program for the software that shows it, or small and enormous once
# unpacked. So we keep only the pixels of a few pictures. Pillow reads the file as one of the
# formats in which browsers paste, and writes the pixels anew as PNG.

_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
#: Wider and higher than a page shows. A picture with more is made smaller.
_LONGEST_SIDE = 1_200

#: As in a notebook: for each name, the contents in base64 by media type.
Attachments = dict[str, dict[str, str]]


def kept_pictures(attachments: object, room: int = MOST_PICTURES) -> tuple[Attachments, list[str]]:
    """The pictures of a cell's `attachments`, each as PNG, and a reason for each that was left out.

    At most `room` of them are read. `attachments` may be anything at all. Never raises.
    """
    if not isinstance(attachments, Mapping):
        return {}, []
    kept: Attachments = {}
    reasons = []
    for number, (name, content) in enumerate(attachments.items()):
        if not isinstance(name, str) or number >= room:
            reasons.append(f"more than {MOST_PICTURES} pictures in one answer")
            break
        try:
            kept[name] = {"image/png": _as_png(content)}
        except ValueError as error:
            reasons.append(f"a picture was left out: {error}")
    return kept, reasons


def _as_png(content: object) -> str:
    """The base64 of a PNG of this picture. Raises ValueError with the reason if there is none."""
    by_type = content if isinstance(content, Mapping) else {}
    known = [kind for kind in _FORMATS if isinstance(by_type.get(kind), str)]
    if not known:
        raise ValueError("it is neither PNG, JPEG, GIF nor WebP")
    text = by_type[known[0]]
    if len(text) > MOST_PICTURE_BYTES * 4 // 3 + 4:
        raise ValueError(f"it is larger than {MOST_PICTURE_BYTES // 1_000_000} MB")
    made = io.BytesIO()
    # Pillow's decoders raise exceptions of many kinds.
    try:
        file = io.BytesIO(base64.b64decode(text))
        with Image.open(file, formats=[_FORMATS[known[0]]]) as picture:
            pixels = _pixels(picture)
        # Only the pixels: no text, no colour profile, no other part of the file.
        Image.frombytes(pixels.mode, pixels.size, pixels.tobytes()).save(made, format="PNG")
    except _TooLargeError:
        raise
    except Exception as error:
        raise ValueError("its file is damaged") from error
    return base64.b64encode(made.getvalue()).decode("ascii")


class _TooLargeError(ValueError):
    """The picture has too many pixels."""


def _pixels(picture: Image.Image) -> Image.Image:
    """The picture without transparency by palette, and not larger than a page shows it."""
    width, height = picture.size
    # Only the header was read until here; the next step unpacks the pixels.
    if width * height > MOST_PICTURE_PIXELS:
        raise _TooLargeError(f"it has {width} times {height} pixels")
    pixels = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    pixels.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return pixels


# A submitted notebook can be damaged in many ways: cells are deleted, duplicated or unlocked,
# points are changed, metadata are missing, the JSON is truncated. So we repair nothing. We take the
# released notebook and move the text of the answer cells into it by id. We leave everything else
# out, and list it for the instructor in the log and in the first cell of the notebook to grade.

NOTE_CELL_ID = "set-aside"
_MOST_NOTES = 20
# An invisible character that is no letter. If it follows "<", a browser shows text and not a tag.
_WORD_JOINER = "\u2060"
# The beginnings of a tag and of a character reference (which may spell a scheme), and the schemes
# of links that run something. Markdown would drop a backslash before the colon.
_HARMFUL = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file)(?=[\s\\]*:)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to grade, and one note for each part of the student's that was left out."""

    notebook: NotebookNode
    set_aside: tuple[str, ...]


def rebuild(
    released: NotebookNode,
    submitted: Submitted,
    notes: Sequence[str] = (),
    earlier: Sequence[NotebookNode] = (),
) -> Rebuilt:
    """The released notebook with the student's answers in it.

    `released` is not changed. `notes` are earlier notes (files left out, a notebook found under
    another name). `earlier` are the notebooks of earlier releases, on which the student may have
    worked. No content of `submitted` makes this function raise.
    """
    notebook = _copy(released)
    remarks = [*notes, *submitted.notes]
    submitted, not_asked = _on_newest(released, earlier, submitted, remarks)
    if submitted.trouble:
        remarks.append(submitted.trouble)
    own = {str(marks["grade_id"]): cell for cell in notebook.cells if (marks := _marks(cell))}
    homes = _homes(released.cells, submitted.cells)
    by_id = _by_id(notebook, submitted, homes, remarks)
    elsewhere = written_elsewhere(released, submitted)
    for grade_id, cell in own.items():
        found = by_id.pop(grade_id, [])
        if grade_id in not_asked and not found:
            _leave_open(cell)
        elif _marks(cell).get("solution"):
            _move_in(cell, found, elsewhere.get(grade_id, []), submitted.trouble, remarks)
        elif found:
            _note_locked(cell, found, remarks)
    for grade_id, cells in by_id.items():
        kind = "graded cell" if any(cell.graded for cell in cells) else "cell"
        remarks.append(f"added {kind} {quoted(grade_id)}: not part of the released notebook")
    shown = {id(one.cell) for found in elsewhere.values() for one in found}
    _note_rest(notebook, submitted, homes, shown, not_asked, remarks)
    set_aside = _bounded(remarks)
    notebook.metadata["ticklab"] = {"set_aside": list(set_aside)}
    if set_aside:
        notebook.cells.insert(0, _note(set_aside, notebook))
    return Rebuilt(notebook, set_aside)


# A lab may be released again after students began. A submission that was made on an earlier release
# is graded by the newest one: what that release changed is not the student's change, and what it
# added, the student was not asked.

_NOT_ASKED = "this was not in the release on which the student worked"


def _on_newest(
    released: NotebookNode,
    earlier: Sequence[NotebookNode],
    submitted: Submitted,
    remarks: list[str],
) -> tuple[Submitted, set[str]]:
    """The submission as if made on `released`, and the graded cells that it was not asked."""
    base = max((released, *earlier), key=lambda one: _fit(one, submitted))
    if base is released or submitted.trouble:
        return submitted, set()
    remarks.append("made on an earlier release of this lab, and matched with the newest by the ids")
    now = {str(marks["grade_id"]): cell for cell in released.cells if (marks := _marks(cell))}
    ids = {cell["id"]: cell for cell in released.cells if "id" in cell}
    cells = []
    for one, home in zip(submitted.cells, _homes(base.cells, submitted.cells), strict=True):
        if home is not None:
            was = base.cells[home]
            marks = _marks(was)
            new = now.get(str(marks["grade_id"])) if marks else ids.get(was.get("id"))
            if new is None and marks.get("solution") and one.source.strip() != was.source.strip():
                gone = quoted(str(marks["grade_id"]))
                remarks.append(f"answer cell {gone}: not in the newest release; see the submission")
            if new is None:
                continue
            if one.source.strip() == was.source.strip():
                one = replace(one, source=new.source)
            if one.points == marks.get("points"):
                one = replace(one, points=_marks(new).get("points"))
        cells.append(one)
    asked = {_marks(cell).get("grade_id") for cell in base.cells}
    not_asked = {name for name, cell in now.items() if _marks(cell).get("grade")} - asked
    return replace(submitted, cells=tuple(cells)), not_asked


def _fit(released: NotebookNode, submitted: Submitted) -> int:
    """How well a submission fits a release: cells that are there, less those that are not."""
    texts = {one.source.strip() for one in submitted.cells}
    names = {one.grade_id for one in submitted.cells}
    found = 0
    for cell in released.cells:
        there = [] if _marks(cell).get("solution") else [cell.source.strip() in texts]
        there += [_marks(cell)["grade_id"] in names] if _marks(cell) else []
        found += sum(1 if each else -1 for each in there)
    return found


def _leave_open(cell: NotebookNode) -> None:
    """Marks a graded cell for a person, because the student was not asked it."""
    if _marks(cell).get("solution"):
        _say_unreadable(cell, _NOT_ASKED)
    else:
        cell.metadata["ticklab"] = {"not_asked": _NOT_ASKED}


def neutral(text: str) -> str:
    """`text` as Markdown that looks the same but contains no HTML tags and no links that run code.

    The formgrader shows Markdown in the browser of an instructor who is signed in.
    :mod:`grader.with_nbgrader.pages.student_text` also cleans it there, but only if the server has
    read our settings.
    """
    return _HARMFUL.sub(lambda found: found[0] + _WORD_JOINER, text)


def quoted(name: str) -> str:
    """A name chosen by a student, as code in a note; it cannot end the code or begin a tag."""
    return "`" + neutral(printable(name).replace("`", "'")) + "`"


def known_answers(released: NotebookNode, submitted: Submitted) -> int:
    """How many of the released notebook's answer cells the submitted one has, matched by id."""
    wanted = {
        marks["grade_id"]
        for cell in released.cells
        if (marks := _marks(cell)) and marks.get("solution")
    }
    return len(wanted & {cell.grade_id for cell in submitted.cells})


def _copy(released: NotebookNode) -> NotebookNode:
    """A copy without outputs. nbgrader's marks of its cells are shared: nobody changes them."""
    notebook = NotebookNode(released)  # type: ignore[no-untyped-call]
    notebook["metadata"] = deepcopy(released.metadata)
    notebook["cells"] = [NotebookNode(cell) for cell in released.cells]  # type: ignore
    for cell in notebook.cells:
        cell["metadata"] = NotebookNode(cell.metadata)  # type: ignore[no-untyped-call]
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def _marks(cell: NotebookNode) -> dict[str, object]:
    """nbgrader's metadata of a released cell; empty if the cell has none."""
    marks = cell.metadata.get("nbgrader") or {}
    return dict(marks) if marks.get("grade_id") else {}


# Students also write an answer below its prompt, into a cell of their own, or split it in two; and
# other editors than JupyterLab may drop the ids of cells. So we look where each cell of the student
# belongs among the released ones. `labs hand-in` warns by the same functions.

#: Words in a row, or as many letters of a script that has no blanks.
_WORDS = re.compile(r"[^\W\d_]{2,}(?:[ ,]+[^\W\d_]{2,}){2}|[^\x00-\x7f]{6}")
#: No more of a program or an output is looked at: a short text is read in bounded time and depth.
_MOST_PROGRAM = 8_000
#: So many lines of a cell may be an older wording of the lab's.
_MOST_REWORDED = 20


@dataclass(frozen=True)
class Elsewhere:
    """What a student wrote to an answer outside of its cell: in which cell, the text, and where."""

    cell: StudentCell
    text: str
    where: str


def written_elsewhere(released: NotebookNode, submitted: Submitted) -> dict[str, list[Elsewhere]]:
    """For each graded answer, by its name, what the student wrote to it outside of its cell.

    That is a second copy of the cell; a cell that the student added next to it, or in its place;
    and what was added to a released cell next to it. Text that is next to no answer, or to one in
    code, belongs also to the nearest one that has no answer of its own: of texts, if there are any.
    So does what a program in an added cell printed.
    """
    cells = released.cells
    answers = {n: cell for n, cell in enumerate(cells) if _is_graded_answer(cell)}
    homes = _homes(cells, submitted.cells)
    texts = {cell.source.strip() for cell in cells} | {""}
    found: dict[int, list[Elsewhere]] = {n: [] for n in answers}
    written: dict[int, set[str]] = {n: set() for n in answers}
    far: list[tuple[int, Elsewhere]] = []
    after, there = _next_homes(homes, len(cells)), set(homes)
    before = -1
    for one, home, behind in zip(submitted.cells, homes, after, strict=True):
        text = one.source.strip()
        if home is None:
            place, where = _nearest(answers, there, before, behind), _ADDED
            text = "" if text in texts else text
            if text and not _is_prose(one, text):
                place, text, where = None, _printed(one.outputs), _PRINTED
        else:
            before = home
            if home in answers:
                if text not in texts | written[home]:
                    if written[home]:
                        found[home].append(Elsewhere(one, text, _COPY))
                    written[home].add(text)
                continue
            place = next((n for n in (home + 1, home - 1) if n in answers), None)
            if _marks(cells[home]).get("solution"):  # of another answer, which stays where it is
                if cells[home].cell_type != "code" or not _is_prose(one, text, in_strings=False):
                    continue
                place = None
            text, where = _added_lines(text, cells[home].source), _IN_RELEASED
        if not text or not (where is _PRINTED or _is_prose(one, text)):
            continue
        each = Elsewhere(one, text, where)
        if place is not None:
            found[place].append(each)
        if place is None or cells[place].cell_type == "code":
            far.append((max(before, 0), each))
    empty = [n for n in answers if not written[n]]
    empty = [n for n in empty if cells[n].cell_type != "code"] or empty
    for number, each in far if empty else ():
        nearest = min(empty, key=lambda n: abs(n - number))
        if each not in found[nearest]:
            found[nearest].append(each)
    return {str(_marks(answers[n])["grade_id"]): each for n, each in found.items() if each}


_COPY = "in a second copy of its cell"
_ADDED = "in a cell that the student added"
_IN_RELEASED = "in another cell of the lab"
_PRINTED = "in the output of a cell that the student added"


def _is_prose(cell: StudentCell, text: str, *, in_strings: bool = True) -> bool:
    """Whether a cell holds text: one of code does if it is no Python, or has words `in_strings`."""
    if cell.cell_type != "code":
        return True
    if len(text) > _MOST_PROGRAM or text.startswith(("%", "!")) or not _WORDS.search(text):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    words = (
        _WORDS.search(node.value)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return not body or (in_strings and any(words))


def _printed(outputs: object) -> str:
    """What a cell has printed or shown, if there are words in it; else ""."""
    texts = []
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        shown = data if isinstance(data, dict) else {}
        text = output.get("text") if isinstance(output, dict) else None
        text = text or shown.get("text/markdown") or shown.get("text/plain")
        lines = text if isinstance(text, list) else [text]
        texts += [line for line in lines if isinstance(line, str)]
    text = clean("".join(texts)).strip()
    return text if _WORDS.search(text[:_MOST_PROGRAM]) else ""


def _is_graded_answer(cell: NotebookNode) -> bool:
    marks = _marks(cell)
    return bool(marks.get("solution") and marks.get("grade"))


def _homes(cells: Sequence[NotebookNode], theirs: Sequence[StudentCell]) -> list[int | None]:
    """The number of the released cell that each of the student's is; None if it is none of them.

    By nbgrader's id; without one, by the cell's id, or by its text if no other cell has the same.
    """
    by_mark = {_marks(cell).get("grade_id"): n for n, cell in enumerate(cells) if _marks(cell)}
    homes = [by_mark.get(one.grade_id) if one.grade_id else None for one in theirs]
    for ours, own in (
        ([cell.get("id") for cell in cells], [one.cell_id for one in theirs]),
        ([cell.source.strip() for cell in cells], [one.source.strip() for one in theirs]),
    ):
        taken = set(homes)
        times = Counter(ours)
        free = {key: n for n, key in enumerate(ours) if n not in taken and times[key] == 1}
        for n, key in enumerate(own):
            if homes[n] is None and theirs[n].grade_id is None and key in free and key:
                homes[n] = free.pop(key)
    return homes


def _next_homes(homes: Sequence[int | None], end: int) -> list[int]:
    """For each cell of the student, the released cell that is the next one behind it."""
    following, found = end, []
    for home in reversed(homes):
        found.append(following)
        following = following if home is None else home
    return found[::-1]


def _nearest(
    answers: Mapping[int, object], there: set[int | None], before: int, behind: int
) -> int | None:
    """The answer to which a cell between two released ones belongs; None if it is next to none.

    An answer that is missing between the two comes first: the cell is in its place.
    """
    missing = (n for n in answers if before < n < behind and n not in there)
    return next(missing, next((n for n in (before, behind) if n in answers), None))


def _added_lines(text: str, released: str) -> str:
    """The lines of a cell that its released text does not have, in another wording either.

    A teacher may correct a sentence of the lab while students work in older copies: the older
    wording is nothing that they wrote.
    """
    lines, ours = text.splitlines(), [line.strip() for line in released.splitlines()]
    reworded = set(ours) - {line.strip() for line in lines}
    added = [line for line in lines if line.strip() not in ours]
    for line in added[:_MOST_REWORDED]:
        if difflib.get_close_matches(line.strip()[:_MOST_PROGRAM], reworded, n=1):
            added.remove(line)
    return "\n".join(added).strip()


def advice(released: NotebookNode, submitted: Submitted) -> list[str]:
    """What a student should change so that each graded answer is found where it is asked."""
    there = set(_homes(released.cells, submitted.cells))
    elsewhere = written_elsewhere(released, submitted)
    said = []
    for n, cell in enumerate(released.cells):
        if submitted.trouble or not _is_graded_answer(cell):
            continue
        name = str(_marks(cell)["grade_id"])
        to = f"move it into the cell {name}"
        if n not in there:
            to = "copy your answer into the same cell of a new copy of the lab (`labs start DIR`)"
            said.append(f"the cell {name}, for your answer, is not in the notebook: {to}")
        for one in elsewhere.get(name, ()):
            begin = printable(" ".join(one.text.split()), 40)
            where = one.where.replace("the student", "you")
            what = f'the answer {name}: text that begins "{begin}" is {where}'
            said.append(f"{what}; {to}, save the notebook, and hand in again")
    return said


def main() -> None:
    """Prints the advice on a notebook as a JSON list: `labs hand-in` calls this.

    The arguments are the released notebook and the student's.
    """
    released, submitted = map(Path, sys.argv[1:3])
    text = text_of(read_bounded(released, MOST_NOTEBOOK_BYTES))
    notebook: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    say_json(advice(notebook, read_submitted(submitted)))


def _by_id(
    notebook: NotebookNode,
    submitted: Submitted,
    homes: Sequence[int | None],
    remarks: list[str],
) -> dict[str, list[StudentCell]]:
    """The student's cells by grade id; those without metadata by the released cell they are."""
    cells: dict[str, list[StudentCell]] = defaultdict(list)
    recovered = 0
    for one, home in zip(submitted.cells, homes, strict=True):
        name = one.grade_id
        if name is None and home is not None and (marks := _marks(notebook.cells[home])):
            name = str(marks["grade_id"])
            recovered += 1
        if name is not None:
            cells[name].append(one)
    if recovered:
        remarks.append(f"recognised without nbgrader's metadata: {plural(recovered, 'cell')}")
    return cells


def _move_in(
    cell: NotebookNode,
    found: list[StudentCell],
    elsewhere: list[Elsewhere],
    trouble: str | None,
    remarks: list[str],
) -> None:
    """Puts the student's text into one answer cell, or a text that says why there is none.

    An unreadable answer is not an unanswered question. The text that replaces it differs from the
    stub, so that nbgrader asks for a person and does not give zero. So does what the student wrote
    `elsewhere`, which comes below the answer.
    """
    grade_id, room = str(_marks(cell)["grade_id"]), MOST_PICTURES
    # Of duplicates we take the first that was changed: a student may copy a cell, then answer it.
    answers = _changed(cell, found)
    answers = [one for one in answers if one.source.strip()] or answers
    chosen = answers[0] if answers else found[0] if found else None
    if chosen is None:
        reason = trouble or "the cell is not in the submitted notebook"
        if not trouble:
            remarks.append(f"answer cell {quoted(grade_id)}: deleted, or its id is gone")
        _say_unreadable(cell, reason)
    else:
        if len(found) > 1:
            what = "each is shown" if elsewhere else "one was taken"
            remarks.append(f"answer cell {quoted(grade_id)}: appears {len(found)} times, {what}")
        if chosen.cell_type != cell.cell_type:
            turned = quoted(chosen.cell_type)
            remarks.append(f"answer cell {quoted(grade_id)}: turned into {turned}")
        if (too_long := _too_long(chosen.source)) is not None:
            remarks.append(f"answer cell {quoted(grade_id)}: {too_long}")
            _say_unreadable(cell, f"it is {too_long}")
        elif answers and cell.cell_type == "markdown":
            _write_below(cell, "", chosen, chosen.source, room, remarks)
            room -= min(room, _pictures_in(chosen))
        elif answers:
            cell.source = chosen.source
    for one in elsewhere:
        if not _write_below(cell, one.where, one.cell, one.text, room, remarks):
            break
        room -= min(room, _pictures_in(one.cell))


def _pictures_in(cell: StudentCell) -> int:
    """How many files are pasted into a cell."""
    return len(cell.attachments) if isinstance(cell.attachments, Mapping) else 0


def _write_below(
    cell: NotebookNode, where: str, one: StudentCell, text: str, room: int, remarks: list[str]
) -> bool:
    """Puts `text` of the student's cell `one`, found `where`, below an answer, if there is room.

    The cell's pictures come too, at most `room` of them.
    """
    name = f"answer cell {quoted(str(_marks(cell)['grade_id']))}"
    before, below = "", text
    if where:
        remarks.append(f"{name}: text {where} is shown below it")
        before, heading = f"{cell.source}\n\n", f"{where.capitalize()}:"
        if cell.cell_type == "code":
            mark = "//" if cell.source.startswith("%%ckernel") else "#"
            below = "\n".join(f"{mark} {line}" for line in [heading, *text.splitlines()])
        else:
            indent = "    " if one.cell_type == "code" else ""
            text = "\n".join(indent + line for line in text.splitlines())
            below = f"---\n\n**{heading}**\n\n{text}"
    too_long = _too_long(before + below)
    if too_long is not None:
        remarks.append(f"{name}: with this, it is {too_long}; see the submission")
        below = "(This text is too long to be shown here. It is in the submitted notebook.)"
    if cell.cell_type == "markdown":
        kept = dict(cell.get("attachments", {}))
        pictures, reasons = kept_pictures(one.attachments, room)
        for picture, content in pictures.items():
            free = f"{len(kept)}-{picture}" if picture in kept else picture
            below = below.replace(f"attachment:{picture}", f"attachment:{free}")
            kept[free] = content
        if kept:
            cell["attachments"] = kept
        remarks += [f"{name}: {reason}" for reason in reasons]
        below = neutral(below)
    cell.source = before + below
    return too_long is None


def _changed(cell: NotebookNode, found: list[StudentCell]) -> list[StudentCell]:
    """Those of the student's cells that are not as released."""
    return [one for one in found if one.source.strip() != cell.source.strip()]


def _too_long(answer: str) -> str | None:
    """How an answer is too long to be shown; None if it is not. Each heading takes milliseconds."""
    if len(answer) > MOST_ANSWER:
        return f"longer than {MOST_ANSWER} characters"
    if len(answer.splitlines()) > MOST_ANSWER_LINES:
        return f"longer than {MOST_ANSWER_LINES} lines"
    return None


def _say_unreadable(cell: NotebookNode, reason: str) -> None:
    """Marks an answer for grading by hand; an answer cell without points keeps its stub."""
    if not _marks(cell).get("grade"):
        return
    opening = ""
    if cell.cell_type == "code":
        opening = "%%ckernel\n// " if cell.source.startswith("%%ckernel") else "# "
    text = f"No readable answer: {neutral(reason)}. Please grade this answer by hand."
    cell.source = opening + text


def _note_locked(cell: NotebookNode, found: list[StudentCell], remarks: list[str]) -> None:
    """Adds remarks on how the student changed a locked cell; the released cell stays."""
    marks = _marks(cell)
    name = quoted(str(marks["grade_id"]))
    if len(found) > 1:
        remarks.append(f"locked cell {name}: appears {len(found)} times")
    for one in found:
        if one.source.strip() != cell.source.strip():
            remarks.append(f"locked cell {name}: its text was changed")
        if one.points is not None and one.points != marks.get("points"):
            remarks.append(f"locked cell {name}: its points were changed")
        if one.locked is False:
            remarks.append(f"locked cell {name}: it was unlocked")


def _note_rest(
    notebook: NotebookNode,
    submitted: Submitted,
    homes: Sequence[int | None],
    shown: set[int],
    not_asked: set[str],
    remarks: list[str],
) -> None:
    """Adds remarks on the student's own cells that are not `shown`, and on cells that are gone."""
    if submitted.trouble:
        return
    there = set(homes)
    for n, cell in enumerate(notebook.cells):
        marks = _marks(cell)
        if not marks or marks["grade_id"] in not_asked:
            continue
        if not marks.get("solution") and n not in there:
            remarks.append(f"locked cell {quoted(str(marks['grade_id']))}: deleted")
    texts = {cell.source.strip() for cell in notebook.cells} | {""}
    extra = sum(
        home is None
        and one.grade_id is None
        and id(one) not in shown
        and one.source.strip() not in texts
        for one, home in zip(submitted.cells, homes, strict=True)
    )
    if extra:
        added = plural(extra, "cell")
        remarks.append(f"{added} that the student added; see the submitted notebook")


def _bounded(remarks: list[str]) -> tuple[str, ...]:
    """Each remark once, and no more of them than fit on a screen."""
    notes = list(dict.fromkeys(remarks))
    return tuple(cut(notes, _MOST_NOTES))


def _note(set_aside: tuple[str, ...], notebook: NotebookNode) -> NotebookNode:
    """The cell that lists for a person what was left out of this notebook."""
    lines = "\n".join(f"- {neutral(note)}" for note in set_aside)
    text = (
        "**Left out when this notebook was rebuilt for grading**\n\n"
        f"{lines}\n\n"
        "Below is the released notebook with the answers that could be read. The grader judges "
        "figures from `figures.json` and the recordings, whatever happened to the notebook."
    )
    cell: dict[str, object] = {
        "cell_type": "markdown",
        "metadata": {"editable": False, "deletable": False},
        "source": text,
    }
    if notebook.nbformat_minor >= 5:  # older notebooks have no ids of cells
        cell["id"] = NOTE_CELL_ID
    return as_node(cell)


def as_node(content: dict[str, Any]) -> NotebookNode:
    """A part of a notebook, as nbformat has it."""
    node: NotebookNode = from_dict(content)  # type: ignore[no-untyped-call]
    return node


@dataclass(frozen=True)
class Found:
    """The notebook that is read, with notes on it, and what a person must say of it, or "".

    `answers` are its texts by grade id, without those that are as they were released. `not_read`
    are the notebooks that have other answers.
    """

    submitted: Submitted
    notes: tuple[str, ...] = ()
    question: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    not_read: tuple[Path, ...] = ()


def find_submitted(path: Path, released: nbformat.NotebookNode, names: set[str]) -> Found:
    """The submitted notebook with the answers, whatever its name. Never raises.

    `names` are the released notebooks of the lab. Students rename a notebook, copy it and go on in
    the copy, or fetch it anew. So all notebooks that lie at `path` and next to it are read. The one
    with answers counts. If two have different answers, a person must say which one counts.
    """
    others = [each for each in sorted(path.parent.glob("*.ipynb")) if each.stem not in names]
    others.sort(key=lambda each: not each.stem.startswith(path.stem))
    there = [path] if path.exists() or path.is_symlink() else []
    read = {each: read_submitted(each) for each in [*there, *others[:_MOST_NOTEBOOKS]]}
    answered = {each: _answers(released, one) for each, one in read.items()}
    best = which_count(answered)
    if not best:  # nobody has answered anything
        known = {each: known_answers(released, one) for each, one in read.items()}
        best = [path] if path in read else [each for each in read if known[each]]
        best = sorted(best, key=lambda each: -known[each])[:1]
    if not best:
        troubles = {each.name: one.trouble or "no cell of this lab" for each, one in read.items()}
        unread = tuple(f"{quoted(name)}: {why}" for name, why in troubles.items())
        return Found(read_submitted(path), unread)
    chosen, notes, question = best[0], [], ""
    if chosen != path:
        notes.append(f"the notebook was found under the name {quoted(chosen.name)}")
        if path in read:
            why = read[path].trouble or "it has no other answers"
            notes.append(f"{quoted(path.name)} was not read: {why}")
    if len(best) > 1:
        two = " and ".join(quoted(each.name) for each in best)
        question = (
            f"{two} have different answers; those of {quoted(chosen.name)} are graded. Ask the "
            "student which one counts. If it is another one, put it in the place of "
            f"{quoted(path.name)} in the student's folder in `submitted`, move the others away, "
            "and grade again with `--force`"
        )
        notes.append(question)
    return Found(read[chosen], tuple(notes), question, answered[chosen], tuple(best[1:]))


def digest_of(notebook: Path) -> str:
    """The SHA-256 of a notebook as far as it is read; "" if it cannot be opened."""
    try:
        return hashlib.sha256(read_regular(notebook, MOST_NOTEBOOK_BYTES)).hexdigest()
    except OSError:
        return ""


#: So many notebooks under other names are read.
_MOST_NOTEBOOKS = 10


def _answers(released: NotebookNode, submitted: Submitted) -> dict[str, str]:
    """The answers in a submitted notebook by grade id, without those as released or empty.

    What a student wrote outside of the cell of an answer belongs to it.
    """
    by_id = _by_id(released, submitted, _homes(released.cells, submitted.cells), [])
    elsewhere = written_elsewhere(released, submitted)
    answers = {}
    for cell in released.cells:
        marks = _marks(cell)
        if marks.get("solution"):
            grade_id = str(marks["grade_id"])
            texts = [one.source.strip() for one in _changed(cell, by_id.get(grade_id, []))[:1]]
            texts += [one.text for one in elsewhere.get(grade_id, ())]
            if text := "\n".join(filter(None, texts)):
                answers[grade_id] = text
    return answers


# What a submission has that can be graded. A student who hands in again may leave something behind:
# the notebook alone after a whole archive has no figure.

#: `figures` whose recording is there, with its path, and all that are `stated`; `files`, the
#: evidence that is there; whether there is a `notebook`; `answers`, each with its SHA-256, and so
#: the notebooks with other answers, which are `not_read`.
Holds = dict[str, Any]


def holds_of(
    folder: Path, released: Mapping[str, NotebookNode], trusted: Path | None = None
) -> tuple[Holds, list[str]]:
    """What the submission in `folder` has, and what a person must say of its notebooks.

    `released` has the lab's notebooks by name. Nothing of the folder makes this function raise.
    """
    try:
        stated = figures.read(folder)
    except BadFigures:
        stated = {}
    named = {name: each.recording for name, each in stated.items() if isinstance(each, Figure)}
    evidence = [path for each in stated.values() for path in figures.evidence_of(each)]
    files = not_empty(folder, list(dict.fromkeys(evidence)), trusted)
    found: list[Found] = []
    with contextlib.suppress(OSError):  # a closed folder
        for name, notebook in released.items():
            found.append(find_submitted(folder / f"{name}.ipynb", notebook, set(released)))
    answered = {name: text for each in found for name, text in each.answers.items()}
    has = {
        "figures": {name: path for name, path in named.items() if path is None or path in files},
        "stated": list(named),
        "files": files,
        "notebook": any(folder.glob("*.ipynb")),
        "answers": {
            name: hashlib.sha256(text.encode()).hexdigest() for name, text in answered.items()
        },
        "not_read": {path.name: digest_of(path) for each in found for path in each.not_read},
    }
    return has, [each.question for each in found if each.question]


def lacking(earlier: Holds, later: Holds) -> str:
    """What a submission has not that an earlier one had, as a part of a sentence; or "".

    A figure may have another recording than before.
    """
    lost = {n: path for n, path in earlier["figures"].items() if n not in later["figures"]}
    evidence = {path for path in lost.values() if path} - set(later["files"])
    # Another recording of a figure need not have C.
    named = evidence | {path for path in later["figures"].values() if path}
    code = {str(c) for path in named for c in sources_beside(Path(path))} & set(earlier["files"])
    kinds = {
        "figure": [name for name in lost if name not in later["stated"]],
        "file": sorted(evidence | code - set(later["files"])),
        "answer": [name for name in earlier["answers"] if name not in later["answers"]],
    }
    words = [
        f"the {kind}{'s' if len(names) > 1 else ''} {listed(names, _MOST_NAMES, quoted)}"
        for kind, names in kinds.items()
        if names
    ]
    if earlier["notebook"] and not later["notebook"]:
        words = [*words, "the notebook"]
    return "; ".join(words)


_MOST_NAMES = 4


if __name__ == "__main__":
    main()
