"""Results are compared: with each other, at one clock, with a run before, and by twenty lines."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.figures import LABS, figure_named
from grader.figures.case import make_case, make_relation
from grader.figures.expected import conclusion
from grader.figures.spec import FigureSpec, Quantity
from grader.judging.check import judge
from labs import messages
from labs.analysis import confidence
from labs.analysis.confidence import ByProcess, Estimate
from labs.analysis.line import fit_line
from labs.analysis.set_aside import cells_of, kept_samples, step_of
from labs.commands import cli, measure
from labs.commands.cli import main
from labs.course.figures import Figure
from labs.messages import Refused
from labs.notebook.run import Later, Run
from labs.notebook.session import Session
from labs.recording.file import Recording, Samples, read
from labs.results import results_compared
from labs.results.remarks import shared
from labs.results.result import REASONS, Result, result_of
from labs.results.results_compared import (
    Comparison,
    compared,
    compared_at_one_clock,
    differences_compared,
    disagreements,
    of_estimates,
    saved_at,
)
from labs.units import rounded_apart
from support import simulate
from support.declarations import as_declared
from support.paths import FIXTURES, REPOSITORY
from support.simulate import OPERATION, VARIANT, Machine
from support.submitted_figures import Clocked, recording

# The one rule for two results: which is larger, how many times, or neither.


TWO_VARIANTS = FIXTURES / "two-variants.csv"
ARGUMENTS = FIXTURES / "honest" / "04-procedure-call" / "recordings" / "o0.csv"


def of_two(first: float, second: float, **options: object) -> Comparison:
    """How two variants of one run compare that cost so many ticks."""
    two = {"a": Clocked(60.0, first), "b": Clocked(60.0, second)}
    found = recording(two, kernel="system_call", **options)  # type: ignore[arg-type]
    return compared(result_of(found, "a", "cycles"), result_of(found, "b", "cycles"))


def by_hand(values: list[float], run: object | None = None) -> Estimate:
    """An estimate from one value a process."""
    each = np.array(values)
    count = np.arange(len(each))
    found = ByProcess(run or object(), count, each, each * 1e-4)
    return Estimate(*found.estimate(), "ns", "", 100, len(each), found)


def test_a_larger_one_is_so_many_times_the_other() -> None:
    found = of_two(3.0, 2.0)
    assert found.distinguishable
    assert found.ratio == pytest.approx(1.5, rel=0.01)
    assert found.sentence().startswith("a is 1.5")
    assert found.sentence().endswith(") times b.")


def test_a_smaller_one_is_less_than_once_the_other() -> None:
    assert of_two(2.0, 3.0).sentence().startswith("a is 0.66")
    assert of_two(2.0, 3.0).difference < 0


def test_like_ones_are_not_distinguishable() -> None:
    found = of_two(2.0, 2.0)
    assert not found.distinguishable
    assert found.sentence().startswith("a and b are not distinguishable: the difference is ")
    low, high = found.difference_interval
    assert low < 0 < high


def test_what_may_be_nothing_divides_nothing() -> None:
    found = of_two(2.0, 0.0)
    assert found.distinguishable
    if found.ratio is None:
        assert found.sentence().startswith("a takes 2.7")
        assert found.sentence().endswith(") more than b.")


def test_what_is_below_nothing_is_no_multiple() -> None:
    run = object()
    below, above = (by_hand([end - 0.01, end, end + 0.01] * 3, run) for end in (-0.1, 1.2))
    found = of_estimates(("a", below), ("b", above))
    assert found.distinguishable and found.side == -1 and found.ratio is None
    assert found.sentence().startswith("a takes 1.3") and found.sentence().endswith(" less than b.")


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_the_order_of_the_two_does_not_matter(gap: float) -> None:
    run = object()
    one = by_hand([10.0, 10.4, 10.2, 9.8, 10.1], run)
    other = by_hand([10.1 + gap, 10.2 + gap, 10.3 + gap, 9.9 + gap, 10.0 + gap], run)
    # In half-widths of an interval. The difference process by process has other weights than the
    # two values, so where these are equal to the last bit, it lies this near to 0 but not on it.
    same = pytest.approx(-confidence.separation(other, one), abs=1e-5)
    assert confidence.separation(one, other) == same


def test_nearly_nothing_differs_from_what_is_clearly_below_zero() -> None:
    # Two climbs: one of a lab's wrong order is negative, the other next to nothing.
    run = object()
    nothing = by_hand([0.001, -0.004, 0.003, 0.002, 0.004], run)
    negative = by_hand([-1.003, -1.001, -1.004, -0.999, -1.002], run)
    found = confidence.separation(nothing, negative)
    assert found > 1
    assert confidence.separation(negative, nothing) == pytest.approx(-found)


def test_what_moves_both_in_a_process_does_not_blur_their_difference() -> None:
    levels, run = [10.0, 14.0, 11.0, 13.0, 12.0, 10.5], object()
    one = by_hand(levels, run)
    same = by_hand([1.02 * level for level in levels], run)
    elsewhere = by_hand([1.02 * level for level in levels])
    assert confidence.separation(same, one) > 1
    assert abs(confidence.separation(elsewhere, one)) < 1


def test_the_lowest_and_the_highest_are_named_by_the_same_rule_as_a_comparison() -> None:
    levels, run = [10.0, 14.0, 11.0, 13.0, 12.0, 10.5], object()
    one = by_hand(levels, run)
    for other, near in (
        (by_hand([1.02 * level for level in levels], run), ()),
        (by_hand([1.02 * level for level in levels]), ("one",)),
    ):
        assert other.low < one.high  # the intervals overlap
        apart = of_estimates(("other", other), ("one", one)).distinguishable
        assert apart == (not near)
        both = (("one", one), ("other", other))
        assert results_compared.extreme(both, 1) == (
            ("other", other),
            near,
        )
        assert results_compared.extreme(both, -1)[1] == ("other",) * len(near)


SHARED = {"core_width": "2 2 2", "core_width.after": "-9 90 190"}


def test_a_run_on_a_core_that_was_always_shared_gives_an_upper_limit() -> None:
    """Its two variants met the same conditions. Another run may have had the core to itself."""
    assert of_two(2.4, 2.0, each_process=SHARED).distinguishable
    runs = [
        recording({"a": Clocked(60.0, cost)}, kernel="system_call", each_process=each)
        for cost, each in ((20.0, SHARED), (9.0, {}), (9.0, SHARED), (20.0, {}))
    ]
    dear_at_most, cheap, cheap_at_most, dear = (result_of(each, "a", "cycles") for each in runs)
    found = compared(dear_at_most, cheap)
    assert not found.distinguishable, "at most 27 may be 11"
    assert any("may take as little as 11 cycles" in each for each in found.modes)
    assert found.ratio_interval is not None
    assert found.ratio_interval[0] == pytest.approx(11 / 12.15, abs=0.05), "the ratio says so too"
    upside_down = compared(cheap, dear_at_most).ratio_interval
    assert upside_down is not None and upside_down[1] == pytest.approx(12.15 / 11, abs=0.05)
    assert not any("shared the core" in each for each in found.modes), "the other has no rounds"
    assert compared(dear, cheap_at_most).distinguishable, "27 is more than at most 12"
    cheapest = result_of(recording({"a": Clocked(60.0, 2.0)}, kernel="system_call"), "a", "cycles")
    found = compared(dear_at_most, cheapest)
    assert found.distinguishable, "nothing is ten times slower on a shared core"
    assert any("as little as" in each for each in found.modes), "its interval says so too"
    assert compared(dear, cheap).distinguishable


def test_on_a_shared_core_a_baseline_may_be_what_moves() -> None:
    """A neighbour doubled an empty loop and left a division as it was: the net fell."""
    loop = {"base": Clocked(60.0, 2.0), "a": Clocked(60.0, 9.0), "b": Clocked(60.0, 30.0)}
    subtracted = {"variant.a.baseline": "base", "variant.b.baseline": "base"}
    for each_process, baseline, said in (
        (SHARED, subtracted, True),
        (SHARED, {}, False),
        ({}, subtracted, False),
    ):
        run = recording(loop, kernel="system_call", each_process=each_process, extra=baseline)
        both = result_of(run, "a", "cycles"), result_of(run, "b", "cycles")
        notes = compared(*both).modes
        assert any("the baseline and so this comparison" in each for each in notes) == said
        conditions = " ".join(shared(both))
        assert ("larger where a baseline is subtracted" in conditions) == said
        assert ("would be the same or smaller" in conditions) == (not said and bool(each_process))
        without = [replace(each, estimate=None) for each in both]
        assert ("used the same core" in " ".join(shared(without))) == bool(each_process)
        assert "without it" not in " ".join(shared(without)), "there are no values"


def test_a_plot_of_a_shared_core_says_so_and_a_cell_says_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cell may end in a plot: nothing else then says why its values are high."""
    said = "used the same core nearly all the time"
    whole, shared = (
        Run.of(recording({"a": Clocked(60.0, 20.0)}, kernel="system_call", each_process=each))
        for each in ({}, SHARED)
    )
    assert said not in whole.compare()._repr_html_()
    assert said in shared.compare()._repr_html_()
    cell = SimpleNamespace(execution_count=1)
    monkeypatch.setattr(messages, "shell", lambda: cell)
    assert said in shared._repr_html_() and said in shared._repr_html_()
    assert said not in shared.plot()._repr_html_(), "the run has said it in this cell"
    assert said in replace(shared, later=Later()).plot()._repr_html_(), "another run has not"
    cell.execution_count = 2
    assert said in shared.plot()._repr_html_()


