"""Views of several runs: what is said and tabulated are the results; odd runs are refused."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray

from labs import views
from labs.course import published
from labs.messages import Refused
from labs.notebook.run import Run
from labs.plots.intervals import LOOKS
from labs.plots.picture import Picture
from labs.plots.scale import spread_out
from labs.plots.style import WIDTH_IN, Mark
from labs.recording.file import Recording
from labs.units import rounded
from testing.declarations import as_declared

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


@pytest.mark.parametrize(
    "name", ["arguments", "placement", "footprint", "memory", "among published"]
)
def test_each_view_has_an_image_a_description_and_a_table(
    drawn: dict[str, Picture], name: str
) -> None:
    shown = drawn[name]
    assert shown.image.startswith(PNG) and shown.width == round(96 * WIDTH_IN)
    # What plot it is, its axes with their units in words, and what there is to see.
    assert re.match(r"(Line plot|Dot plot|Distribution) of ", shown.kind)
    assert re.search(r"nanoseconds|microseconds|core cycles", shown.kind)
    assert len(shown.meaning) > 60 and shown.meaning.endswith(".")
    assert len(shown.table.rows) >= 2
    assert all(len(row) == len(shown.table.header) for row in shown.table.rows)
    page = shown.as_html()
    assert f'alt="{shown.kind[:30]}' in page and "<table" in page
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


def test_two_runs_with_the_same_flags_have_different_names() -> None:
    kind = views.arguments(procedure_call("-O0", [3, 4]), procedure_call("-O0", [3, 5])).kind
    assert "-O0, run 1 and -O0, run 2" in kind


@pytest.mark.parametrize(
    ("flags", "name"),
    [("-g -O", "-O1"), ("", "-O0"), ("-g", "-O0"), ("-O2 '", "unknown flags")],
)
def test_a_series_is_named_by_the_level_that_its_flags_ask_for(flags: str, name: str) -> None:
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
    for mine, theirs, where in (
        ("0", "0", "on one CPU"),
        ("0-1", "0", "on one CPU"),
        ("0", "1", "on two CPUs"),
        ("0", "0-1", "not pinned"),
    ):
        stated = {
            "claimed.switches": "2000",
            "variant.own.switches": "2",
            "variant.own.claimed_switches": "2000",
            "variant.own.counted_switches": "2001",
            "variant.own.cpus": mine,
            "variant.own.peers_may_use": theirs,
        }
        run = run_of("own_switch", {"own": 3000.0}, stated)
        ((_, group, *_, claimed, counted),) = views.placement(run).table.rows
        assert group.startswith(where)
        assert (claimed, counted) == ("10,000", "10,005")


def test_where_nothing_can_be_pinned_no_switch_is_said_to_be_on_one_cpu() -> None:
    stated = {
        "claimed.switches": "2000",
        "variant.own.switches": "2",
        "variant.own.claimed_switches": "2000",
        "variant.own.counted_switches": "2001",
        "cpu.pinning": "none: this system offers no pinning",
    }
    run = run_of("own_switch", {"own": 3000.0}, stated)
    assert views.placement(run).table.rows[0][1].startswith("not pinned")


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
    assert views.among_published(run, quantity).image.startswith(PNG)


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


@pytest.mark.parametrize(
    "heights",
    [[0.5], [0.1, 0.5, 0.9], [0.5, 0.5, 0.5], [0.1, 0.11, 0.12, 0.13, 0.9], [0.0, 0.04, 0.9, 0.91]],
)
def test_names_are_moved_apart_as_little_as_needed(heights: list[float]) -> None:
    moved = spread_out(heights, 0.06)
    assert all(b - a >= 0.06 - 1e-9 for a, b in itertools.pairwise(moved))
    assert sum(moved) == pytest.approx(sum(heights)), "moved up as much as down"
    if all(b - a >= 0.06 for a, b in itertools.pairwise(heights)):
        assert moved == pytest.approx(heights)
