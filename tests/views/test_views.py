"""Each view has an image, a description and a table, and says what its runs show."""

from __future__ import annotations

import inspect
import itertools
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray

import labs
from labs import paths, variants, views
from labs.c_kernels import toolchain
from labs.course import published
from labs.html import Table
from labs.machine import description
from labs.messages import Message, Refused
from labs.notebook.run import Later, Run, compare
from labs.plots.figure_svg import PLOT_WIDTH
from labs.plots.picture import Picture
from labs.plots.scale import LOOKS, spread_out
from labs.plots.style import WIDTH_IN, Mark
from labs.recording import file
from labs.recording.file import Recording, read
from labs.units import fixed, rounded
from labs.views import rings
from labs.views.other_tools import calls_in, calls_of_summary, looked_up, only_leaving, parted
from support.c_programs import LINUX
from support.declarations import as_declared
from support.given_samples import recording_of
from support.paths import FIXTURES, REPOSITORY
from support.submitted_figures import Clocked, recording

# Views of several runs: what is said and tabulated are the results; odd runs are refused.


PNG = b"\x89PNG\r\n\x1a\n"
BATCHES = (8, 16, 32, 64)


def run_of(
    kernel: str,
    costs: Mapping[str, float],
    stated: Mapping[str, str] | None = None,
    *,
    asked: Sequence[str] = (),
    bent: Sequence[str] = (),
    cycle: str = "0.5",
) -> Run:
    """A run on a clock of 1 GHz, in which each variant costs what `costs` says in ns; of those in
    `bent` the cost grows with the batch size, so that there is no figure."""
    random = np.random.default_rng(7)
    rows = 400
    columns: list[tuple[NDArray[Any], ...]] = []
    for index, (name, cost) in enumerate(costs.items()):
        sizes = np.tile(BATCHES, rows // len(BATCHES))
        took = 40 + cost * sizes + random.normal(0, max(0.8, 0.2 * cost), rows)
        if name in bent:
            took = took + cost * sizes**2
        columns.append(
            (
                np.full(rows, index),
                np.repeat(np.arange(5), rows // 5),
                np.arange(rows) % (rows // 5) - 4,  # the first four of each process are warm-up
                sizes,
                np.round(took),
            )
        )
    variant, process, sample, batch, ticks = (
        np.concatenate(parts).astype(np.int64) for parts in zip(*columns, strict=True)
    )
    conditions = {
        "variants": ",".join(asked or costs),
        "os": "Linux 6.1 x86_64",
        "flags": "-O2",
        "counter.frequency_hz": "1e9",
        **({"core_cycle_ticks": cycle} if cycle else {}),
        **{f"clock.{name}.frequency_hz": "1e9" for name in costs},
        **{f"clock.{name}.step": "1" for name in costs},
        **(stated or {}),
    }
    recording = Recording(
        kernel, MappingProxyType(conditions), tuple({} for _ in range(5)), tuple(costs), variant,
        process, sample, batch, ticks,
    )  # fmt: skip
    return Run.of(as_declared(recording), tuple(asked or costs))


def procedure_call(flags: str, costs: Sequence[float], **options: object) -> Run:
    named = {f"args{n}": cost for n, cost in enumerate(costs)}
    return run_of("procedure_call", named, {"flags": flags}, **options)  # type: ignore[arg-type]


def switches(name: str, cost: float, claimed: int, counted: int, kernel: str = "") -> Run:
    stated = {
        "claimed.switches": str(claimed),
        "task.main.voluntary_switches": str(counted),
        f"variant.{name}.switches": "2" if claimed else "0",
        f"variant.{name}.parts": "2",
    }
    return run_of(kernel or "process_switch", {name: 2 * cost}, stated)


def footprint(costs: Mapping[str, float], **options: object) -> Run:
    """A ring's variant costs, for all its tasks together, what `costs` says."""
    stated = {}
    for name in costs:
        kind, *rest = name.split("-")
        if kind != "alone":
            stated[f"variant.{name}.parts"] = rest[0]
            stated[f"variant.{name}.baseline"] = f"alone-{rest[1]}"
            stated[f"variant.{name}.baseline_times"] = rest[0]
    asked = [name for name in costs if not name.startswith("alone")]
    return run_of("switch_footprint", costs, stated, asked=asked, **options)  # type: ignore[arg-type]


RING = {
    "alone-0": 500.0, "alone-64k": 900.0, "alone-1m": 8_000.0,
    "processes-2-0": 5_000.0, "processes-2-64k": 6_000.0, "processes-2-1m": 40_000.0,
    "threads-2-0": 4_000.0, "threads-2-64k": 5_000.0, "threads-2-1m": 36_000.0,
    "processes-8-0": 24_000.0, "processes-8-64k": 30_000.0, "processes-8-1m": 320_000.0,
}  # fmt: skip


def every_view() -> dict[str, Picture]:
    pinned = switches("pipe-pinned", 1500, 2000, 2003)
    apart = switches("pipe-two-cpus", 12_000, 0, 2000)
    sizes = {"fork-wait": 90e3, "fork-wait-1mb": 110e3, "fork-wait-64mb": 2e6}
    return {
        "arguments": views.arguments(
            procedure_call("-O0", [3, 4, 4, 5, 6, 7, 8, 9, 10, 12]),
            procedure_call("-O2", [2, 2, 2, 2, 3, 3, 3, 3, 4, 4]),
        ),
        "placement": views.placement(pinned, apart),
        "footprint": views.footprint(footprint(RING)),
        "memory": views.memory(
            [run_of("task_creation", {name: cost}) for name, cost in sizes.items()]
        ),
        "among published": views.among_published(pinned, "process switch"),
    }


@pytest.fixture(scope="module")
def drawn() -> dict[str, Picture]:
    return every_view()


def test_each_view_has_an_image_a_description_and_a_table(drawn: dict[str, Picture]) -> None:
    for name in ("arguments", "placement", "footprint", "memory", "among published"):
        shown = drawn[name]
        rows = name in ("placement", "among published")
        assert shown.image.startswith(b"<svg" if rows else PNG), name
        assert shown.width == (PLOT_WIDTH if rows else round(96 * WIDTH_IN)), name
        # What plot it is, its axes with their units in words, and what there is to see.
        assert re.match(r"(Line plot|Dot plot|Distribution) of ", shown.kind), name
        assert re.search(r"nanoseconds|microseconds|core cycles", shown.kind), name
        assert len(shown.meaning) > 60 and shown.meaning.endswith("."), name
        assert len(shown.table.rows) >= 2, name
        assert all(len(row) == len(shown.table.header) for row in shown.table.rows), name
        page = shown.as_html()
        assert f'alt="{shown.kind[:30]}' in page and "<table" in page, name
        for words in (shown.description, shown.table.as_text()):
            assert not re.search(r"\bnan\b|None", words)
            assert not re.search(r"\d\.\d{5,}", words), "no digits that mean nothing"


def test_the_same_runs_make_the_same_image(drawn: dict[str, Picture]) -> None:
    assert {name: shown.image for name, shown in every_view().items()} == {
        name: shown.image for name, shown in drawn.items()
    }


def test_series_differ_by_more_than_colour() -> None:
    for kind in ("colour", "marker", "dash"):
        assert len({getattr(look, kind) for look in LOOKS}) == len(LOOKS)


# -- argument count


def test_arguments_are_in_core_cycles_with_the_numbers_of_the_results() -> None:
    o0, o2 = procedure_call("-O0", [3, 4, 6, 9]), procedure_call("-O2", [2, 2, 2, 4])
    table = views.arguments(o0, o2).table
    assert table.header[1:] == (
        "cost at -O0", "from", "to (95 %)", "cost at -O2", "from", "to (95 %)"
    )  # fmt: skip
    for number, row in enumerate(table.rows):
        assert row[0] == str(number)
        for run, cell in ((o0, row[1]), (o2, row[4])):
            result = run.in_unit("cycles").result(f"args{number}")
            assert result.estimate is not None
            # As many digits as the interval supports.
            assert float(cell) == pytest.approx(result.estimate.value, abs=0.006)
    assert [round(float(row[1])) for row in table.rows] == [6, 8, 12, 18]


def test_where_core_cycles_are_not_known_the_unit_is_that_of_the_first_run() -> None:
    shown = views.arguments(procedure_call("-O0", [3, 4, 6, 9], cycle=""))
    assert "in nanoseconds" in shown.kind
    assert float(shown.table.rows[3][1]) == pytest.approx(9, rel=0.01)


def test_what_is_said_of_arguments_follows_from_the_numbers() -> None:
    meaning = views.arguments(procedure_call("-O0", [3, 4, 4, 8])).meaning
    assert (
        "0 arguments costs 6 cycles and one with 3 costs 16 cycles: 3.3 cycles for each argument."
        in meaning
    )
    assert "rises most from 2 to 3 arguments: by 8 cycles." in meaning
    assert "registers" not in meaning, "3 arguments do not reach the border"


def test_where_registers_end_is_said_for_this_architecture_only() -> None:
    costs = [3.0] * 13
    named = {f"args{n}": cost for n, cost in enumerate(costs)}
    for system, words in (
        ("Linux 6.1 x86_64", "passes 6 arguments in registers"),
        ("Linux 6.1 aarch64", "passes 8 arguments in registers"),
        ("Plan 9 sparc", ""),
    ):
        meaning = views.arguments(run_of("procedure_call", named, {"os": system})).meaning
        assert words in meaning
        assert bool(words) == ("registers" in meaning)


def test_a_count_without_a_figure_says_why_and_is_not_drawn_over() -> None:
    shown = views.arguments(procedure_call("-O0", [3, 4, 4, 8], bent=["args2"]))
    assert "Without a figure: args2 (-O0)." in shown.meaning
    row = shown.table.rows[2]
    assert row[1] == "none" and "off the line" in row[-1]
    # From the least to the most, whatever is missing in between.
    assert "one with 3 costs 16 cycles: 3.3 cycles for each argument." in shown.meaning


def test_two_runs_with_the_same_flags_have_different_names() -> None:
    kind = views.arguments(procedure_call("-O0", [3, 4]), procedure_call("-O0", [3, 5])).kind
    assert "-O0, run 1 and -O0, run 2" in kind


def test_a_series_is_named_by_the_level_that_its_flags_ask_for() -> None:
    for flags, name in (("-g -O", "-O1"), ("", "-O0"), ("-g", "-O0"), ("-O2 '", "unknown flags")):
        assert f"for {name}." in views.arguments(procedure_call(flags, [3, 4])).kind


# -- placement


def test_one_cpu_two_cpus_and_what_is_no_switch_stand_apart() -> None:
    bare = switches("bare-mutex", 9, 2000, 3, "thread_switch")
    unpinned = switches("pipe-unpinned", 2000, 0, 1800)
    shown = views.placement(
        switches("pipe-pinned", 1500, 2000, 2003),
        switches("pipe-two-cpus", 12_000, 0, 2000),
        [bare, unpinned],
    )
    where = {row[0].split(", ")[-1]: row[1] for row in shown.table.rows}
    assert where == {
        "pipe-pinned": "on one CPU: a switch",
        "pipe-two-cpus": "on two CPUs: a wake-up of the other CPU",
        "pipe-unpinned": "not pinned: a switch or a wake-up of the other CPU",
        "bare-mutex": "called a switch, but the OS did not count so many",
    }
    assert "8 times the cheapest switch on one CPU" in shown.meaning


def test_placement_has_the_numbers_of_the_results_and_the_proof() -> None:
    run = switches("pipe-pinned", 1500, 2000, 2003)
    ((name, _, value, low, high, claimed, counted),) = views.placement(run).table.rows
    assert name == "pipe-pinned"
    # The digits are those that the interval leaves: whole nanoseconds.
    assert [float(cell.replace(",", "")) for cell in (value, low, high)] == pytest.approx(
        [run.value, *run.interval], abs=0.5
    )
    # Stated once, so that each of the five processes counted the same.
    assert (claimed, counted) == ("10,000", "10,015")


def test_a_convoy_under_the_name_of_a_switch_is_not_among_the_switches() -> None:
    convoy = switches("condvar", 40, 2000, 11, "thread_switch")
    assert "did not count so many" in views.placement(convoy).table.rows[0][1]


def test_tasks_that_were_not_kept_on_one_cpu_are_not_among_the_switches() -> None:
    none = {"cpu.pinning": "none: this system offers no pinning"}
    for seen, where in (
        ({"cpus": "0", "peers_may_use": "0"}, "on one CPU"),
        ({"cpus": "0-1", "peers_may_use": "0"}, "on one CPU"),
        ({"cpus": "0", "peers_may_use": "1"}, "on two CPUs"),
        ({"cpus": "0", "peers_may_use": "0-1"}, "not pinned"),
        ({}, "not pinned"),  # where nothing can be pinned
    ):
        stated = {
            "claimed.switches": "2000",
            "variant.own.switches": "2",
            "variant.own.claimed_switches": "2000",
            "variant.own.counted_switches": "2001",
            **{f"variant.own.{key}": cpus for key, cpus in seen.items()},
            **({} if seen else none),
        }
        run = run_of("own_switch", {"own": 3000.0}, stated)
        ((_, group, *_, claimed, counted),) = views.placement(run).table.rows
        assert group.startswith(where)
        assert (claimed, counted) == ("10,000", "10,005")


def test_the_same_variant_of_two_runs_has_two_rows() -> None:
    one, two = (switches("pipe-pinned", cost, 2000, 2000) for cost in (1500, 1600))
    assert [row[0] for row in views.placement(one, two).table.rows] == [
        "pipe-pinned (1)", "pipe-pinned (2)"
    ]  # fmt: skip


def test_near_costs_have_an_axis_from_zero_and_far_ones_a_logarithmic_one() -> None:
    near = views.placement(
        switches("pipe-pinned", 1500, 9, 9), switches("pipe-in-turn", 1700, 9, 9)
    )
    far = views.placement(switches("pipe-pinned", 1500, 9, 9), switches("pipe-in-turn", 9e4, 9, 9))
    assert near.image != far.image
    assert len(near.table.rows) == len(far.table.rows) == 2


# -- footprint


def test_footprint_names_the_cheapest_ring_only_outside_the_noise() -> None:
    clear = footprint({"alone-0": 500.0, "processes-2-0": 5_000.0, "processes-8-0": 40_000.0})
    assert re.search(r"A switch costs .* among 2 proc.*, and .* among 8", footprint_meaning(clear))
    same = footprint({"alone-0": 500.0, "processes-2-0": 5_000.0, "processes-8-0": 20_000.0})
    said = footprint_meaning(same)
    assert "the cheapest switch is not distinguishable: the difference between" in said
    assert "A switch costs least" not in said and "costs most" not in said


def footprint_meaning(run: Run) -> str:
    """What the view of footprints says of a run."""
    return views.footprint(run).meaning


def test_footprint_is_net_and_touching_alone_stands_beside() -> None:
    run = footprint(RING)
    table = views.footprint(run).table
    assert table.header == (
        "tasks",
        "working set",
        "cost",
        "from",
        "to (95 %)",
        "one task alone: a hop to itself",
    )
    rows = {(row[0], row[1]): row for row in table.rows}
    assert len(rows) == 9
    for (tasks, size), row in rows.items():
        count, kind = tasks.split()
        short = {"0": "0", "64 KiB": "64k", "1 MiB": "1m"}[size]
        net = run.result(f"{kind}-{count}-{short}").estimate
        assert net is not None
        assert float(row[2]) == pytest.approx(net.value / 1000, rel=0.02)
        assert float(row[5]) == pytest.approx(RING[f"alone-{short}"] / 1000, rel=0.02)
    # (24,000 - 8 * 500) / 8 ns
    assert float(rows["8 processes", "0"][2]) == pytest.approx(2.5, rel=0.01)


def test_a_ring_without_a_figure_is_named() -> None:
    shown = views.footprint(footprint(RING, bent=["threads-2-64k"]))
    assert "Without a figure: threads-2-64k." in shown.meaning
    assert ("2 threads", "64 KiB", "none") in [row[:3] for row in shown.table.rows]


def test_one_ring_of_one_size_is_drawn_too() -> None:
    alone = footprint({"alone-0": 500.0, "processes-2-0": 5_000.0})
    assert views.footprint(alone).image.startswith(PNG)


def test_a_later_run_of_the_same_ring_counts() -> None:
    one = footprint({"alone-0": 500.0, "processes-2-0": 5_000.0})
    two = footprint({"alone-0": 500.0, "processes-2-0": 9_000.0})
    ((*_, cost, _, _, _),) = views.footprint(one, two).table.rows
    assert float(cost) == pytest.approx(4.0, rel=0.01)


# -- memory


def test_memory_is_in_megabytes_and_microseconds_as_the_results_are() -> None:
    costs = {"fork-wait": 90e3, "fork-wait-16mb": 600e3, "fork-wait-1gb": 30e6}
    costs |= {"fork": 60e3, "fork-1gb": 20e6}
    runs = {name: run_of("task_creation", {name: cost}) for name, cost in costs.items()}
    shown = views.memory(*runs.values())
    found = {(row[1], row[0]): float(row[2].replace(",", "")) for row in shown.table.rows}
    assert found == pytest.approx(
        {
            ("fork, creation only", "0"): 60,
            ("fork, creation only", "1024"): 20_000,
            ("fork to wait", "0"): 90,
            ("fork to wait", "16"): 600,
            ("fork to wait", "1024"): 30_000,
        },
        rel=0.01,
    )
    each = (30_000 - 90) / 1024
    assert f"{rounded(each, 2)} µs for each MB more" in shown.meaning


def test_a_flat_part_is_not_hidden_by_the_first_and_the_last_size() -> None:
    costs = {"fork-wait": 100e3, "fork-wait-16mb": 2900e3, "fork-wait-64mb": 2900e3}
    runs = [run_of("task_creation", {name: cost}) for name, cost in costs.items()]
    said = views.memory(*runs).meaning
    assert "Between neighbouring sizes it is 0 to 180 µs for each MB more." in said
    assert "Between" not in views.memory(runs[0], runs[2]).meaning


def test_one_cost_between_all_sizes_is_no_range_from_a_number_to_itself() -> None:
    costs = {"fork-wait": 100e3, "fork-wait-16mb": 2100e3, "fork-wait-64mb": 8100e3}
    runs = [run_of("task_creation", {name: cost}) for name, cost in costs.items()]
    said = views.memory(*runs).meaning
    assert "the same between all neighbouring sizes" in said and " to 1" not in said


def test_a_prediction_of_a_size_is_said_beside_what_was_found() -> None:
    runs = [run_of("task_creation", {name: 1e6}) for name in ("fork-wait", "fork-wait-64mb")]
    assert "prediction" not in views.memory(*runs).meaning
    guessed = replace(runs[1], predictions={"fork-wait-64mb": Mark(1.2, "ms")})
    said = views.memory(runs[0], guessed).meaning
    assert said.endswith(" Your prediction for fork-wait-64mb: 1,200 µs.")


def test_a_prediction_is_drawn_at_its_size_and_the_axis_reaches_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Axes] = []
    draw = inspect.unwrap(views.memory).__globals__["_draw_guesses"]

    def remember(axes: Axes, guesses: Sequence[tuple[float, float]]) -> None:
        drawn.append(axes)
        draw(axes, guesses)

    monkeypatch.setitem(inspect.unwrap(views.memory).__globals__, "_draw_guesses", remember)
    runs = [run_of("task_creation", {name: 1e6}) for name in ("fork-wait", "fork-wait-64mb")]
    views.memory(runs[0], replace(runs[1], predictions={"fork-wait-64mb": Mark(2.5, "ms")}))
    views.memory(runs[0], replace(runs[1], predictions={"fork-wait-64mb": Mark(1, "s")}))
    marked, unmarked = (
        [np.asarray(line.get_xydata()).tolist() for line in axes.lines] for axes in drawn
    )
    assert [64.0, 2500.0] in marked[-1]
    assert [64.0, 2500.0] not in [point for line in unmarked for point in line]
    assert drawn[0].get_ylim()[1] > 2500 > drawn[1].get_ylim()[1]  # a far guess flattens nothing


def test_where_the_recordings_say_how_much_is_resident_that_is_on_the_axis() -> None:
    sizes = {"fork-wait": ("1792", 90e3), "fork-wait-64mb": ("67328", 2e6)}
    shown = views.memory(
        [
            run_of("task_creation", {name: cost}, {"memory.resident_kb": held})
            for name, (held, cost) in sizes.items()
        ]
    )
    assert [row[0] for row in shown.table.rows] == ["1.75", "65.8"]
    assert "against the resident memory of the parent, from 1.75 to 65.8 megabytes" in shown.kind


@pytest.mark.parametrize(("largest", "axis"), [("64mb", "linear"), ("1gb", "logarithmic")])
def test_small_sizes_are_on_linear_axes_where_a_cost_for_each_page_is_straight(
    largest: str, axis: str
) -> None:
    costs = {"fork-wait": 90e3, "fork-wait-16mb": 600e3, f"fork-wait-{largest}": 30e6}
    shown = views.memory([run_of("task_creation", {name: cost}) for name, cost in costs.items()])
    assert f"on a {axis} axis" in shown.kind


def test_an_operation_with_one_size_alone_is_left_out() -> None:
    costs = {"fork": 60e3, "fork-wait": 90e3, "fork-wait-16mb": 600e3}
    shown = views.memory([run_of("task_creation", {name: cost}) for name, cost in costs.items()])
    assert {row[1] for row in shown.table.rows} == {"fork to wait"}


def test_one_size_of_memory_makes_no_view() -> None:
    with pytest.raises(Refused, match="two or more sizes"):
        views.memory(run_of("task_creation", {"fork-wait": 90e3}))


# -- among the published


def test_every_published_figure_is_in_the_table_and_the_suspect_ones_say_why() -> None:
    run = switches("pipe-pinned", 1500, 2000, 2003)
    shown = views.among_published(run, "process switch")
    own, *rows = shown.table.rows
    assert own[0] == "yours" and float(own[3].replace(",", "")) == pytest.approx(
        run.value, rel=0.01
    )
    settled = published.settled(published.figures("process switch"))
    alike = [
        list(some)
        for _, some in itertools.groupby(
            settled, key=lambda each: (each.report, each.quantity, each.machine, each.suspect)
        )
    ]
    assert len(rows) == len(alike) and max(map(len, alike)) == 8
    above = None
    for row, some in zip(rows, alike, strict=True):
        each = some[0]
        many = f" ({len(some)} figures)" if len(some) > 1 else ""
        assert row[:3] == (each.report, f"{each.quantity}{many}", each.machine)
        repeated = above == each.suspect != ""
        why = each.suspect or "nothing known against it"
        assert row[-1] == ("the same as in the row above" if repeated else why)
        above = each.suspect
        in_ns = [each.value * (1000 if each.unit == "us" else 1) for each in some]
        ends = [float(end.replace(",", "")) for end in row[3].split(" to ")]
        for end, value in zip((ends[0], ends[-1]), (min(in_ns), max(in_ns)), strict=True):
            assert end == pytest.approx(value, rel=0.001)
    suspect = sum(bool(each.suspicions) for each in settled)
    assert f"{suspect} of the {len(settled)} published figures are known" in shown.meaning


def test_a_run_in_core_cycles_stands_among_figures_in_cycles() -> None:
    run = switches("pipe-pinned", 1500, 2000, 2003).in_unit("cycles")
    shown = views.among_published(run, "process switch", report="C")
    assert [row[3] for row in shown.table.rows[1:]] == ["1700"]
    assert "core cycles" in shown.kind


def test_core_cycles_next_to_ticks_are_called_two_units() -> None:
    """Ticks and times are fair neighbours of report A's; core cycles are none of its units."""
    run = run_of("timer_overhead", {"fenced": 60})
    for unit, said in (("cycles", True), ("ticks", False), ("ns", False)):
        shown = views.among_published(run.in_unit(unit), "timer overhead", "A")
        assert ("these are two units" in shown.meaning) is said
        assert ("converted its ticks" in shown.meaning) is (unit == "ns")
    of_no_counter = switches("pipe-pinned", 1500, 2000, 2003).in_unit("cycles")
    shown = views.among_published(of_no_counter, "process switch", report="C")
    assert "these are two units" not in shown.meaning
    shown = views.among_published(of_no_counter.in_unit("ns"), "process switch", report="D")
    assert "converted" not in shown.meaning


def test_one_report_alone_can_be_shown() -> None:
    run = switches("pipe-pinned", 1500, 2000, 2003)
    shown = views.among_published(run, "process switch", report="D")
    assert {row[0] for row in shown.table.rows} == {"yours", "D"}


@pytest.mark.parametrize(
    "quantity", sorted({each.quantity for each in published.figures()} | {"procedure call"})
)
def test_every_published_quantity_can_be_shown(quantity: str) -> None:
    run = run_of("system_call", {"getpid": 60})
    assert views.among_published(run, quantity).image.startswith(b"<svg")


def test_one_variant_alone_can_be_set_among_the_published() -> None:
    run = run_of("system_call", {"getpid": 60, "getppid": 70})
    shown = views.among_published(run, "system call", variant="getppid")
    assert [row[1] for row in shown.table.rows if row[0] == "yours"] == ["system_call getppid"]
    assert "getpid " not in shown.meaning
    with pytest.raises(Refused, match="no variant 'absent'"):
        views.among_published(run, "system call", variant="absent")


def test_a_quantity_that_nobody_published_is_refused_with_what_there_is() -> None:
    run = run_of("system_call", {"getpid": 60})
    with pytest.raises(Refused, match="process switch pipe"):
        views.among_published(run, "interrupt latency")


# -- from cold to warm


def cold(name: str, first: float, later: float, processes: int = 6) -> Run:
    """The n-th sample of every process takes `later`, the first one `first`."""
    each = 40
    ticks = np.tile([first, *[later] * (each - 1)], processes) + np.arange(processes * each) % 3
    stated = {
        f"variant.{name}.first": "1", f"clock.{name}.frequency_hz": "1e9", f"clock.{name}.step": "1"
    }  # fmt: skip
    columns = (
        np.zeros(len(ticks)), np.repeat(np.arange(processes), each),
        np.tile(np.arange(each), processes), np.ones(len(ticks)), ticks,
    )  # fmt: skip
    made = Recording(
        "first_iteration", MappingProxyType(stated), tuple({} for _ in range(processes)), (name,),
        *(column.astype(np.int64) for column in columns),
    )  # fmt: skip
    return Run.of(as_declared(made))


def test_from_cold_to_warm_tells_the_first_time_the_second_and_the_later_ones() -> None:
    shown = views.cold_to_warm(cold("call", 5000, 30), cold("system-call", 900, 200))
    assert (
        "call takes 5,000 ns the first time, 31 ns the second, and 31 ns later on" in shown.meaning
    )
    first = {row[1]: row[2] for row in shown.table.rows if row[0] == "1"}
    assert first == {"call": "5,000", "system-call": "901"}
    assert [row[0] for row in shown.table.rows if row[1] == "call"][:5] == ["1", "2", "3", "4", "6"]


def test_samples_taken_after_a_warm_up_are_not_called_cold() -> None:
    with pytest.raises(Refused, match="this run of first_iteration has none"):
        views.cold_to_warm(run_of("first_iteration", {"page-fault": 60}))


# -- what is no run, or of something else


@pytest.mark.parametrize(
    "view",
    [views.arguments, views.placement, views.footprint, views.memory, views.cold_to_warm],
    ids=lambda v: v.__name__,
)
def test_nothing_something_else_and_other_runs_are_refused_in_plain_words(view: object) -> None:
    assert callable(view)
    other = run_of("system_call", {"getpid": 60})
    for arguments, words in (
        ((), "no run to show"),
        ((None,), "no run to show"),
        (([],), "no run to show"),
        (("pipe-pinned",), "this is a str"),
        ((other.recording,), "this is a Recording"),
        ((other,), "system_call"),
    ):
        with pytest.raises(Refused, match=words):
            view(*arguments)


def test_runs_without_any_figure_are_refused_with_the_reasons() -> None:
    bent = procedure_call("-O0", [3, 4], bent=["args0", "args1"])
    with pytest.raises(Refused, match=r"args1: at k = .* off the line"):
        views.arguments(bent)
    run = run_of(
        "process_switch", {"pipe-pinned": 9.0}, {"claimed.switches": "9"}, bent=["pipe-pinned"]
    )
    for show in (views.placement, lambda r: views.among_published(r, "process switch")):
        with pytest.raises(Refused, match="no figure to draw"):
            show(run)


def test_the_variants_of_another_c_kernel_of_the_same_name_are_named() -> None:
    with pytest.raises(Refused, match="it has inlined, plt"):
        views.arguments(run_of("procedure_call", {"inlined": 3.0, "plt": 4.0}))
    with pytest.raises(Refused, match="a line needs two argument counts"):
        views.arguments(run_of("procedure_call", {"args6": 3.0}))


# -- a run's own plots


def test_names_are_moved_apart_as_little_as_needed() -> None:
    for heights in (
        [0.5],
        [0.1, 0.5, 0.9],
        [0.5, 0.5, 0.5],
        [0.1, 0.11, 0.12, 0.13, 0.9],
        [0.0, 0.04, 0.9, 0.91],
    ):
        moved = spread_out(heights, 0.06)
        assert all(b - a >= 0.06 - 1e-9 for a, b in itertools.pairwise(moved)), heights
        assert sum(moved) == pytest.approx(sum(heights)), "moved up as much as down"
        if all(b - a >= 0.06 for a, b in itertools.pairwise(heights)):
            assert moved == pytest.approx(heights)


# Views that are tables or text: what they say is what the runs, the compiler and strace gave.


HONEST = REPOSITORY / "tests/fixtures/honest"


def saved(lab: str, name: str) -> Run:
    return Run.of(file.read(HONEST / lab / "recordings" / f"{name}.csv"))


@pytest.fixture(scope="module")
def calls() -> Run:
    return saved("03-system-call", "calls")


@pytest.fixture(scope="module")
def levels() -> tuple[Run, Run]:
    return saved("04-procedure-call", "o0"), saved("04-procedure-call", "o2")


# ------------------------------------------------------------------------------- numbers of runs


def test_the_parts_are_the_round_the_loop_and_their_difference(calls: Run) -> None:
    shown = views.parts(calls, calls["invalid"].in_unit("us"))
    assert shown.caption == "The parts of a figure, in nanoseconds and microseconds"
    name, *numbers = shown.rows[0]
    whole, loop, net = map(float, numbers)
    assert name == "system_call getppid"
    assert whole - loop == pytest.approx(net, rel=0.01)
    assert net == pytest.approx(calls.value, rel=0.01)
    with pytest.raises(Refused, match="has no parts"):
        views.parts(calls["loop"])


def test_the_parts_say_where_the_net_is_not_the_difference_of_the_other_two(calls: Run) -> None:
    for factor, said in ((1.0, False), (100.0, True)):
        first, *others = calls.results
        assert first.net is not None and first.net.baseline is not None, factor
        net = replace(first.net, baseline=first.net.baseline.times(factor))
        run = replace(calls, results=(replace(first, net=net), *others))
        assert ("Here 'net' is not" in views.parts(run).caption) == said


def test_the_lengths_are_all_samples_and_the_most_frequent_have_a_row() -> None:
    naive = saved("04-procedure-call", "broken-one_call")
    found = views.lengths(naive)
    samples = naive.recording.samples("args0")
    assert sorted(found.ticks) == sorted(samples.ticks.tolist())
    assert found.empty == naive.recording.number("counter.overhead")
    assert found.cycle == samples.clock.core_cycle_ticks
    rows = found.table().rows
    assert sum(int(row[2].replace(",", "")) for row in rows) == len(found.ticks)
    shown = [int(row[0].split()[0]) for row in rows if row[0].endswith("ticks")]
    assert shown == sorted(shown) and len(shown) <= 8
    least = min(found.ticks.count(ticks) for ticks in shown)
    others = set(found.ticks) - set(shown)
    assert all(found.ticks.count(ticks) <= least for ticks in others)
    assert "An empty sample takes" in repr(found)


def test_a_step_is_marked_where_the_comparison_finds_a_difference(levels: tuple[Run, Run]) -> None:
    shown = views.steps(*levels)
    assert shown.header == ("arguments", "-O0", "-O2")
    assert len(shown.rows) == 12
    marked = 0
    for n, row in enumerate(shown.rows):
        for run, cell in zip(levels, row[1:], strict=True):
            more, less = run.in_unit("cycles")[f"args{n + 1}"], run.in_unit("cycles")[f"args{n}"]
            found = compare(more, less, 1.0)
            assert cell.startswith(fixed(found.difference, 2, signed=True))
            assert ("*" in cell) == found.distinguishable
            assert ("2 modes" in cell) == any("two modes" in each for each in found.modes)
            marked += "*" in cell
    assert 0 < marked < 24


def test_without_two_neighbours_there_is_no_step(calls: Run) -> None:
    with pytest.raises(Refused, match="no run has two neighbours"):
        views.steps(calls)


def test_a_comparison_with_an_earlier_run_says_so(calls: Run) -> None:
    failed = Run(calls.recording, calls.results, later=Later("it did not compile"))
    assert "(it did not compile)" in repr(compare(failed, calls["invalid"], 1.0))
    assert "earlier run" not in repr(compare(calls, calls["invalid"], 1.0))


def test_a_view_of_an_earlier_run_says_so(calls: Run, levels: tuple[Run, Run]) -> None:
    failed = Run(calls.recording, calls.results, later=Later("it did not compile"))
    said = f"{calls.variant}: this is the earlier run; a later one"
    assert said in repr(views.parts(failed)) and "earlier run" not in repr(views.parts(calls))
    drawn, again = (views.among_published(each, "system call") for each in (failed, calls))
    assert said in repr(drawn) and said in drawn._repr_html_() and "earlier run" not in repr(again)
    old, new = levels
    failed = Run(old.recording, old.results, later=Later("it did not compile"))
    assert repr(views.steps(failed, new)).count("this is the earlier run") == 1


# ------------------------------------------------------------------------ what a report printed


def test_a_report_is_shown_as_printed() -> None:
    calls = published.as_printed("procedure call", "A", "cycles")
    assert calls.header[1:] == tuple(f"{n} args" for n in range(6))
    assert len(calls.rows) == 4
    assert calls.rows[1][1:3] == ("5.46", "7.5")
    clock = published.as_printed("system call", "B", "ns")
    assert [row[0] for row in clock.rows] == ["run 1", "run 2", "run 3"]
    with pytest.raises(KeyError, match="in another unit than cycles"):
        published.as_printed("system call", "B", "cycles")


# ------------------------------------------------------------------------------ compiler, strace


@LINUX
def test_the_machine_code_is_that_of_the_function_at_each_level() -> None:
    shown = views.machine_code("procedure_call", "args12", flags=("-O0", "-O2"))
    (first, slow), (second, fast) = shown.pieces
    assert "-O0" in first and "-O2" in second
    assert len(slow.splitlines()) > len(fast.splitlines()) >= 1
    assert "```text" in shown._repr_markdown_() and first in repr(shown)


@LINUX
def test_an_inlined_function_is_named_with_the_reason(tmp_path: Path) -> None:
    own = tmp_path / "own.c"
    own.write_text("static int one(int x) { return x + 1; }\nint main(int n) { return one(n); }\n")
    (title, code), *_ = views.machine_code(str(own), "one").pieces
    assert "own.c" in title and "perhaps it was inlined" in code


@LINUX
def test_another_level_than_that_of_the_run_is_named(tmp_path: Path) -> None:
    own = tmp_path / "own.c"
    own.write_text("int main(void) { return 0; }\n")
    o0 = HONEST / "04-procedure-call/recordings/o0.csv"
    own.with_suffix(".csv").write_bytes(o0.read_bytes())
    pieces = views.machine_code(str(own), "main", flags=("-O0", "-O2")).pieces
    assert ["its run was compiled with `-O0`" in title for title, _ in pieces] == [False, True]


def test_only_what_leaves_the_function_is_kept() -> None:
    code = "10: mov %rax,%rbx\n11: syscall\n12: jle 10 <f>\n13: call 20 <g>\n14: bl g\n15: ret"
    left = only_leaving(code).splitlines()
    assert [line[:2] for line in left] == ["11", "13", "14"]
    assert only_leaving("1: nop") == "(this function contains no call and no trap)"


@pytest.mark.parametrize(
    ("kernel", "function", "flags"),
    [("no_such_kernel", "f", "-O2"), ("absent.c", "f", "-O2"), ("procedure_call", 5, "-O2")],
)
def test_what_has_no_machine_code_is_refused(kernel: str, function: Any, flags: str) -> None:
    with pytest.raises(Refused):
        views.machine_code(kernel, function, flags=flags)


def test_calls_are_counted_by_their_name() -> None:
    trace = "getppid() = 1\nread(3, 0, 0) = 0\npread64(3) = 0\ngetppid() = 1\n+++ exited +++"
    assert [calls_in(trace, name) for name in ("getppid", "read", "sync")] == [2, 1, 0]


@LINUX
def test_the_rounds_stand_next_to_the_counted_calls() -> None:
    for wrong in ((), ("absent",)):
        with pytest.raises(Refused):
            views.counted_calls(*wrong)
    shown = views.counted_calls("getppid", "gettimeofday-vdso", "invalid")
    if shown is None:
        pytest.skip("nothing can be traced here")
    assert [row[:2] for row in shown.rows] == [
        (name, "1,000") for name in ("getppid", "gettimeofday-vdso", "invalid")
    ]
    for _, _, _, calls in (shown.rows[0], shown.rows[2]):
        assert 1_000 <= int(calls.replace(",", "")) < 2_000


# Views of rings of tasks: printed parts give the figure, and nothing is said without a run.


RECORDINGS = REPOSITORY / "tests/fixtures/honest/07-switch-footprint/recordings"


def of_rings(name: str, *variants: str) -> Run:
    return Run.of(file.read(RECORDINGS / f"{name}.csv"), variants, unit="us")


@pytest.fixture(scope="module")
def kinds() -> Run:
    return of_rings("kinds", "processes-8-256k", "processes-8-0", "threads-8-256k", "threads-8-0")


def test_the_subtraction_comes_out_from_the_printed_parts() -> None:
    run = of_rings("naive", "processes-8-256k", "processes-8-0")
    for name, tasks, once_round, hop, alone in views.hops(run).rows:
        assert float(hop) == pytest.approx(float(once_round) / int(tasks), rel=1e-3)
        switch = (float(once_round) - int(tasks) * float(alone)) / int(tasks)
        assert switch == pytest.approx(run[name].value, rel=1e-3)


def test_two_rings_that_differ_in_more_than_the_memory_are_told() -> None:
    told = views.hops(of_rings("naive", "processes-8-256k", "processes-8-0")).caption
    assert told.endswith("The two rings differ in: the set")
    mixed = views.hops(of_rings("kinds", "processes-8-256k", "threads-8-0")).caption
    assert mixed.endswith("The two rings differ in: the address space, the set")


def test_sets_add_only_what_is_more_than_chance() -> None:
    run = of_rings("sizes")
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
    (row,) = views.set_sizes(of_rings("sizes", "processes-8-64k")).rows
    assert row[-1] == "unknown: measure processes-8-0 in the same run"


def test_claimed_and_counted_switches_are_those_of_the_recording(kinds: Run) -> None:
    rows = views.ring_switches(kinds).rows
    assert rows[0] == ("processes-8-256k", "4,378", "4,357", "99.5 %", "0")
    assert len(rows) == 4
    with pytest.raises(Refused, match="no switches to count"):
        views.ring_switches(of_rings("kinds", "alone-0"))


def test_differences_have_their_intervals_and_names(kinds: Run) -> None:
    added = compare(kinds["threads-8-256k"], kinds["threads-8-0"], 1.0)
    (row,) = views.differences(set_for_threads=added).rows
    assert row[:3] == ("set for threads", "threads-8-256k", "threads-8-0")
    assert float(row[4]) < float(row[3]) < float(row[5])
    same = compare(kinds["threads-8-0"], of_rings("own", "own-0"), 1.0)
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
    run = of_rings("own", "own-256k")
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


def test_what_a_c_did_with_its_set_is_said_in_words() -> None:
    for tried, used, cycles, words in (
        (4096, 0, 2.0, "used none of the lines"),
        (4096, 4096, 2.0, "used every line"),
        (4096, 4096, 66.0, "used every line, but takes too long for one byte of each"),
        (None, None, 0.1, "read nothing"),
        (None, None, 0.3, "took enough time"),
    ):
        assert rings.verdict(tried, used, cycles).startswith(words)


def test_a_view_of_rings_refuses_other_runs_in_plain_words(kinds: Run) -> None:
    own = of_rings("own", "own-256k")
    for view in (views.hops, views.set_sizes):
        with pytest.raises(Refused, match="switch_footprint"):
            view(own)
        with pytest.raises(Refused, match="no ring"):
            view(of_rings("kinds", "alone-256k"))
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


# The views that are tables: what the OS counted, and what strace prints.


def creation(name: str) -> Run:
    return saved("05-task-creation", name)


def switch(name: str) -> Run:
    return saved("06-process-and-thread-switch", name)


# -- what the OS counted


def test_a_task_of_its_own_memory_is_seen_by_its_counts() -> None:
    table = views.created_tasks(creation("naive"), "number seen", "page faults")
    assert table.rows == (
        ("own", "1,000", "0 of 1,000", "5"),
        ("fork", "1,005", "counted for own only", "17.6"),
    )
    (own, _) = views.created_tasks(creation("own"), "page faults", "number seen").rows
    assert own == ("own", "996", "0", "996 of 996")


def test_a_parent_that_slept_is_counted_where_the_run_tried_it(tmp_path: Path) -> None:
    counts = ("number seen", "parent slept")
    assert len(views.created_tasks(creation("own"), *counts).header) == 3
    honest = HONEST / "05-task-creation" / "recordings" / "own.csv"
    tried = "# variant.own.tried: 1\n# variant.own.parent_slept: 1\n# variants:"
    (tmp_path / "own.csv").write_text(honest.read_text("utf-8").replace("# variants:", tried))
    run = Run.of(file.read(tmp_path / "own.csv"))
    own, fork = views.created_tasks(run, *counts).rows
    assert own[-1] == "10 of 10" and fork[-1] == "counted for own only"


def test_a_count_of_the_exercise_is_not_counted_elsewhere_and_the_table_says_so() -> None:
    rows = views.created_tasks(creation("kinds"), "parent slept", "number seen").rows
    assert {row[2:] for row in rows} == {("not counted", "not counted")}


def test_switches_of_child_processes_distinguish_a_thread_from_a_vfork_child() -> None:
    kinds = creation("kinds")
    rows = {row[0]: row[2:] for row in views.created_tasks(kinds, "page faults", "switches").rows}
    assert rows == {
        "fork-wait": ("17.9", "1"),
        "vfork-wait": ("0", "2"),
        "pthread-wait": ("0", "0"),
    }


def test_a_table_of_counts_keeps_the_warnings_that_concern_counts() -> None:
    recording = creation("kinds").recording
    odd = np.arange(len(recording)) % 2  # a cost that no line shows, in every second sample
    disturbed = replace(
        recording,
        ticks=recording.ticks * (1 + 9 * odd),
        conditions={**recording.conditions, "cpu.asked": "1", "cpu.after": "0"},
    )
    run = Run.of(disturbed)
    said = " ".join(run.compare().warnings)
    assert "too wide to use" in said and "pinned to CPU 1" in said
    kept = views.created_tasks(run, "switches").warnings
    assert len(kept) == 1 and "pinned to CPU 1" in kept[0]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((), "name one count or more"),
        (("page fault",), "did you mean page faults?"),
        (("threads",), "there is no count 'threads'\nThe counts are"),
    ],
)
def test_an_unknown_count_is_refused_and_the_known_ones_are_named(
    counts: tuple[str, ...], said: str
) -> None:
    with pytest.raises(Refused, match=said.replace("?", r"\?")) as refused:
        views.created_tasks(creation("kinds"), *counts)
    assert '"number seen"' in str(refused.value)


