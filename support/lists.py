"""`python -m support.lists`: bring lists that follow from C kernels and notebooks up to date.

It appends the hash of each new or changed C kernel, and writes the variants, the labs in README.md,
their points in docs/instructors/rubrics.md and their scripts in docs/instructors/term-plan.md. In a
lab's script, the answers of a shared machine become those of the saved honest run. It prints what
it changed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.figures import LABS
from grader.lab_pages import HONEST
from labs.c_kernels import catalogue, toolchain
from labs.c_kernels.toolchain import CompileError
from labs.course import figures, lab_names
from labs.course.figures import Figure
from labs.files import write_atomically
from labs.units import rounded
from support import variants
from support.c_programs import BUILT
from support.paths import REPOSITORY

HASHES = REPOSITORY / "grader" / "evidence" / "kernel_hashes.json"
README = REPOSITORY / "README.md"
INSTRUCTORS = REPOSITORY / "docs" / "instructors"
KERNELS = {"released": REPOSITORY / "kernels_c", "broken": REPOSITORY / "kernels_c" / "broken"}

#: Rows that follow each other: of labs by name, of labs by number, and of links to scripts.
_LABS = re.compile(r"(?:^\| \d\d-.*\n)+", re.MULTILINE)
_POINTS = re.compile(r"(?:^\| \d\d \|(?:[^|\n]+\|){3}\n)+", re.MULTILINE)
_SCRIPTS = re.compile(r"(?:^- \[\d\d .*\n)+", re.MULTILINE)
#: The second cell of the row of a figure: its answer on a shared machine.
_ANSWER = re.compile(r"^(\| `([\w-]+)` \|)[^|\n]*\|", re.MULTILINE)


class NotFormatted(Exception):
    """A C kernel is not formatted, so its hash would not stay."""


def question_of(cells: list[dict[str, Any]]) -> str:
    """The question in the title of a notebook."""
    (asks,) = re.findall(r"^# (?:Start here: )?(.+)$", "".join(cells[0]["source"]), re.MULTILINE)
    return str(asks[0].upper() + asks[1:])


def minutes_of(cells: list[dict[str, Any]]) -> int:
    """The minutes that the title of a notebook states."""
    (minutes,) = re.findall(r"^\*(\d+) minutes\.\*", "".join(cells[0]["source"]), re.MULTILINE)
    return int(minutes)


def points_of(cells: list[dict[str, Any]]) -> tuple[float, float]:
    """The points of a notebook's figures, and those of the answers that a person reads."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    graded = [mark for mark in marks if mark.get("points")]
    answers = sum(mark["points"] for mark in graded if mark["solution"])
    return sum(mark["points"] for mark in graded) - answers, answers


def _notebooks() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for path in sorted((REPOSITORY / "notebooks").glob("*/*.ipynb")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))["cells"]


def hashes(text: str) -> str:
    """The hashes of the C kernels, with those of today at the end of each list."""
    stated: dict[str, dict[str, list[str]]] = json.loads(text)
    for kind, folder in KERNELS.items():
        for path in sorted(folder.glob("*.c")):
            now = toolchain.source_hash(path.read_text(encoding="utf-8"))
            known = stated[kind].setdefault(path.stem, [])
            if known[-1:] != [now]:
                _must_be_formatted(path)
                # An earlier version that is back is the newest one again.
                stated[kind][path.stem] = [*(each for each in known if each != now), now]
        stated[kind] = dict(sorted(stated[kind].items()))
    return json.dumps(stated, indent=1) + "\n"


def _must_be_formatted(path: Path) -> None:
    program = Path(sys.executable).with_name("clang-format")
    words = [str(program), "--dry-run", "-Werror", str(path)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        name = path.relative_to(REPOSITORY)
        raise NotFormatted(f"{name} is not formatted. First run: clang-format -i {name}")


def labs_in_readme(text: str) -> str:
    """The README with a row for each notebook."""
    rows = []
    for lab, cells in _notebooks():
        story = " | ".join(lab_names.stories().get(lab, ("", "")))
        rows.append(f"| {lab} | {question_of(cells)} | {story} | {minutes_of(cells)} |\n")
    return _with_rows(_LABS, rows, text)


def points_in_rubrics(text: str) -> str:
    """The page about rubrics with the points of each lab."""
    rows = []
    for lab, cells in _notebooks():
        own, answers = points_of(cells)
        read = f"{answers:g}" if answers else "none"
        rows.append(f"| {lab[:2]} | {own:g} | {read} | {own + answers:g} |\n")
    return _with_rows(_POINTS, rows, text)


def scripts_in_plan(text: str) -> str:
    """The plan of a term with a link to the script of each lab."""
    pages = sorted((INSTRUCTORS / "labs").glob("*.md"))
    rows = [f"- [{page.stem.replace('-', ' ')}](labs/{page.name})\n" for page in pages]
    return _with_rows(_SCRIPTS, rows, text)


def _with_rows(old: re.Pattern[str], rows: list[str], text: str) -> str:
    new, count = old.subn(lambda _: "".join(rows), text)
    if count != 1:
        raise ValueError(f"{count} lists in the page look like {rows[0].strip()!r}")
    return new


def answers_of(lab: str, text: str) -> str:
    """The script of a lab with the saved run's answers as those of a shared machine."""
    saved = figures.read(HONEST / lab)

    def answer(found: re.Match[str]) -> str:
        figure = saved.get(found[2])
        if not isinstance(figure, Figure):
            return found[0]
        number = rounded(figure.value)
        said = f"conclusion {number}" if figure.unit == "choice" else f"{number} {figure.unit}"
        return f"{found[1]} {said} |"

    return _ANSWER.sub(answer, text)


def lists() -> dict[Path, Callable[[str], str]]:
    """By file, what makes its text of today from that of before."""
    made: dict[Path, Callable[[str], str]] = {
        HASHES: hashes,
        catalogue.FILE: lambda _: variants.as_text(),
        README: labs_in_readme,
        INSTRUCTORS / "rubrics.md": points_in_rubrics,
        INSTRUCTORS / "term-plan.md": scripts_in_plan,
    }
    for lab in LABS:
        page = INSTRUCTORS / "labs" / f"{lab}.md"
        if page.is_file():
            made[page] = lambda text, lab=lab: answers_of(lab, text)  # type: ignore[misc]
    return made


def main() -> int:
    """Writes what has changed; status 1 if a C kernel is not formatted or does not compile."""
    # What is built here, the tests need not build again.
    os.environ.setdefault("TICKLAB_CACHE", str(BUILT))
    for path, update in lists().items():
        before = path.read_text(encoding="utf-8")
        try:
            now = update(before)
        except (NotFormatted, CompileError) as error:
            print(error, file=sys.stderr)
            return 1
        if now != before:
            write_atomically(path, now.encode())
            print(f"changed {path.relative_to(REPOSITORY)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