def climb_by_hand(name: str, estimate: Estimate) -> Comparison:
    """A difference as `compared` gives it, of which only the estimate is of interest."""
    interval = (estimate.low, estimate.high)
    return Comparison(
        name, "x", "ns", estimate.value, interval, None, None, True, ("x: once",), estimate=estimate
    )


def test_a_comparison_that_the_two_values_would_not_give_says_so() -> None:
    """The first has three processes more, which may cost more than the others."""
    for last, said in (
        (20.0, "the two values alone would give 2.60."),
        (10.0, None),
        (10.05, None),
    ):
        run = object()
        usual = [10.0, 10.005, 9.998, 10.002, 10.001, 10.003, 9.997]
        one, other = by_hand([*usual, last, last, last], run), by_hand([n / 2 for n in usual], run)
        shown = str(differences_compared(climb_by_hand("a", one), climb_by_hand("b", other)))
        assert shown.startswith("(a - x) is 2.0"), last
        assert ("process by process" in shown) == (said is not None)
        assert (said or "") in shown
        assert shown.count("x: once") == 1, "a sentence of both is printed once"


def test_values_of_two_runs_are_compared_as_they_are() -> None:
    one, other = by_hand([10.0, 10.05, 9.98]), by_hand([5.0, 5.05, 4.98])
    shown = str(differences_compared(climb_by_hand("a", one), climb_by_hand("b", other)))
    assert "process by process" not in shown