def test_a_run_that_created_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="created no task"):
        views.created_tasks(switch("naive"), "switches")


def test_switches_are_shown_as_claimed_and_as_counted() -> None:
    table = views.switches(switch("naive"), switch("threads")["pipe"], switch("floor"))
    naive, pipe, floor = table.rows
    assert naive[-3:] == ("581,500, 2 for each operation", "34", "34 of 290,750")
    assert pipe[0] == "thread_switch pipe" and pipe[-1] == "2.03"
    assert floor[2:] == ("none, or not counted here", "", "")


def test_who_went_on_without_being_woken_is_told_where_it_was_tried(tmp_path: Path) -> None:
    without = views.switches(switch("own"))
    assert "went on without being woken" not in without.header
    honest = HONEST / "06-process-and-thread-switch" / "recordings" / "own.csv"
    tried = "# variant.own.turns_tried: 1\n# variant.own.turns_unwoken: 1\n# variants:"
    (tmp_path / "own.csv").write_text(honest.read_text("utf-8").replace("# variants:", tried))
    run = Run.of(file.read(tmp_path / "own.csv"))
    assert views.switches(run).rows[0][-1] == "in 10 of 10 processes"


# -- strace

CAN_TRACE = pytest.mark.skipif(
    shutil.which("strace") is None
    or subprocess.run(["strace", "-q", "-o", "/dev/null", "true"], check=False).returncode != 0,
    reason="no program can be traced here",
)


