"""The forms in which commands print results: their options, and the functions that word them.

A new form is a row of `FORMS`, the functions that it names, such as `as_csv` in
`labs/results/results_compared.py`, and a case in `tests/commands/test_outputs.py` that reads it
back. Each command takes its options and its words from here, so commands that word the same result
cannot differ. Exports of grades are in `grader/class_grading/grade_exports.py`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.terminal import say, say_json, say_result


@dataclass(frozen=True)
class Form:
    """One form of output: what its option does, and the function by which each command words it.

    A function is named `module:function` below `labs`, and is imported once it is needed: help and
    completion must not load what measures. `prints` prints what it returns. If the form is
    `without_warnings`, these go to standard error.
    """

    about: str
    words: Mapping[str, str]
    prints: Callable[[Any], None] = say
    without_warnings: bool = False


#: These commands print figures. `labs record` prints what `labs measure` does.
_OF_FIGURES = ("measure", "compare", "show")
_TABLE = "results.results_compared"

#: Every form by the name of its option, in the order of the help. For a page, each command has an
#: option of its own, which names the file.
FORMS = {
    "text": Form("print it, and write no page", {
        "measure": "commands.measure:as_text",
        "compare": "commands.measure:pair_as_text",
        "show": "commands.show:as_text",
        "survey": "survey.survey:text",
        "survey --compare": "survey.compare_report:text",
    }, say_result),
    "markdown": Form(
        "print a table in Markdown", dict.fromkeys(_OF_FIGURES, f"{_TABLE}:as_markdown"),
        without_warnings=True,
    ),
    "csv": Form(
        "print a table as CSV", dict.fromkeys(_OF_FIGURES, f"{_TABLE}:as_csv"),
        without_warnings=True,
    ),
    "json": Form("print the result as JSON", {
        "measure": "commands.measure:as_json",
        "compare": f"{_TABLE}:as_json",
        "show": "commands.measure:as_json",
        "survey": "survey.survey:as_json",
        "survey --compare": "survey.compare_report:as_json",
    }, say_json),
    "page": Form("", {
        "show": "commands.show:page_of",
        "survey": "survey.survey:page",
        "survey --compare": "survey.compare_report:page",
    }),
}  # fmt: skip


def add_options(
    parser: argparse.ArgumentParser, command: str, default: str = "text"
) -> argparse._MutuallyExclusiveGroup:
    """Add an option for each form of `command` but the default one. They exclude each other."""
    parser.set_defaults(form=default)
    group = parser.add_mutually_exclusive_group()
    for name, form in FORMS.items():
        if command in form.words and name not in (default, "page"):
            group.add_argument(
                f"--{name}", dest="form", action="store_const", const=name, help=form.about
            )
    return group


def put(form: str, command: str, *result: object, warnings: Sequence[str] = ()) -> None:
    """Print the result of `command` in this form."""
    FORMS[form].prints(_worded(form, command, result))
    for each in warnings if FORMS[form].without_warnings else ():
        say(each, file=sys.stderr)


def write_page(place: Path, command: str, *result: object) -> None:
    """Write the page of a result. Raises files.CannotWrite."""
    # Here: help and completion write nothing.
    from labs import html

    html.write_page(place, _worded("page", command, result), f"labs {command}")


def _worded(form: str, command: str, result: Sequence[object]) -> Any:
    module, _, function = FORMS[form].words[command].partition(":")
    return getattr(importlib.import_module(f"labs.{module}"), function)(*result)