def run_of(found: Recording) -> Run:
    return Run.of(found, unit="cycles")


def test_a_student_compares_two_variants_in_one_line(tmp_path: Path) -> None:
    lab, run = Session("04-procedure-call", tmp_path), run_of(read(ARGUMENTS))
    assert str(lab.compare(run["args12"], run["args0"])).startswith("args12 is 2.0")
    assert "args8 is " in lab.compare(run["args8"], run["args0"])._repr_html_()
    # In the unit of the first.
    assert lab.compare(run["args12"].in_unit("ns"), run["args0"]).unit == "ns"


def test_two_differences_of_unequal_length_are_called_so(tmp_path: Path) -> None:
    lab, run = Session("04-procedure-call", tmp_path), run_of(read(ARGUMENTS))

    def climb(to: int, start: int) -> Comparison:
        return lab.compare(run[f"args{to}"], run[f"args{start}"])

    for first, second, said in (
        ((12, 6), (6, 0), None),
        ((12, 8), (4, 0), None),
        ((12, 8), (6, 0), "from args8 to args12 the number rises by 4, and from args0 to args6 by"),
        ((12, 8), (0, 4), "from args4 to args0 by -4."),
    ):
        shown = str(lab.compare(climb(*first), climb(*second)))
        assert ("not of equal length" in shown) == (said is not None)
        assert (said or "") in shown
    share = lab.compare(climb(12, 8), climb(6, 0), times=4 / 6)
    assert "not of equal length" not in str(share), "its author counts the lengths"


def test_results_of_the_same_name_are_named_by_what_differs(tmp_path: Path) -> None:
    lab, run = Session("04-procedure-call", tmp_path), run_of(read(ARGUMENTS))
    other = run_of(read(ARGUMENTS.with_name("o2.csv")))
    sentence = lab.compare(run["args0"], other["args0"]).sentence()
    assert sentence.startswith("args0 at -O0 ")
    assert "args0 at -O2" in sentence
    before, now = (
        run_of(replace(read(path), conditions={**read(path).conditions, "flags": flags}))["args0"]
        for path, flags in (
            (ARGUMENTS, "-O2 -I../before/src ../before/src/parse.c"),
            (ARGUMENTS.with_name("o2.csv"), "-O2 -Isrc src/parse.c"),
        )
    )
    assert " args0 at -I../before/src ../before/src/parse.c" in lab.compare(now, before).sentence()
    assert lab.compare(now, before).first == "args0 at -Isrc src/parse.c"
    again = lab.compare(run["args0"], run_of(read(ARGUMENTS))["args0"]).sentence()
    assert again.startswith("the first args0 and the second args0 are not distinguishable")