@LINUX
@CAN_TRACE
def test_only_the_thread_is_put_into_the_process_of_its_creator() -> None:
    table = views.traced_creation("pthread-wait", "clone-vm-wait", "fork-wait")
    assert table is not None
    thread, shares, fork = (row[2].split(" | ") for row in table.rows)
    assert "CLONE_VM" in thread and "CLONE_THREAD" in thread
    assert "CLONE_VM" in shares and "CLONE_THREAD" not in shares
    assert "CLONE_VM" not in fork
    assert [row[3:] for row in table.rows] == [
        ("shared", "the same"),
        ("shared", "another process"),
        ("not shared: it has its own", "another process"),
    ]


@LINUX
@CAN_TRACE
def test_a_handoff_enters_the_kernel_and_a_bare_mutex_does_not() -> None:
    table = views.traced_calls("futex", "thread_switch", "bare-mutex", "condvar", samples=20)
    assert table is not None
    bare, condvar = (float(row[3]) for row in table.rows)
    assert bare < 1 < condvar


@LINUX
@CAN_TRACE
@pytest.mark.parametrize(
    ("call", "kernel", "variant", "said"),
    [
        ("futexx", "thread_switch", "condvar", "invalid system call 'futexx'"),
        ("futex", "thread_switch", "condvr", "no such variant"),
        ("futex", "thread_swich", "condvar", "no C kernel 'thread_swich'"),
    ],
)
def test_a_wrong_name_is_refused(call: str, kernel: str, variant: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        views.traced_calls(call, kernel, variant)


def test_where_nothing_can_be_traced_a_note_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("strace")

    monkeypatch.setattr(paths, "run", missing)
    monkeypatch.setattr(toolchain, "build", lambda *_: type("B", (), {"path": Path("x")}))
    assert views.traced_creation("fork-wait") is None
    assert "strace is not installed" in capsys.readouterr().out


def test_no_variant_to_trace_is_refused() -> None:
    with pytest.raises(Refused, match="name the variants"):
        views.traced_creation()


# Views that show a line as numbers, machine code, and system calls: what they say is so.


TIMERS = FIXTURES / "honest" / "01-timer-overhead" / "recordings"


def of_timer(name: str) -> Run:
    return Run.of(file.read(TIMERS / f"{name}.csv"))


@pytest.fixture(scope="module")
def fenced() -> Run:
    return of_timer("fenced")


def numbers(table: Table, column: int) -> list[float]:
    return [float(row[column].rstrip(" %")) for row in table.rows]


def test_mean_samples_are_those_of_the_line_in_the_unit_of_the_run(fenced: Run) -> None:
    means = views.mean_samples(fenced)
    assert list(means) == [0, 64, 128, 256, 512]
    line = fenced.result().line
    assert line is not None
    per_ns = line.clock.ticks_in("ns")
    assert means[512] == pytest.approx(line.location[-1] / per_ns)
    ticks = views.mean_samples(fenced.in_unit("ticks"))
    assert ticks[64] == pytest.approx(means[64] * per_ns)


def test_a_right_constant_leaves_nothing_missing_and_no_constant_repairs_an_early_clock(
    fenced: Run,
) -> None:
    overhead = fenced.in_unit("cycles").value
    assert max(map(abs, numbers(views.after_subtracting(fenced, overhead), 4))) <= 3
    early = of_timer("naive")
    for constant in (28.5, views.mean_samples(early.in_unit("cycles"))[0], 0.0):
        missing = numbers(views.after_subtracting(early, constant), 4)
        assert max(missing) - min(missing) > 20


def test_a_slip_in_the_line_is_seen_at_the_points(fenced: Run) -> None:
    for slip, off in (((0.0, 0.0), 1.0), ((30.0, 0.0), 70.0), ((0.0, 1.0), 90.0)):
        means = views.mean_samples(fenced)
        cost = (means[512] - means[64]) / (512 - 64)
        table = views.your_line(fenced, means[64] - 64 * cost + slip[0], cost + slip[1])
        worst = max(map(abs, numbers(table, 3)))
        assert worst <= off if slip == (0.0, 0.0) else worst >= off
        assert "the kit's line through all points begins at" in table.caption, slip


def test_the_line_of_a_clock_that_is_early_is_not_praised() -> None:
    early = of_timer("naive")
    assert "the kit draws no line" in views.your_line(early, 1.0, 1.0).caption


@pytest.mark.parametrize("step", [2, 20])
def test_the_plot_and_the_warning_say_the_same_of_the_point_farthest_off(step: int) -> None:
    """Also where a step of the clock is longer than a mean sample."""
    bent = Clocked(1.0, 0.05, step=step, straight=False)
    run = Run.of(recording({"unfenced": bent}))
    share = run.warnings[0].symptom.partition(" off the line")[0].rpartition(" lies ")[2]
    assert share.endswith("%") and f"the mean is {share} off the line" in run.plot_line().meaning


@pytest.mark.parametrize("number", ["1", None, True, float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: object, fenced: Run) -> None:
    with pytest.raises(Refused, match="must be a number"):
        views.after_subtracting(fenced, number)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="must be a number"):
        views.your_line(fenced, 1.0, number)  # type: ignore[arg-type]


ADDITIONS = "   9: add %rax,%rax\n" * 20


def test_code_is_parted_at_the_additions() -> None:
    before, work, after = parted(
        f"   1: rdtsc\n   2: add %rbx,%rax\n   3: mov\n{ADDITIONS}   4: ret"
    )
    assert before.count("\n") == 3
    assert work == ADDITIONS
    assert after.strip() == "4: ret"
    assert parted("   1: ret")[1] == ""


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump shows machine code")
def test_an_instruction_is_counted_before_and_after_the_additions() -> None:
    both = ["unfenced_64", "fenced_64"]
    shown = views.instruction("timer_overhead", both, "add")
    assert shown.excerpt.count("... the additions ...") == 2
    assert all("nowhere" in sentence for sentence in shown.sentences), "the row itself is left out"
    shown = views.instruction("timer_overhead", both, " RET ")
    assert [sentence.split(",")[0] for sentence in shown.sentences] == [f"In {n}" for n in both]
    assert all("ret comes after the second reading" in sentence for sentence in shown.sentences)
    assert shown.heading.startswith("none has ret from the additions to the second reading")
    if platform.machine() == "x86_64":
        shown = views.instruction("timer_overhead", both, "lfence")
        (bare, fenced) = shown.sentences
        assert bare == "In unfenced_64, lfence occurs nowhere."
        assert fenced == (
            "In fenced_64, lfence occurs 2 times before the additions, and then comes after the "
            "second reading, rdtscp: the reading cannot wait for what comes after it."
        )
        assert shown.heading.startswith("none has lfence")
        fenced = views.instruction("timer_overhead", both, "rdtscp").sentences[1]
        assert fenced == "In fenced_64, rdtscp occurs once after the additions."
        for functions, named, words in (
            (both, "rdtscp", "only fenced_64 has rdtscp from the additions to the second reading"),
            (both, "rdtsc", "only unfenced_64 has rdtsc"),
            ([both[1], "fenced_128"], "rdtscp", "each has rdtscp"),
        ):
            assert views.instruction("timer_overhead", functions, named).heading.startswith(words)
    (unknown,) = views.instruction("timer_overhead", ["no_such"], "ret").sentences
    assert "no_such" in unknown
    for wrong in ("", "two words", "1"):
        with pytest.raises(Refused, match="not the name of an instruction"):
            views.instruction("timer_overhead", both, wrong)


def test_the_summary_of_strace_is_added_up() -> None:
    summary = (
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ------------------\n"
        " 98.59    0.008056           3      2401           clock_gettime\n"
        "  0.09    0.000007           7         1         1 ioctl\n"
        "------ ----------- ----------- --------- --------- ------------------\n"
        "100.00    0.008171           3      2402         1 total\n"
    )
    assert calls_of_summary(summary) == 2402
    assert calls_of_summary("") == 0


def test_each_sample_of_a_clock_that_is_a_system_call_makes_two_calls() -> None:
    # How often the step of a clock is read depends on time, so a few calls more or less remain.
    found = views.system_calls("timer_overhead", "process-cpu, fenced", "clock_gettime", 400)
    if isinstance(found, Message):
        pytest.skip(f"strace does not count here: {found.sentences}")
    assert [float(row[3]) for row in found.rows] == pytest.approx([2, 0], abs=0.1)


def test_where_strace_cannot_count_a_note_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("strace") is not None:
        with pytest.raises(Refused):
            views.system_calls("timer_overhead", "no-such-clock")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "labs.c_kernels.toolchain.build", lambda source, *_: type("B", (), {"path": source})
    )
    missing = views.system_calls("timer_overhead", "fenced")
    assert isinstance(missing, Message) and "not installed" in missing.sentences[0]
    with pytest.raises(Refused):
        views.system_calls("no_such_kernel", "fenced")


