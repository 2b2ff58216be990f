"""What a fuzzer starts from: good inputs of each kind, most of them out of tests/fixtures."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.figures import LABS
from grader.judging import lab_folder
from labs.course.figures import FILE_NAME, RECORDINGS
from labs.recording.counts import SCOPE, absent_key, as_text, count_key
from labs.recording.file import parse
from support.paths import FIXTURES, REPOSITORY

#: Rows of a recording that are kept: enough for a line through five batch sizes.
MOST_ROWS = 240
#: The notebook whose cells are the released ones.
NOTEBOOK = REPOSITORY / "notebooks" / "01-timer-overhead" / "01-timer-overhead.ipynb"

_HEADER = b"variant,process,sample,batch,ticks\n"
_OF_ALL_ROWS = re.compile(rb"^# samples\.(?:count|sha256): .*\n", re.MULTILINE)
_SECTION = re.compile(rb"(?:\A|\n)=== ([^\n]*)\n")
_NAME = re.compile(r"figures\.json|recordings/[\w-][\w.-]{0,60}\.(?:csv|c)", re.ASCII)


@dataclass(frozen=True)
class Submission:
    """A lab folder as bytes: its files by name, relative to the folder."""

    lab: str
    files: tuple[tuple[str, bytes], ...]

    def write(self, folder: Path) -> None:
        """Write the files into `folder`, which exists and is empty."""
        (folder / RECORDINGS).mkdir()
        for name, content in self.files:
            (folder / name).write_bytes(content)

    def as_bytes(self) -> bytes:
        """All files one after the other, so that a fuzzer can change the submission as one."""
        sections = ((self.lab, b""), *self.files)
        return b"\n".join(b"=== %b\n%b" % (name.encode(), text) for name, text in sections)

    @classmethod
    def from_bytes(cls, content: bytes) -> Submission:
        """The submission that `content` holds, without files whose names no lab folder has."""
        _, *parts = _SECTION.split(content)
        names = [part.decode("utf-8", "replace") for part in parts[::2]]
        files = [each for each in zip(names, parts[1::2], strict=True) if _NAME.fullmatch(each[0])]
        lab = names[0] if names and names[0] in LABS else "01-timer-overhead"
        return cls(lab, tuple(files))


@functools.lru_cache(maxsize=1)
def submissions() -> tuple[Submission, ...]:
    """Every fixture that is a lab folder, with recordings of few rows."""
    found = []
    for figures in sorted(FIXTURES.rglob(FILE_NAME)):
        folder = figures.parent
        files = [(FILE_NAME, figures.read_bytes())]
        for path in sorted((folder / RECORDINGS).glob("*")):
            if path.suffix in (".csv", ".c"):
                content = path.read_bytes()
                content = shortened(content) if path.suffix == ".csv" else content
                files.append((f"{RECORDINGS}/{path.name}", content))
        found.append(Submission(lab_folder.lab_of(folder), tuple(files)))
    return tuple(found)


@functools.lru_cache(maxsize=1)
def with_c_source() -> tuple[Submission, ...]:
    """The submissions in which a student's own C source is next to its recording."""
    return tuple(each for each in submissions() if any(n[-2:] == ".c" for n, _ in each.files))