@pytest.mark.parametrize(
    ("names", "begins"),
    [
        (("trial", "usual"), "args0 (run trial) and args0 (run usual) are not"),
        (("usual", "usual"), "the first args0 and the second args0 are not"),
        ((None, "usual"), "the first args0 and the second args0 are not"),
    ],
)
def test_like_runs_are_named_by_their_recordings(
    names: tuple[str | None, str], begins: str, tmp_path: Path
) -> None:
    lab = Session("04-procedure-call", tmp_path)
    paths = [f"recordings/{name}.csv" if name else None for name in names]
    runs = [Run.of(read(ARGUMENTS), unit="cycles", recording_path=path) for path in paths]
    sentence = lab.compare(*(run["args0"] for run in runs)).sentence()
    assert sentence.startswith(begins)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    lab, run = Session("04-procedure-call", tmp_path), run_of(read(ARGUMENTS))
    with pytest.raises(Refused, match="takes two runs"):
        lab.compare(run, "args0")  # type: ignore[arg-type]
    two = {"bent": Clocked(60.0, 2.0, straight=False), "a": Clocked(60.0, 2.0)}
    bent = recording(two, kernel="system_call")
    with pytest.raises(Refused, match="cannot be compared") as refused:
        lab.compare(run_of(bent)["a"], run_of(bent)["bent"])
    assert "system_call bent: at k = 256" in str(refused.value)
    assert "Measure it again, then compare" in str(refused.value)
    # Measuring again cannot help where there is hardly anything to measure.
    free = {f"variant.bent.{key}": n for key, n in {"touched": "9000", "faults": "0"}.items()}
    none = recording(two, kernel="own_page_fault", extra={**free, "variant.bent.later_faults": "0"})
    with pytest.raises(Refused, match="compare what the OS counted") as refused:
        lab.compare(run_of(none)["a"], run_of(none)["bent"])
    assert "Measure it again" not in str(refused.value)


def test_what_is_no_plain_difference_is_refused_with_what_to_write(tmp_path: Path) -> None:
    lab, run = Session("04-procedure-call", tmp_path), run_of(read(ARGUMENTS))
    plain = lab.compare(run["args12"], run["args6"])
    share = lab.compare(run["args12"], run["args6"], times=2)
    in_ns = lab.compare(run["args12"].in_unit("ns"), run["args6"])
    with pytest.raises(Refused, match=r"Write it like this: lab\.compare\(lab"):
        lab.compare(plain, share)
    with pytest.raises(Refused, match=r"run\.in_unit\('ns'\)"):
        lab.compare(plain, in_ns)


def measured(monkeypatch: pytest.MonkeyPatch, found: Recording, *words: str) -> int:
    monkeypatch.setattr(measure, "carry_out", lambda *_: (found,))
    return cli.main(["measure", *words])


def test_the_command_compares_each_further_variant_with_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("procedure_call", "--variant", "args0,args6,args12", "--flags=-O0")
    assert measured(monkeypatch, read(ARGUMENTS), *words) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " times args0." in line]
    assert [line.split()[0] for line in lines] == ["args6", "args12"]


def test_the_command_says_what_it_cannot_tell_apart_in_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("labs.terminal.columns", lambda stream=None: 80)
    words = ("procedure_call", "--variant", "args5,args6", "--flags=-O0")
    assert measured(monkeypatch, read(ARGUMENTS), *words) == 0
    text = capsys.readouterr().out
    assert all(len(line) <= 80 for line in text.splitlines())
    compared = text.partition("args6 and args5")[2]
    assert "are not distinguishable: the difference is " in " ".join(compared.split())


def test_the_command_has_ratios_in_its_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("timer_overhead", "--variant", "fenced,process-cpu", "--json")
    assert measured(monkeypatch, read(TWO_VARIANTS), *words) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert "ratio" not in first
    assert second["ratio"]["to"] == "fenced"
    low, high = second["ratio"]["interval"]
    assert low < second["ratio"]["value"] < high
    assert second["ratio"]["told_apart"] is True


def test_the_command_compares_nothing_that_has_no_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two = {"fenced": Clocked(60.0, 2.0), "monotonic": Clocked(60.0, 2.0, straight=False)}
    bent = recording(two)
    words = ("timer_overhead", "--variant", "fenced,monotonic", "--json")
    assert measured(monkeypatch, bent, *words) == 0
    assert json.loads(capsys.readouterr().out)[1]["ratio"] is None