# Views of first calls: a sum of causes, the page faults that the OS counted, and look-ups.


FIRST_TIMES = FIXTURES / "honest" / "02-first-iteration" / "recordings"


def of_first_times(name: str) -> Run:
    return Run.of(file.read(FIRST_TIMES / f"{name}.csv"))


def test_page_faults_are_those_that_the_os_counted() -> None:
    broken, repaired = (
        of_first_times("broken-miss_with_its_page"),
        of_first_times("repaired-miss_with_its_page"),
    )
    table = views.page_faults([broken, repaired], expected=1)
    assert [row[3] for row in table.rows] == ["1.00", "0.00"]
    assert table.rows[0][1] == f"{int(broken.recording.batch.sum()):,}"
    assert "you expected 1 " in table.caption
    assert table.caption.endswith(", about as many")
    assert views.page_faults([broken, repaired], expected=0).caption.endswith("counted 1.00")


#: The page faults in `bring` and `own` of a loop over 720 pages each, by what the loop does.
OF_LOOPS = {"right": (720, 0), "empty": (0, 720), "without the last page": (680, 40)}


@pytest.mark.parametrize("loop", OF_LOOPS)
def test_each_variant_that_is_counted_by_itself_has_its_row(loop: str) -> None:
    brought, left = OF_LOOPS[loop]
    own = Run.of(own_pages(brought, left), ("bring", "own"))
    table = views.page_faults(own["own"], 0)
    assert [row[:3] for row in table.rows] == [
        ("own", "720", f"{left}"),
        ("bring", "720", f"{brought}"),
    ]
    assert "for the own run you expected 0 " in table.caption
    assert table.caption.endswith(", about as many") is (loop == "right")
    # Where the student expects one page fault for each page, another loop is right.
    table = views.page_faults(own["own"], 1)
    assert table.caption.endswith(", about as many") is (loop == "empty")


