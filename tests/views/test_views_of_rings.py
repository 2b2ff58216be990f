"""Views of rings of tasks: printed parts give the figure, and nothing is said without a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labs import views
from labs.machine import description
from labs.messages import Refused
from labs.notebook.run import Run, compare
from labs.recording import file
from labs.views import rings
from testing.paths import REPOSITORY

RECORDINGS = REPOSITORY / "tests/fixtures/honest/07-switch-footprint/recordings"


def run_of(name: str, *variants: str) -> Run:
    return Run.of(file.read(RECORDINGS / f"{name}.csv"), variants, unit="us")


@pytest.fixture(scope="module")
def kinds() -> Run:
    return run_of("kinds", "processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0")


def test_the_subtraction_comes_out_from_the_printed_parts() -> None:
    run = run_of("naive", "processes-8-256k", "processes-8-0")
    for name, tasks, once_round, hop, alone in views.hops(run).rows:
        assert float(hop) == pytest.approx(float(once_round) / int(tasks), rel=1e-3)
        switch = (float(once_round) - int(tasks) * float(alone)) / int(tasks)
        assert switch == pytest.approx(run[name].value, rel=1e-3)


def test_two_rings_that_differ_in_more_than_the_memory_are_told() -> None:
    told = views.hops(run_of("naive", "processes-8-256k", "processes-8-0")).caption
    assert told.endswith("The two rings differ in: the set")
    mixed = views.hops(run_of("kinds", "processes-8-256k", "threads-8-0")).caption
    assert mixed.endswith("The two rings differ in: the address space, the set")


def test_sets_add_only_what_is_more_than_chance() -> None:
    run = run_of("sizes")
    rows = {row[1]: row for row in views.set_sizes(run).rows}
    assert list(rows) == ["0 KiB", "16 KiB", "64 KiB", "256 KiB", "1,024 KiB"]
    assert rows["256 KiB"][2] == "2,048 KiB"
    assert rows["0 KiB"][-1] == ""
    assert rows["16 KiB"][-1].startswith("not distinguishable from 0: ")
    added = run["processes-8-1m"].value - run["processes-8-0"].value
    value, low, _, high = re.sub("[()]", "", rows["1,024 KiB"][-1]).split()
    assert float(value) == pytest.approx(added, rel=0.01)
    assert 0 < float(low) < added < float(high)


def test_without_a_ring_to_compare_with_the_view_says_what_to_measure() -> None:
    (row,) = views.set_sizes(run_of("sizes", "processes-8-64k")).rows
    assert row[-1] == "unknown: measure processes-8-0 in the same run"


def test_claimed_and_counted_switches_are_those_of_the_recording(kinds: Run) -> None:
    rows = views.ring_switches(kinds).rows
    assert rows[0] == ("processes-8-256k", "4,378", "4,357", "99.5 %", "0")
    assert len(rows) == 4
    with pytest.raises(Refused, match="no switches to count"):
        views.ring_switches(run_of("kinds", "alone-0"))


def test_differences_have_their_intervals_and_names(kinds: Run) -> None:
    added = compare(kinds["threads-8-256k"], kinds["threads-8-0"], 1.0)
    (row,) = views.differences(set_for_threads=added).rows
    assert row[:3] == ("set for threads", "threads-8-256k", "threads-8-0")
    assert float(row[4]) < float(row[3]) < float(row[5])
    same = compare(kinds["threads-8-0"], run_of("own", "own-0"), 1.0)
    said = [row[6].partition(":")[0] for row in views.differences(a=added, b=same).rows]
    assert set(said) <= {"yes", "no"}
    wrong: dict[str, Any] = {"a": kinds}
    for given in ({}, wrong):
        with pytest.raises(Refused, match="takes comparisons"):
            views.differences(**given)


def test_differences_say_what_two_rings_have_different(kinds: Run) -> None:
    one = compare(kinds["processes-8-256k"], kinds["processes-8-0"], 1.0)
    pairs = {
        ("processes-8-256k", "processes-8-0"): "the set",
        ("processes-8-0", "threads-8-0"): "the address space",
        ("processes-8-256k", "threads-2-0"): "the address space, the number of tasks, the set",
        ("threads-8-0", "threads-8-0"): "nothing",
    }
    for (first, second), words in pairs.items():
        (row,) = views.differences(a=replace(one, first=first, second=second)).rows
        assert row[-1] == words
    (row,) = views.differences(a=replace(one, first="own-0")).rows
    assert len(row) == 7, "of other runs the column is left out"


def test_a_difference_that_excludes_0_and_is_no_more_than_chance_says_why(kinds: Run) -> None:
    found = compare(kinds["processes-8-256k"], kinds["processes-8-0"], 1.0)
    seen = replace(found, difference=0.8, difference_interval=(0.3, 1.3))
    assert seen.distinguishable
    for ratio, words in (((0.98, 1.4), "their ratio is 1.20 (0.98 to 1.40)"), (None, "uncertain")):
        unsure = replace(
            seen, distinguishable=False, side=0, ratio=ratio and 1.2, ratio_interval=ratio
        )
        (row,) = views.differences(a=unsure).rows
        assert row[6].startswith("no: their ratio is ") and row[6].endswith(words)
    assert views.differences(a=seen).rows[0][6] == "yes"
    nothing = replace(seen, distinguishable=False, side=0, difference_interval=(-0.3, 1.3))
    assert views.differences(a=nothing).rows[0][6] == "no"


@pytest.mark.parametrize(("totals", "used"), [({"tried": 4096, "used": 64}, "64"), ({}, "")])
def test_the_lines_that_were_used_are_said_where_the_run_tried_them(
    totals: Mapping[str, int], used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of("own", "own-256k")
    named = {f"variant.own-256k.lines_{name}": count for name, count in totals.items()}
    monkeypatch.setattr(type(run.recording), "total", lambda self, key: named.get(key))
    rows = {row[0]: row[1] for row in views.lines_used(run).rows}
    assert rows.get("of these, your sum changed with", "") == used
    assert float(rows["core cycles for one cache line, one task alone"]) > 0.25
    said = (
        "used 64 of 4,096 lines, not every one"
        if totals
        else "took enough time to have read the set"
    )
    assert rows["so your C"] == said


@pytest.mark.parametrize(
    ("tried", "used", "cycles", "words"),
    [
        (4096, 0, 2.0, "used none of the lines"),
        (4096, 4096, 2.0, "used every line"),
        (None, None, 0.1, "read nothing"),
        (None, None, 0.3, "took enough time"),
    ],
)
def test_what_a_c_did_with_its_set_is_said_in_words(
    tried: int | None, used: int | None, cycles: float, words: str
) -> None:
    assert rings.verdict(tried, used, cycles).startswith(words)


def test_a_view_of_rings_refuses_other_runs_in_plain_words(kinds: Run) -> None:
    own = run_of("own", "own-256k")
    for view in (views.hops, views.set_sizes):
        with pytest.raises(Refused, match="switch_footprint"):
            view(own)
        with pytest.raises(Refused, match="no ring"):
            view(run_of("kinds", "alone-256k"))
    with pytest.raises(Refused, match="own_footprint"):
        views.lines_used(kinds)


def _index(folder: Path, **facts: str) -> None:
    folder.mkdir(parents=True)
    for name, text in facts.items():
        (folder / name).write_text(f"{text}\n")


def test_caches_are_those_for_data_as_the_os_reports_them(tmp_path: Path) -> None:
    at = tmp_path / "devices/system/cpu/cpu0/cache"
    _index(at / "index0", level="1", type="Data", size="32K", shared_cpu_list="0")
    _index(at / "index1", level="1", type="Instruction", size="64K", shared_cpu_list="0")
    _index(at / "index3", level="3", type="Unified", size="32M", shared_cpu_list="0-7")
    _index(at / "index2", level="2", type="Unified", size="odd", shared_cpu_list="0")
    assert views.caches(tmp_path).rows == (("L1", "32 KiB", "0"), ("L3", "32768 KiB", "0-7"))


def test_where_the_os_reports_no_cache_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, Any] = {"SC_LEVEL1_DCACHE_SIZE": 49152, "SC_LEVEL2_CACHE_SIZE": 0}
    monkeypatch.setattr(description, "os", SimpleNamespace(sysconf=known.__getitem__))
    monkeypatch.setattr(
        description, "_SYSCONF_NAMES", {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE"}
    )
    assert views.caches(tmp_path).rows == (("L1", "48 KiB"),)
    known["SC_LEVEL1_DCACHE_SIZE"] = -1
    with pytest.raises(Refused, match="does not report"):
        views.caches(tmp_path)