def test_digits_keep_an_end_on_its_side() -> None:
    for low, high, printed in (
        (-115.3, 5e-6, ("-5", "-115", "0")),  # it holds 0, and what rounding leaves is no digit
        (-115.3, 0.4, ("-5.0", "-115.3", "0.4")),
        (-115.3, -4e-3, ("-5.000", "-115.300", "-0.004")),  # it does not hold 0, and shows it
    ):
        assert rounded_apart(-5.0, low, high, 0.0) == printed


# Two runs at different clock speeds: what disappears in core cycles is no effect of a change.


OWN = read(FIXTURES / "honest" / "11-own-question" / "recordings" / "own.csv")
PAIRS = [
    spec
    for specs in LABS.values()
    for spec in specs
    if spec.quantity is Quantity.CHOICE and spec.decide is not None and len(spec.operands) == 2
]


def again(
    ticks: float = 1.0, cycle: float = 1.0, stated: Mapping[str, str] | None = None
) -> Result:
    """The same run a second time: each sample lasted, and each core cycle was, so many times as
    long."""
    states = tuple(
        {**each, "core_cycle_ticks": f"{float(each['core_cycle_ticks']) * cycle}"}
        for each in OWN.processes
    )
    left = {key: value for key, value in OWN.conditions.items() if key != "samples.sha256"}
    longer = np.maximum(np.rint(OWN.ticks * ticks), 1).astype(OWN.ticks.dtype)
    longer[0] += 1  # no run gives the same samples twice
    conditions = {**left, **(stated or {})}
    return of(replace(OWN, ticks=longer, conditions=conditions, processes=states))


def of(recording: Recording) -> Result:
    return result_of(recording, "operation", "ns")


def concluded(tested: Result) -> float:
    (found,) = conclusion(figure_named("own-question-threat"), [tested, of(OWN)])
    return found.value


def test_a_difference_that_the_clock_explains_is_none() -> None:
    for factor, sign in ((0.9, "less"), (1.1, "more")):
        moved = again(factor, factor)
        found = compared_at_one_clock(moved, of(OWN), saved=("tested", "own"))
        assert not found.distinguishable and found.side == 0 and found.unit == "cycles", sign
        low, high = found.difference_interval
        assert low < 0 < high
        shown = repr(found)
        assert "are not distinguishable" in shown
        assert "This compares core cycles. By time, operation (run tested) takes " in shown
        assert " ns (" in shown and f") {sign}. But the core ran at " in shown
        assert "GHz in the first run" in shown
        assert concluded(moved) == 3


def test_a_difference_beyond_the_clock_remains() -> None:
    for ticks, cycle, side in (
        (1.3, 1.0, 1),  # the clock was the same
        (0.7, 1.0, -1),
        (1.4, 1.1, 1),  # the clock explains a part of it only
        (0.6, 0.9, -1),
    ):
        moved = again(ticks, cycle)
        found = compared_at_one_clock(moved, of(OWN))
        assert found.side == side and found.distinguishable and found.unit == "ns"
        explained = f"in core cycles the ratio is {ticks / cycle:.2f}"
        assert (explained in repr(found)) == (cycle != 1.0), repr(found)
        assert concluded(moved) == (1 if side > 0 else 2)


def test_a_cost_below_nothing_bears_out_no_conclusion() -> None:
    below = result_of(
        simulate.with_baseline(
            replace(simulate.BASELINE, cost=1.5), simulate.BASELINE, 1, kernel="own_question"
        ),
        "operation",
        "ns",
    )
    spec = figure_named("own-question-claim")
    assert below.estimate is not None and below.estimate.high < 0
    assert conclusion(spec, [below, of(OWN)]) == conclusion(spec, [of(OWN), below]) == []
    next_to_nothing = conclusion(figure_named("call-inlined"), [below, of(OWN)])
    assert [each.value for each in next_to_nothing] == [1], "of an inlined call nothing is left"
    cases = [
        make_case(figure_named(name), Figure(name, 1.0, "ns", "recordings/own.csv"), recording)
        for name, recording in zip(spec.of, (below.recording, OWN), strict=True)
    ]
    concluded = Figure(spec.id, 2, "choice", None)
    verdict = judge(spec, make_relation(spec, concluded, tuple(cases)), concluded)
    assert verdict.points == 0
    assert verdict.reason == (f"By its recording, {spec.of[0]} is below zero: repair that first.")


def test_what_does_not_follow_the_clock_is_compared_in_time() -> None:
    """A wait for memory takes the same time at each clock speed, so in cycles it seems to move."""
    found = compared_at_one_clock(again(1.0, 1.1), of(OWN))
    assert not found.distinguishable and found.unit == "ns"
    assert "core cycles" not in repr(found)