def test_why_a_write_costs_more_after_a_read_alone_is_told() -> None:
    why = "replace the shared page of zeros"
    for later, there, told in ((720, 720, True), (0, 720, False), (720, 0, False)):
        own = own_pages(720, 720 if told else 0)
        counts = {"later_faults": f"{later}", "there": f"{there}"}
        stated = {f"variant.bring.{key}": n for key, n in counts.items()}
        own = replace(own, conditions={**own.conditions, **stated})
        table = views.page_faults(Run.of(own, ("bring", "own"))["own"], 0)
        assert (why in table.caption) is told


def own_pages(brought: int, left: int) -> Recording:
    """The counts of 40 samples of 18 pages each, in each of the two variants."""
    counts = {"touched": 720, "later_faults": 0}
    stated = {f"variant.{v}.{key}": str(n) for v in ("bring", "own") for key, n in counts.items()}
    stated |= {"variant.bring.faults": str(brought), "variant.own.faults": str(left)}
    run = recording_of([5] * 80, [18] * 80, variant="bring")
    clock = {"clock.own.frequency_hz": "1e9", "clock.own.step": "1"}
    return replace(
        run,
        conditions={**run.conditions, **clock, **stated},
        variants=("bring", "own"),
        variant_index=np.arange(80, dtype=np.int64) % 2,
    )