def recordings() -> tuple[bytes, ...]:
    """Every recording of the submissions once, with a few rows; some also with counts of events."""
    contents = (content for each in submissions() for name, content in each.files if ".csv" in name)
    plain = _once(shortened(content, 20) for content in contents)
    return (*plain, *map(_with_counts, plain[:: max(len(plain) // 10, 1)]))


def _with_counts(content: bytes) -> bytes:
    """The recording as a run with `--perf` would have made it."""
    lines = [f"# {SCOPE}: user mode", f"# {absent_key('cycles')}: the OS refuses"]
    for variant in parse(content).variants:
        for event, each in (("instructions", 7.5), ("page-faults", 1.0)):
            cells = {batch: 30 + each * batch for batch in (1, 2, 4)}
            lines += [f"# {count_key(event, variant, n)}: {as_text(cells)}" for n in range(3)]
    return content.replace(_HEADER, ("\n".join(lines) + "\n").encode() + _HEADER, 1)


def figure_files() -> tuple[bytes, ...]:
    """Every figures.json of the submissions once."""
    contents = (content for each in submissions() for name, content in each.files)
    return _once(content for content in contents if content.startswith(b"{"))


def c_sources() -> tuple[bytes, ...]:
    """Every student's C, below a line with the number of its submission in `with_c_source()`."""
    return _once(
        b"// %d\n%b" % (number, content)
        for number, each in enumerate(with_c_source())
        for name, content in each.files
        if name.endswith(".c")
    )


@functools.lru_cache(maxsize=1)
def released() -> dict[str, Any]:
    """A small notebook: the first cells of lab 01 and those that are graded or answered."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_bytes())
    cells = notebook["cells"]
    for cell in cells:
        cell["source"] = "".join(cell["source"])
    notebook["cells"] = cells[:2] + [each for each in cells[2:] if "nbgrader" in each["metadata"]]
    return notebook


def notebooks() -> tuple[bytes, ...]:
    """The small notebook answered: as it is, without metadata, doubled, in format 3."""
    answered = copy.deepcopy(released())
    for cell in answered["cells"]:
        cell["source"] = "An answer with $x^2$ and ![a picture](attachment:a.png)"
        cell["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    stripped = copy.deepcopy(answered)
    for cell in stripped["cells"]:
        cell["metadata"] = {}
    doubled = {**answered, "cells": answered["cells"] * 2}
    old = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": answered["cells"]}]}
    made = (released(), answered, stripped, doubled, old)
    return tuple(json.dumps(each, indent=1).encode() for each in made)


def answers() -> tuple[bytes, ...]:
    """Texts as students write them."""
    made = (
        "The cost is 16 ns; `fence` waits. **Why?** *Because* a < b && c > d, see <stdio.h>.",
        "# One\n## Two\n- a\n  - b\n    1. c\n\n> quoted\n\n---\n\n| a | b |\n|---|:-:|\n| 1 | 2 |",
        "```c\nint main(void) { return 0; }\n```\n\n    indented\n\n~~~\nx\n~~~",
        "$x_1$ and $$\\frac{a}{b}$$ and \\(y\\) and \\begin{a}a&=b\\\\c\\end{a} and $5 or $6",
        "![a picture](plot.png) ![far](https://x.example/y.png)",
        "[link](https://x.example/a?b=c#d 'title') <https://x.example> [ref][1]\n\n[1]: /url 't'",
        "<b>bold</b> <img src='a.png' alt=x><a href=\"b\">c</a><table><tr><td>1</td></tr></table>",
        "a[^1] ~~gone~~ &lt; &amp; \\* line  \nbreak\n\n[^1]: a note\n\n<!-- hidden -->",
    )
    return tuple(each.encode() for each in made)


def names() -> tuple[bytes, ...]:
    """Names of students and files, separated by zero bytes, which no name can hold."""
    made = ("anna\0O'Brien\0müller\0x y\0a+b+c", "notes.txt\0plot (1).png\0.hidden\0-rf\0a`b<c>&d")
    return tuple(each.encode() for each in made)


def shortened(recording: bytes, most: int = MOST_ROWS) -> bytes:
    """The recording with some rows of every process, and without the number of its rows."""
    head, header, body = recording.partition(_HEADER)
    rows = body.splitlines(keepends=True)
    by_process: dict[bytes, list[bytes]] = {}
    for row in rows:
        cells = row.split(b",")
        by_process.setdefault(cells[1] if len(cells) > 1 else b"", []).append(row)
    each = max(most // max(len(by_process), 1), 1)
    kept = [row for of_process in by_process.values() for row in of_process[:each]]
    return _OF_ALL_ROWS.sub(b"", head) + header + b"".join(kept)


def _once(contents: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(contents))