def test_where_time_and_cycles_contradict_each_other_nothing_is_decided() -> None:
    moved = again(1.1, 1.4)
    found = compared_at_one_clock(moved, of(OWN))
    assert not found.distinguishable and "this may be the only cause" in repr(found)
    assert concluded(moved) == 3


def test_the_clock_of_another_machine_is_part_of_its_speed() -> None:
    elsewhere = again(0.9, 0.9, {"machine.cpu": "Another CPU"})
    found = compared_at_one_clock(elsewhere, of(OWN))
    assert found.side == -1 and found.unit == "ns"


def test_variants_of_one_run_met_the_same_clock() -> None:
    found = compared_at_one_clock(of(OWN), result_of(OWN, "other", "ns"))
    assert found.unit == "ns" and "GHz" not in repr(found)


def test_an_unknown_clock_speed_explains_nothing() -> None:
    moved = again(0.9, 0.9)
    processes = tuple(
        {key: value for key, value in each.items() if key != "core_cycle_ticks"}
        for each in moved.recording.processes
    )
    unknown = of(replace(moved.recording, processes=processes))
    assert compared_at_one_clock(unknown, of(OWN)).side == -1


def test_differences_of_runs_are_compared_in_the_unit_of_the_runs() -> None:
    by_clock = compared_at_one_clock(again(0.9, 0.9), of(OWN))
    by_cause = compared_at_one_clock(again(1.5), of(OWN))
    assert differences_compared(by_cause, by_clock).unit == "ns"


@pytest.mark.parametrize("spec", PAIRS, ids=[spec.id for spec in PAIRS])
def test_the_last_conclusion_of_two_figures_is_that_the_data_do_not_decide(
    spec: FigureSpec,
) -> None:
    wide = Estimate(1.0, -1e6, 1e6, "ns", "", 400, 5)
    assert spec.decide is not None and spec.decide((wide, wide)) == len(spec.choices)


# Whether a run contradicts the one before it: when the kit says it, and when it does not.


SETTINGS = ["--samples", "400", "--processes", "5", "--warmup", "2"]


def run_costing(
    cost: float = OPERATION.cost, seed: int = 1, stated: Mapping[str, str] | None = None
) -> Recording:
    made = simulate.run(replace(OPERATION, cost=cost), seed)
    conditions = MappingProxyType({**made.conditions, **(stated or {})})
    return as_declared(replace(made, conditions=conditions), "procedure_call")


def result(recording: Recording, unit: str = "ticks") -> Result:
    return result_of(recording, VARIANT, unit)


def said(now: Recording, before: Recording, unit: str = "ticks") -> tuple[str, ...]:
    return disagreements(before, (result(now, unit),))


def test_two_runs_that_exclude_each_other_contradict() -> None:
    for factor in (0.9, 1.1):
        (sentence,) = said(run_costing(factor * OPERATION.cost), run_costing(seed=2))
        assert sentence.startswith(f"{VARIANT}: this run and the one before"), factor
        assert "neither interval" in sentence and "(--spread 20)" in sentence, factor


def test_in_a_notebook_the_advice_is_an_argument() -> None:
    now = result(run_costing(1.1 * OPERATION.cost)).for_python()
    (sentence,) = disagreements(run_costing(seed=2), (now,))
    assert "(spread=20)" in sentence and "--" not in sentence


def test_runs_of_one_cost_hardly_ever_contradict() -> None:
    """Of two honest 95 % intervals, 1 pair in 20 differs by more than they allow."""
    machine = replace(OPERATION, speed_spread=0.03)
    every = [as_declared(simulate.run(machine, seed), "procedure_call") for seed in range(60)]
    pairs = list(itertools.pairwise(every))
    values = [result(each).estimate for each in every]
    apart = [abs(b.value / a.value - 1) for a, b in itertools.pairwise(values) if a and b]
    assert sum(each > 0.01 for each in apart) > 10
    assert sum(bool(said(now, before)) for before, now in pairs) <= 1


def at_speed(made: Recording, factor: float) -> Recording:
    """The recording of a core whose cycles are so many times as long."""
    each = tuple(
        MappingProxyType({**stated, "core_cycle_ticks": f"{0.7 * factor}"})
        for stated in made.processes
    )
    left = {key: text for key, text in made.conditions.items() if key != "core_cycle_ticks"}
    return replace(made, processes=each, conditions=MappingProxyType(left))