PRINTED = """\
  77:\tbinding file /lib/libc.so.6 [0] to /lib/libc.so.6 [0]: normal symbol `early' [V]
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `before' [V]
  77:\ttransferring control: /bin/prog
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `toupper'
  77:\tbinding file /lib/libc.so.6 [0] to /lib/libc.so.6 [0]: normal symbol `other' [V]
  77:\tbinding file /bin/prog [0] to /lib/libc.so.6 [0]: normal symbol `toupper' [V]
"""


def test_only_look_ups_of_the_program_while_it_runs_count() -> None:
    assert looked_up(PRINTED, "/bin/prog") == ["toupper", "toupper"]
    assert looked_up(PRINTED, "/bin/another") == []
    with pytest.raises(Exception, match="prints none"):
        looked_up("", "/bin/prog")


def test_the_first_call_of_a_library_function_is_looked_up() -> None:
    found = views.bindings("first_iteration", "lazy-binding", "call")
    if isinstance(found, Message):
        pytest.skip(f"no look-ups here: {found.sentences}")
    assert ("toupper", "2", "0") in found.rows
    other = views.bindings("first_iteration", "call", "lazy-binding")
    assert not isinstance(other, Message)
    assert "toupper" not in [row[0] for row in other.rows]
    assert re.search(r"[1-9]\d* more often for lazy-binding \(not shown\)$", other.caption)


