"""The view of walks through memory: the counts of a run, for one process."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from labs import views
from labs.messages import Refused
from labs.notebook.run import Run
from labs.recording.file import read
from testing.paths import FIXTURES


def run_of(path: str) -> Run:
    return Run.of(read(FIXTURES / path))


def test_a_walk_is_shown_with_its_set_its_pages_and_its_order() -> None:
    table = views.walks(run_of("pitfalls/order-foreseen/near/recordings/run.csv"))
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert set(rows) == {"random-128m", "ordered-128m"}
    for row in rows.values():
        assert row["set, MB"] == row["resident, MB"] == "128"
        assert row["lines that the walk goes round"] == row["cache lines of the set"]
        right, _, samples = row["samples that ended at the right line"].partition(" of ")
        assert right == samples
    assert rows["ordered-128m"]["hops as long as one of the four before"] == "2,097,150"
    assert rows["random-128m"]["hops as long as one of the four before"] != "2,097,150"


def test_a_count_is_a_whole_number_of_a_process_or_two_with_the_span() -> None:
    run = run_of("pitfalls/order-foreseen/near/recordings/run.csv")
    key = "variant.random-128m.same_hops"
    for counts, shown in ((("0", "4"), "0 to 4"), (("3", "3"), "3")):
        given = itertools.cycle(counts)
        left = {k: v for k, v in run.recording.conditions.items() if k != key}
        processes = tuple({**each, key: next(given)} for each in run.recording.processes)
        other = replace(run.recording, conditions=left, processes=processes)
        (row,) = (each for each in views.walks(Run.of(other)).rows if each[0] == "random-128m")
        assert shown in row


def test_walks_are_listed_in_the_order_of_the_request() -> None:
    run = run_of("pitfalls/order-foreseen/near/recordings/run.csv")
    for names in (("random-128m", "ordered-128m"), ("ordered-128m", "random-128m")):
        shown = views.walks(Run.of(run.recording, names))
        assert tuple(row[0] for row in shown.rows) == names


def test_a_walk_that_repeats_itself_is_seen() -> None:
    table = views.walks(run_of("pitfalls/cycle-too-short/wrong/recordings/run.csv"))
    ((found),) = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    walked, every = (
        int(found[key].replace(",", "").rpartition(" ")[2])
        for key in ("lines that the walk goes round", "cache lines of the set")
    )
    assert walked < every / 100


def test_memory_that_was_never_written_is_not_resident() -> None:
    table = views.walks(run_of("pitfalls/memory-never-written/wrong/recordings/run.csv"))
    ((found),) = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (found["set, MB"], found["resident, MB"]) == ("128", "0")


def test_a_run_of_another_c_kernel_is_refused() -> None:
    with pytest.raises(Refused, match="no walk"):
        views.walks(run_of("fenced.csv"))