def test_another_clock_speed_is_no_contradiction() -> None:
    """A call takes as many core cycles as before, and memory takes as long."""
    for cost, cycle in ((1.1, 1.1), (1.0, 1.1)):
        before = at_speed(run_costing(seed=2), 1.0)
        now = at_speed(run_costing(cost * OPERATION.cost), cycle)
        assert said(now, before) == (), cost
        assert said(at_speed(run_costing(1.1 * OPERATION.cost), 1.0), before, "cycles") != (), cost


def test_a_difference_of_a_hundredth_is_not_worth_a_sentence() -> None:
    assert said(run_costing(1.008 * OPERATION.cost), run_costing(seed=2)) == ()
    assert said(run_costing(1.03 * OPERATION.cost), run_costing(seed=2)) != ()


OTHER = [
    {"flags": "-O0"},
    {"source.sha256": "another"},
    {"compiler": "another"},
    {"machine.cpu": "another"},
    {"cpu.asked": "7"},
    {"variants": "simulated,loop"},
    {"command": "labs measure x --peer-cpu 1"},
]


@pytest.mark.parametrize("stated", OTHER, ids=lambda stated: next(iter(stated)))
def test_a_run_of_something_else_is_no_contradiction(stated: dict[str, str]) -> None:
    assert said(run_costing(2 * OPERATION.cost, stated=stated), run_costing(seed=2)) == ()


def test_another_c_kernel_or_variant_is_no_contradiction() -> None:
    now, before = run_costing(2 * OPERATION.cost), run_costing(seed=2)
    assert said(now, as_declared(before, "system_call")) == ()
    assert said(now, replace(before, variants=("another",))) == ()


def test_a_run_without_a_figure_contradicts_nothing() -> None:
    bent = as_declared(simulate.run(Machine(hidden=120), 1), "procedure_call")
    assert result(bent).estimate is None
    assert said(bent, run_costing(seed=2)) == () and said(run_costing(seed=2), bent) == ()


@pytest.mark.parametrize("content", [None, b"", b"no recording", b"\xff" * 99])
def test_what_is_no_recording_is_no_run_before(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "r.csv").write_bytes(content)
    assert saved_at(tmp_path / "r.csv") is None and saved_at(tmp_path) is None


def test_a_terminal_says_it_when_the_recording_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given_times: dict[str, int]
) -> None:
    command = ["measure", "system_call", "--variant", "invalid", *SETTINGS]
    saving = [*command, "--save", str(tmp_path / "r.csv")]
    for ticks, contradicts in ((300, False), (300, False), (400, True), (400, False)):
        given_times["invalid"] = ticks
        assert main(saving) == 0
        assert ("contradict" in capsys.readouterr().out) is contradicts
    given_times["invalid"] = 300
    assert main([*saving, "--json"]) == 0
    printed = capsys.readouterr()
    assert "contradict" in printed.err and "contradict" not in printed.out
    given_times["invalid"] = 400
    assert main(command) == 0
    assert "contradict" not in capsys.readouterr().out


def test_a_notebook_says_it_below_the_figure(tmp_path: Path, given_times: dict[str, int]) -> None:
    session = Session("03-system-call", tmp_path)
    shown = []
    for ticks in (300, 400, 400):
        given_times["invalid"] = ticks
        run = session.measure("system_call", "invalid", samples=400, processes=5, save="own")
        shown.append((repr(run), run._repr_html_()))
    for in_text, in_page in shown[::2]:
        assert "contradict" not in in_text + in_page
    for each in shown[1]:
        assert "invalid: this run and the one before, saved under the same name" in each
        assert "spread=20" in each


def test_a_notebook_compares_with_what_a_terminal_saved_meanwhile(
    tmp_path: Path, given_times: dict[str, int]
) -> None:
    session, contradicts = Session("03-system-call", tmp_path), []
    saving = ["measure", "system_call", "--variant", "invalid", *SETTINGS]
    for ticks, in_terminal in ((300, None), (300, 400), (300, None)):
        if in_terminal is not None:
            given_times["invalid"] = in_terminal
            assert main([*saving, "--save", str(tmp_path / "recordings" / "own.csv")]) == 0
        given_times["invalid"] = ticks
        run = session.measure(
            "system_call", "invalid", samples=400, processes=5, warmup=2, save="own"
        )
        contradicts.append("contradict" in repr(run))
    assert contradicts == [False, True, False]


# Twenty lines of numpy give the kit's value for every steady operation of the saved runs. The
# lines are cells of lab 11, and stand on the page on the method.


PAGE = REPOSITORY / "docs" / "students" / "method.md"
RUNS = [
    path
    for pattern in ("honest*/*/recordings/*.csv", "gallery/*-repaired.csv")
    for path in sorted(FIXTURES.glob(pattern))
]
#: An operation is steady if half of its interval is at most the first of these shares of its value,
#: and if less than the second share of its samples was set aside. Values agree within the third.
NARROW, FEW, AGREE = 0.05, 0.1, 0.01