def test_a_variant_that_cannot_run_is_named_with_the_reason() -> None:
    found = views.bindings("first_iteration", "no-such", "call")
    assert isinstance(found, Message)
    assert "no-such" in found.heading and "no such variant" in found.sentences[0]
    with pytest.raises(Refused):
        views.bindings("no_such_kernel", "a", "b")


def test_variants_that_the_machine_lacks_are_left_out_and_unknown_ones_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = (variants.Listed("one", ""), variants.Listed("two", "", missing="not here"))
    monkeypatch.setattr(variants, "of_kernel", lambda kernel: listed)
    assert variants.possible("any", "two, one ,three,") == ["one", "three"]


def test_the_samples_that_a_report_prints() -> None:
    assert labs.published.samples("procedure call", "E")[:4] == (366, 96, 90, 95)
    with pytest.raises(KeyError, match="no single samples"):
        labs.published.samples("timer overhead", "A")


# The view of walks through memory: the counts of a run, for one process.


def of_walk(path: str) -> Run:
    return Run.of(read(FIXTURES / path))


def test_a_walk_is_shown_with_its_set_its_pages_and_its_order() -> None:
    table = views.walks(of_walk("pitfalls/order-foreseen/near/recordings/run.csv"))
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert set(rows) == {"random-128m", "ordered-128m"}
    for row in rows.values():
        assert row["set, MB"] == row["resident, MB"] == "128"
        assert row["lines that the walk goes round"] == row["cache lines of the set"]
        right, _, samples = row["samples that ended at the right line"].partition(" of ")
        assert right == samples
    assert rows["ordered-128m"]["hops that repeat one of the last four"] == "2,097,150"
    assert rows["random-128m"]["hops that repeat one of the last four"] != "2,097,150"


