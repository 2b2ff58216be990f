"""The one rule for two results: which is larger, how many times, or neither."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labs.analysis import estimates
from labs.analysis.estimates import ByProcess, Estimate
from labs.commands import cli, measure
from labs.messages import Refused
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import Recording, read
from labs.results import results_compared
from labs.results.digits import rounded_apart
from labs.results.result import result_of
from labs.results.results_compared import Comparison, compared, differences_compared, of_estimates
from testing.paths import FIXTURES
from testing.submitted_figures import Clocked, recording

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


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_the_order_of_the_two_does_not_matter(gap: float) -> None:
    run = object()
    one = by_hand([10.0, 10.4, 10.2, 9.8, 10.1], run)
    other = by_hand([10.1 + gap, 10.2 + gap, 10.3 + gap, 9.9 + gap, 10.0 + gap], run)
    # In half-widths of an interval. The difference process by process has other weights than the
    # two values, so where these are equal to the last bit, it lies this near to 0 but not on it.
    same = pytest.approx(-estimates.separation(other, one), abs=1e-5)
    assert estimates.separation(one, other) == same


def test_nearly_nothing_differs_from_what_is_clearly_below_zero() -> None:
    # Two climbs: one of a lab's wrong order is negative, the other next to nothing.
    run = object()
    nothing = by_hand([0.001, -0.004, 0.003, 0.002, 0.004], run)
    negative = by_hand([-1.003, -1.001, -1.004, -0.999, -1.002], run)
    found = estimates.separation(nothing, negative)
    assert found > 1
    assert estimates.separation(negative, nothing) == pytest.approx(-found)


def test_what_moves_both_in_a_process_does_not_blur_their_difference() -> None:
    levels, run = [10.0, 14.0, 11.0, 13.0, 12.0, 10.5], object()
    one = by_hand(levels, run)
    same = by_hand([1.02 * level for level in levels], run)
    elsewhere = by_hand([1.02 * level for level in levels])
    assert estimates.separation(same, one) > 1
    assert abs(estimates.separation(elsewhere, one)) < 1


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
        assert results_compared.highest((("one", one), ("other", other))) == (
            ("other", other),
            near,
        )
        assert results_compared.lowest((("one", one), ("other", other)))[1] == ("other",) * len(
            near
        )


SHARED = {"core_width": "2 2 2", "core_width.after": "-9 90 190"}


def test_a_run_on_a_core_that_was_always_shared_gives_an_upper_limit() -> None:
    """Its two variants met the same conditions. Another run may have had the core to itself."""
    assert of_two(2.4, 2.0, each_process=SHARED).distinguishable
    runs = [
        recording({"a": Clocked(60.0, cost)}, kernel="system_call", each_process=each)
        for cost, each in ((20.0, SHARED), (2.0, {}), (2.0, SHARED), (20.0, {}))
    ]
    dear_at_most, cheap, cheap_at_most, dear = (result_of(each, "a", "cycles") for each in runs)
    found = compared(dear_at_most, cheap)
    assert not found.distinguishable, "at most 20 may be 2"
    assert not any("shared the core" in each for each in found.modes), "the other has no rounds"
    assert compared(dear, cheap_at_most).distinguishable, "20 is more than at most 2"
    assert compared(dear, cheap).distinguishable


def climb_by_hand(name: str, estimate: Estimate) -> Comparison:
    """A difference as `compared` gives it, of which only the estimate is of interest."""
    interval = (estimate.low, estimate.high)
    return Comparison(
        name, "x", "ns", estimate.value, interval, None, None, True, ("x: once",), estimate=estimate
    )


@pytest.mark.parametrize(
    ("last", "said"),
    [(20.0, "the two values alone would give 2.60."), (10.0, None), (10.05, None)],
)
def test_a_comparison_that_the_two_values_would_not_give_says_so(
    last: float, said: str | None
) -> None:
    """The first has three processes more, which may cost more than the others."""
    run = object()
    usual = [10.0, 10.005, 9.998, 10.002, 10.001, 10.003, 9.997]
    one, other = by_hand([*usual, last, last, last], run), by_hand([n / 2 for n in usual], run)
    shown = str(differences_compared(climb_by_hand("a", one), climb_by_hand("b", other)))
    assert shown.startswith("(a - x) is 2.0")
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


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (-115.3, 5e-6, ("-5", "-115", "0")),  # it holds 0, and what rounding leaves is no digit
        (-115.3, 0.4, ("-5.0", "-115.3", "0.4")),
        (-115.3, -4e-3, ("-5.000", "-115.300", "-0.004")),  # it does not hold 0, and shows it
    ],
)
def test_digits_keep_an_end_on_its_side(low: float, high: float, printed: tuple[str, ...]) -> None:
    assert rounded_apart(-5.0, low, high, 0.0) == printed