def cell(name: str) -> str:
    """The code of a cell of lab 11."""
    path = REPOSITORY / "notebooks" / "11-own-question" / "11-own-question.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(each["source"]) for each in cells if each["id"] == name)


NEAR, COST = cell("twenty-lines-near"), cell("twenty-lines-cost")


@pytest.fixture(scope="module")
def cost() -> Callable[..., float]:
    """The function of the notebook."""
    names: dict[str, Any] = {}
    exec(f"{NEAR}\n{COST}", names)
    found: Callable[..., float] = names["cost"]
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The result of every variant of the saved runs that has a cost, in ticks."""
    every = {
        f"{path.relative_to(FIXTURES)} {variant}": result_of(recording, variant, "ticks")
        for path in RUNS
        for recording in [read(path)]
        for variant in recording.variants
    }
    return {
        place: result
        for place, result in every.items()
        if result.estimate is not None and result.net is not None
    }


def variants(result: Result) -> tuple[str, ...]:
    """The variant and its baseline, if it has one."""
    assert result.net is not None
    return tuple(filter(None, (result.variant, result.net.baseline_variant)))


def in_twenty_lines(
    result: Result, cost: Callable[..., float], chosen: Callable[[Recording, str], Samples]
) -> float:
    """The cost by `cost`, from the `chosen` samples of the variant and of its baseline."""
    of_each = [chosen(result.recording, each) for each in variants(result)]
    whole, *baseline = (cost(each.process, each.batch, each.ticks) for each in of_each)
    assert result.net is not None
    return (whole - result.net.times * sum(baseline)) / result.net.parts


def of_whole_core(recording: Recording, variant: str) -> Samples:
    """The samples that the kit does not set aside because the core was shared."""
    samples = recording.samples(variant)
    kept = kept_samples(recording, samples, cells_of(samples, step_of(samples)))
    return samples.only(~kept.shared)


def delays_itself(recording: Recording, variant: str) -> bool:
    """Whether the kit keeps far samples, as delays of the operation's own."""
    samples = recording.samples(variant)
    weight = kept_samples(recording, samples, cells_of(samples, step_of(samples))).weight
    return bool(np.any((weight > 0) & (weight < 1)))


def is_steady(result: Result) -> bool:
    """Whether the interval is narrow, few samples were disturbed, and the clock has whole steps."""
    every = [result.recording.samples(each) for each in variants(result)]
    assert result.estimate is not None
    return (
        result.estimate.is_believable(NARROW)
        and aside(result, "far", "preempted") < FEW
        and not any(delays_itself(result.recording, each) for each in variants(result))
        and all(
            step_of(each) <= max(np.gcd.reduce(each.ticks), each.clock.coarseness) for each in every
        )
    )


def aside(result: Result, *reasons: str) -> float:
    """The share of samples set aside for these reasons, of the variant or of its baseline."""
    lines = [fit_line(result.recording, each) for each in variants(result)]
    return max(sum(map(line.share_set_aside, reasons)) for line in lines)


@pytest.mark.slow
def test_they_give_the_value_of_every_steady_operation(
    results: dict[str, Result], cost: Callable[..., float]
) -> None:
    found = {
        place: in_twenty_lines(result, cost, Recording.samples) / result.estimate.value
        for place, result in results.items()
        if result.estimate and is_steady(result) and aside(result, *REASONS) < FEW
    }
    assert len(found) > 150
    assert found == {place: pytest.approx(1, abs=AGREE) for place in found}


def test_where_the_core_was_shared_they_need_the_samples_of_a_whole_core(
    results: dict[str, Result], cost: Callable[..., float]
) -> None:
    agree = [
        [
            abs(in_twenty_lines(result, cost, chosen) / result.estimate.value - 1) <= AGREE
            for chosen in (Recording.samples, of_whole_core)
        ]
        for result in results.values()
        if result.estimate and is_steady(result) and aside(result, "shared") >= FEW
    ]
    of_all, of_whole = np.mean(agree, axis=0)
    assert len(agree) > 20
    assert of_all < 0.5 and of_whole > 0.9


def test_the_page_has_the_lines_of_the_notebook() -> None:
    assert f"```python\n{NEAR}\n\n\n{COST}\n```" in PAGE.read_text(encoding="utf-8")
    functions = f"{NEAR}\n{COST}".partition("def near")[2]
    assert len(functions.splitlines()) <= 20