def test_a_count_is_a_whole_number_of_a_process_or_two_with_the_span() -> None:
    run = of_walk("pitfalls/order-foreseen/near/recordings/run.csv")
    key = "variant.random-128m.same_hops"
    for counts, shown in ((("0", "4"), "0 to 4"), (("3", "3"), "3")):
        given = itertools.cycle(counts)
        left = {k: v for k, v in run.recording.conditions.items() if k != key}
        processes = tuple({**each, key: next(given)} for each in run.recording.processes)
        other = replace(run.recording, conditions=left, processes=processes)
        (row,) = (each for each in views.walks(Run.of(other)).rows if each[0] == "random-128m")
        assert shown in row


def test_walks_are_listed_in_the_order_of_the_request() -> None:
    run = of_walk("pitfalls/order-foreseen/near/recordings/run.csv")
    for names in (("random-128m", "ordered-128m"), ("ordered-128m", "random-128m")):
        shown = views.walks(Run.of(run.recording, names))
        assert tuple(row[0] for row in shown.rows) == names


def test_a_walk_that_repeats_itself_is_seen() -> None:
    table = views.walks(of_walk("pitfalls/cycle-too-short/wrong/recordings/run.csv"))
    ((found),) = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    walked, every = (
        int(found[key].replace(",", "").rpartition(" ")[2])
        for key in ("lines that the walk goes round", "cache lines of the set")
    )
    assert walked < every / 100


def test_memory_that_was_never_written_is_not_resident() -> None:
    table = views.walks(of_walk("pitfalls/memory-never-written/wrong/recordings/run.csv"))
    ((found),) = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert (found["set, MB"], found["resident, MB"]) == ("128", "0")


def test_a_run_of_another_c_kernel_is_refused() -> None:
    with pytest.raises(Refused, match="no walk"):
        views.walks(of_walk("fenced.csv"))
