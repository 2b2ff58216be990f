"""The files that a page tells its reader to write, from the text that the page gives."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from labs.recording import file
from labs.results.result import result_of
from support.paths import REPOSITORY

_OWN = "my_function.c"
#: The page says to add such a line, and a variant in the form of `own`.
_LONGER = (
    (
        "INTERVAL(own, my_function(text_of(turn)))",
        'INTERVAL(longer, my_function("A longer text."))',
    ),
    (
        '    {.name = "own", .about = "my function", .interval = own, .baseline = "loop"},',
        '    {.name = "longer", .about = "more", .interval = longer, .baseline = "loop"},',
    ),
)
_HEADER = "long parse(const char *letters);\n"
_SOURCE = '#include "parse.h"\nlong parse(const char *letters) { return letters[0]; }\n'


def before(page: str, command: str, folder: Path) -> None:
    """Writes what the reader of `page`, in `folder`, has written before typing `command`."""
    if command.startswith(f"labs measure {_OWN}"):
        text = _c_of("own-function")
        if "longer" in command:
            for line, more in _LONGER:
                text = _after(line, more, text)
        if "../project" in command:
            _project(folder.parent / "project")
            text = _after('#include "harness.h"', '#include "parse.h"', text)
            text = text.replace("my_function(text_of(turn))", "parse(text_of(turn))")
            text = re.sub(r"^static long my_function.*?^}\n", "", text, flags=re.DOTALL | re.M)
        (folder / _OWN).write_text(text, encoding="utf-8")
    if page.endswith(("submission.md", "start.md")) and command == "grader check .":
        _figures(folder)


def _c_of(page: str) -> str:
    """The only C of a page."""
    text = (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(source)


def _after(line: str, more: str, text: str) -> str:
    """The text with another line after `line`. Raises ValueError where `line` is not there."""
    if text.count(f"{line}\n") != 1:
        raise ValueError(f"the C of the page does not have the line {line!r} once")
    return text.replace(f"{line}\n", f"{line}\n{more}\n")


def _project(project: Path) -> None:
    """A project with a header, a source and a library."""
    for name in ("include", "src", "build"):
        (project / name).mkdir(parents=True, exist_ok=True)
    (project / "include" / "parse.h").write_text(_HEADER, encoding="utf-8")
    (project / "src" / "parse.c").write_text(_SOURCE, encoding="utf-8")
    built = ["gcc", "-O2", "-I", "include", "-c", "src/parse.c", "-o", "build/parse.o"]
    subprocess.run(built, cwd=project, check=True)
    subprocess.run(["ar", "rcs", "build/libparse.a", "build/parse.o"], cwd=project, check=True)


def _figures(folder: Path) -> None:
    """`figures.json` with the figure of the recording that the page has made. Raises ValueError."""
    name = "recordings/fenced.csv"
    result = result_of(file.read(folder / name), "fenced")
    if result.estimate is None:
        raise ValueError(f"{name} gives no figure: {result.no_figure}")
    figure = {"value": result.estimate.value, "unit": result.unit, "recording": name}
    text = json.dumps({"timer-overhead-fenced": figure})
    (folder / "figures.json").write_text(text, encoding="utf-8")
