"""The tables of views are in one language: no head, no row and no caption stays English."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labs import views
from labs.c_kernels import catalogue
from labs.html import Table
from labs.languages.po_file import languages
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run, compare
from labs.recording.file import read
from labs.run import broken
from testing.languages.left import left_in_english
from testing.paths import FIXTURES

HONEST = FIXTURES / "honest"
#: What has the same name: units, C, students' variants, and words that German spells alike.
NAMES = frozenset(
    (
        "KiB",
        "cycle",
        "cycles",
        "ticks",
        "times",
        "fork",
        "clone",
        "vfork",
        "own",
        "minus",
        "resident",
    )
)


def run(lab: str, name: str) -> Run:
    (folder,) = HONEST.glob(f"{lab}-*")
    return Run.of(read(folder / "recordings" / f"{name}.csv"))


def pair(lab: str, name: str) -> Pair:
    return Pair(broken.find(name), run(lab, f"broken-{name}"), run(lab, f"repaired-{name}"))


TABLES: dict[str, Callable[[], Table]] = {
    "after_subtracting": lambda: views.after_subtracting(run("01", "naive"), 20),
    "your_line": lambda: views.your_line(run("01", "fenced").in_unit("cycles"), 60, 1),
    "slopes": lambda: views.slopes(run("01", "clocks"), 0.25),
    "steps": lambda: views.steps(run("04", "o0"), run("04", "o2")),
    "parts": lambda: views.parts(run("03", "calls"), run("04", "call")),
    "lengths": lambda: views.lengths(run("04", "own")).table(),
    "switches": lambda: views.switches(run("06", "process"), run("06", "naive")),
    "created_tasks": lambda: views.created_tasks(run("05", "kinds"), "page faults", "switches"),
    "seen": lambda: views.created_tasks(run("05", "own"), "number seen", "parent slept"),
    "beside_trial": lambda: views.beside_trial(pair("08", "cached_getpid"), as_printed=180),
    "beside_report": lambda: views.beside_report("A", pair("08", "cached_getpid")),
    "report_e": lambda: views.beside_report("E", pair("08", "readings_around_each")),
    "what_remains": lambda: views.what_remains(pair("08", "cached_getpid"), run("03", "calls")),
    "page_faults": lambda: views.page_faults(pair("10", "recycled_memory"), 1),
    "explained": lambda: views.explained(
        run("02", "cold"), run("02", "causes"), {"page-fault": 1, "data-cache": 2}
    ),
    "hops": lambda: views.hops(run("07", "sizes")),
    "set_sizes": lambda: views.set_sizes(run("07", "sizes")),
    "ring_switches": lambda: views.ring_switches(run("07", "kinds")),
    "lines_used": lambda: views.lines_used(run("07", "own")),
    "walks": lambda: views.walks(run("09", "orders")),
    "differences": lambda: views.differences(a=compare(run("07", "kinds"), run("07", "naive"), 1)),
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_no_part_of_a_table_stays_english(name: str) -> None:
    table = TABLES[name]()
    names = {*NAMES}
    for kernel in catalogue.all_kernels():
        names |= {kernel.name, *kernel.variants}
    for language in languages():
        parts = [table.caption, *table.header, *(cell for row in table.rows for cell in row)]
        left = [
            part for text in parts for part in left_in_english(text, language, names, heading=True)
        ]
        assert not left, language
