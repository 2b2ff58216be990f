"""What a student wrote to the questions of a lab, in `answers.json`, and in the report's cell.

    {"wrong": [{"text": "The clock was read twice ...", "when": "2026-03-01T09:30:00+00:00"}]}

The file keeps every version, the newest last. Nobody grades an answer.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from labs import limits, paths
from labs.course import lab_names
from labs.files import read_bounded, time_now, write_atomically
from labs.json_text import BadJson, Form, TextOrNone, Unreadable, problems, read_entries

Version = TypeVar("Version")


class BadVersions(ValueError):
    """The file cannot be read; the message says what is wrong and what to do."""


def read_versions(path: Path) -> dict[str, Any]:
    """The entries of the file as they are, by name; empty if there is none. Raises BadVersions."""
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        return read_entries(path, limits.MOST_FIGURES)
    except BadJson as error:
        raise BadVersions(
            f"{path.name} {error}; correct it, or move it out of the folder"
        ) from error
    except OSError as error:
        raise BadVersions(error.strerror or str(error)) from error


def versions_in(
    path: Path, read: Callable[[object], Version | None]
) -> dict[str, tuple[Version, ...]]:
    """What `read` makes of each version in the file, by name; without those of which it is None.

    Raises BadVersions.
    """
    known = {
        name: tuple(version for entry in entries if (version := read(entry)) is not None)
        for name, entries in read_versions(path).items()
        if isinstance(entries, list)
    }
    return {name: versions for name, versions in known.items() if versions}


def add_version(path: Path, name: str, version: dict[str, Any]) -> None:
    """Add a version under `name`. Raises BadVersions, and files.CannotWrite."""
    stated = read_versions(path)
    earlier = stated.get(name)
    stated[name] = [*(earlier if isinstance(earlier, list) else []), version]
    write_versions(path, stated)


def write_versions(path: Path, stated: dict[str, Any]) -> None:
    """Write all entries; if they are too many for the file, old versions are left out, but never
    the first and the newest one.

    Raises BadVersions if an entry is unreadable, because it would be lost, or if these two alone
    are too much. Raises files.CannotWrite. The file is then unchanged.
    """
    for name, entry in stated.items():
        if isinstance(entry, Unreadable):
            raise BadVersions(f"{path.name}, entry {name[:64]}: {entry.what}")
    kept = {
        name: [*entry[:1], *entry[1:][1 - limits.MOST_VERSIONS :]]
        if isinstance(entry, list)
        else entry
        for name, entry in stated.items()
    }
    form = json.JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False)
    while len(content := f"{form.encode(kept)}\n".encode()) > limits.MOST_JSON_BYTES:
        longest = max(kept, key=lambda name: len(kept[name]) if isinstance(kept[name], list) else 0)
        if not isinstance(kept[longest], list) or len(kept[longest]) < 3:
            raise BadVersions(
                f"{path.name} would be longer than {limits.MOST_JSON_BYTES:,} bytes, and no more "
                "is read; write less"
            )
        kept[longest] = [kept[longest][0], *kept[longest][2:]]
    write_atomically(path, content)


FILE_NAME = "answers.json"

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

#: `answers.json` cannot be read; the message says what is wrong and what to do.
BadAnswers = BadVersions


@dataclass(frozen=True)
class Answer:
    """What a student wrote, and when."""

    text: str
    when: str = ""


class _Given(Form):
    """The form of an answer that a student writes."""

    text: str = Field(
        min_length=1,
        max_length=limits.MOST_OWN_WORDS,
        description=f"a text of at most {limits.MOST_OWN_WORDS:,} characters",
    )


class _Stored(_Given):
    """The same in the file."""

    when: TextOrNone = None


def is_blank(text: object) -> bool:
    """Whether nothing was written yet: no letter and no digit, or the `...` of a released lab."""
    return text is None or text is Ellipsis or (isinstance(text, str) and not _has_word(text))


def read(folder: Path) -> dict[str, tuple[Answer, ...]]:
    """All versions of each answer in `folder`, the oldest first; empty if there are none.

    Leaves out entries that are not answers. Raises BadAnswers if the file is unusable.
    """
    return versions_in(Path(folder) / FILE_NAME, _answer)


def put(folder: Path, name: str, text: str) -> tuple[Answer, ...]:
    """Add an answer under `name`, with the time, and return all its versions, the newest last.

    If it says the same as the newest one, nothing is added: a cell may run again. Raises ValueError
    if the answer has a wrong form, and files.CannotWrite. Raises BadAnswers if the existing file,
    or an entry in it, cannot be read: then it stays unchanged.
    """
    if _ID.fullmatch(name) is None:
        raise ValueError(f"{name!r} is not the name of an answer (small letters, digits, hyphens)")
    try:
        given = _Given.model_validate({"text": _tidy(text) if isinstance(text, str) else text})
    except ValidationError as error:
        raise ValueError(problems(error, _Given)) from error
    earlier = read(folder).get(name, ())
    if earlier and earlier[-1].text == given.text:
        return earlier
    now = time_now()
    add_version(Path(folder) / FILE_NAME, name, asdict(Answer(given.text, now)))
    return read(folder)[name]


def _tidy(text: str) -> str:
    """The text without the indentation that it has in a cell, and without blanks around it."""
    return inspect.cleandoc(text.replace("\r\n", "\n")).strip()


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _answer(stated: object) -> Answer | None:
    entry = _Stored.or_none(stated)
    if entry is None or not _has_word(entry.text):
        return None
    return Answer(entry.text, entry.when or "")


# The report in a student's notebook: the cells of text that the lab leaves to be written.

#: What stands in a released cell that is to be written.
_STUB = "Write your answer here."
#: So many notebooks of one folder are read.
_MOST_NOTEBOOKS = 10


def texts(notebook: bytes, *, code: bool = False) -> dict[str, str]:
    """The text of each such cell, by its id; empty for what is no notebook.

    With `code`, also those cells of code that the lab leaves to be written.
    """
    try:
        cells = json.loads(notebook)["cells"]
        return {
            str(cell["metadata"]["nbgrader"]["grade_id"]): "".join(cell["source"]).strip()
            for cell in cells
            if (cell["cell_type"] == "markdown" or code)
            and cell["metadata"].get("nbgrader", {}).get("solution")
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def empty(notebook: bytes, lab: str) -> tuple[str, ...]:
    """The ids of those cells that are empty, or still as they were released."""
    before = _released(lab)
    return tuple(
        name for name, text in texts(notebook).items() if text in ("", _STUB, before.get(name))
    )


def is_written(folder: Path) -> bool:
    """Whether the notebook in `folder`, as last saved, has its report. Raises OSError."""
    path = notebook_in(folder)
    if path is None:
        return False
    notebook = read_bounded(path, limits.MOST_NOTEBOOK_BYTES)
    return bool(texts(notebook)) and not empty(notebook, path.stem)


def notebook_in(folder: Path) -> Path | None:
    """The notebook of the lab in `folder`, which has the name of the lab, with its answers."""
    return next(iter(notebooks_in(folder, folder.resolve().name)), None)


def notebooks_in(folder: Path, lab: str) -> list[Path]:
    """The notebook of `lab` in `folder` with the answers, whatever its name, or the only notebook.

    Students rename a notebook, or copy it and go on in the copy. If two have different answers,
    the result has both, and the one with the name of the lab comes first.
    """
    there = sorted(folder.glob("*.ipynb"), key=lambda each: (each.stem != lab, each.name))
    there = [each for each in there if each.stem == lab or each.stem not in lab_names.labs()]
    found = which_count({each: _written(each, lab) for each in there[:_MOST_NOTEBOOKS]})
    if found:
        return found
    named = [each for each in there if each.stem == lab]
    return named or (there if len(there) == 1 else [])


_Notebook = TypeVar("_Notebook")


def which_count(answered: Mapping[_Notebook, Mapping[str, str]]) -> list[_Notebook]:
    """Of notebooks with these answers, those that count; several if they have different answers.

    One without answers does not count, nor one whose answers another one has too: of a notebook and
    a copy that was made on the way, the later one has all answers. Of two with the same, the first
    counts.
    """
    left = [(each, has.items()) for each, has in answered.items() if has]
    left = [one for n, one in enumerate(left) if all(one[1] != each[1] for each in left[:n])]
    return [one for one, has in left if not any(has < others for _, others in left)]


def _written(path: Path, lab: str) -> dict[str, str]:
    """The answers in a notebook, without those that are empty or as released."""
    try:
        notebook = read_bounded(path, limits.MOST_NOTEBOOK_BYTES)
    except OSError:
        return {}
    before = _released(lab, code=True)
    found = texts(notebook, code=bool(before))
    return {name: text for name, text in found.items() if text not in ("", _STUB, before.get(name))}


def _released(lab: str, *, code: bool = False) -> dict[str, str]:
    """The texts as released; empty if this machine has no released labs."""
    try:
        return texts((paths.released() / lab / f"{lab}.ipynb").read_bytes(), code=code)
    except OSError:
        return {}
