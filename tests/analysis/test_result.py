"""What a run says: figure, interval, warnings, in numbers, JSON and a sentence."""

from __future__ import annotations

import dataclasses
import json
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType

import pytest

from labs import units
from labs.analysis.confidence import Estimate
from labs.c_kernels import toolchain
from labs.messages import Refused
from labs.notebook.run import Run
from labs.recording import file as recordings
from labs.recording.file import BadRecording, Recording
from labs.results.result import result_of, sensible
from labs.units import UnknownUnit
from support import simulate
from support.declarations import as_declared
from support.paths import FIXTURES
from support.simulate import VARIANT, Machine


def run_with(machine: Machine, cycles: list[str] | None = None) -> Recording:
    recording = simulate.run(machine, 1)
    if cycles is None:
        return recording
    conditions = {k: v for k, v in recording.conditions.items() if k != "core_cycle_ticks"}
    each = tuple(
        MappingProxyType({"core_cycle_ticks": cycles[n % len(cycles)]})
        for n in range(machine.processes)
    )
    return dataclasses.replace(recording, conditions=MappingProxyType(conditions), processes=each)


def test_the_figure_of_a_timer_is_the_intercept() -> None:
    result = result_of(run_with(Machine()), VARIANT, "ticks")
    assert result.what == "overhead"
    assert result.estimate is not None and result.estimate.contains(50, slack=0.2)


def test_the_figure_of_any_other_c_kernel_is_the_slope() -> None:
    recording = as_declared(run_with(Machine()), "system_call")
    result = result_of(recording, VARIANT, "ticks")
    assert result.what == "cost"
    assert result.estimate is not None and result.estimate.contains(0.73, slack=0.01)


def test_units_are_those_of_the_clock() -> None:
    recording = run_with(Machine())
    ticks, ns = (result_of(recording, VARIANT, unit).estimate for unit in ("ticks", "ns"))
    assert ticks is not None and ns is not None
    assert ns.value == pytest.approx(ticks.value / 2.6)
    assert result_of(recording, VARIANT, "µs").unit == "us"


def test_a_time_has_the_interval_of_its_samples_and_the_speeds_stand_beside_it() -> None:
    steady = result_of(run_with(Machine(), ["0.7"]), VARIANT, "ns")
    varied = result_of(run_with(Machine(), ["0.68", "0.69", "0.71", "0.72"]), VARIANT, "ns")
    assert steady.estimate is not None and steady.estimate == varied.estimate
    assert steady.as_json()["core_ghz"] == pytest.approx([2.6 / 0.7, 2.6 / 0.7])
    assert varied.as_json()["core_ghz"] == pytest.approx([2.6 / 0.72, 2.6 / 0.68])


def test_core_cycles_are_no_advice_for_a_figure_in_core_cycles() -> None:
    varied = run_with(Machine(), ["0.634", "0.722"])
    for unit, advised in (("ns", True), ("cycles", False)):
        codes = {each.code for each in result_of(varied, VARIANT, unit).loud}
        assert ("clock-speed" in codes) is advised


def test_a_negative_cost_of_the_kits_own_c_is_no_figure() -> None:
    """A cell of lab 02 printed "-248 ns", and no word of warning."""
    source = toolchain.source_hash(toolchain.c_kernel_source("system_call").read_text())
    for cost, kits, none in ((-9.0, True, True), (-9.0, False, False), (-0.01, True, False)):
        made = as_declared(run_with(Machine(cost=cost, overhead=9e3)), "system_call")
        stated = {**made.conditions, **({"source.sha256": source} if kits else {})}
        run = Run.of(dataclasses.replace(made, conditions=MappingProxyType(stated)))
        assert run.results[0].less_than_nothing is none
        with pytest.raises(Refused, match="is no figure") if none else nullcontext():
            assert run.value < 0.1


def test_a_speed_that_no_core_has_is_of_a_disturbed_calibration() -> None:
    # 0.4 ticks of a counter at 2.6 GHz were a core at 6.5 GHz.
    lengths = ["0.7", "0.39", "0.71", "0.7", "0.7", "0.71", "0.7", "0.71", "0.7", "0.7"]
    varied = result_of(run_with(Machine(), lengths), VARIANT, "ns")
    assert varied.as_json()["core_ghz"] == pytest.approx([2.6 / 0.71, 2.6 / 0.7])
    assert "clock-speed" not in {each.code for each in varied.warnings}


def test_a_cycle_of_no_usable_length_changes_nothing() -> None:
    for length in ("nan", "-1", "0", "inf", "fast", ""):
        plain = result_of(run_with(Machine(), ["0.7"]), VARIANT, "ns").estimate
        assert result_of(run_with(Machine(), ["0.7", length]), VARIANT, "ns").estimate == plain


def test_no_figure_where_there_is_no_line() -> None:
    result = result_of(run_with(Machine(hidden=120)), VARIANT)
    assert result.estimate is None and result.line is not None
    assert result.warnings[0].code == "not-on-a-line"
    assert result.sentence().startswith(f"timer_overhead {VARIANT}: no figure: at k = ")
    assert result.value_as_text() == "no figure"


def test_no_figure_where_there_are_too_few_samples() -> None:
    result = result_of(run_with(Machine(samples=10)), VARIANT)
    assert result.estimate is None and result.line is None
    assert "too few" in result.no_figure
    assert "few-samples" in {warning.code for warning in result.warnings}


def test_without_a_name_it_is_of_the_first_variant() -> None:
    assert result_of(run_with(Machine())).variant == VARIANT


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        result_of(run_with(Machine()), "sundial")
    with pytest.raises(UnknownUnit):
        result_of(run_with(Machine()), VARIANT, "fortnights")
    bare = dataclasses.replace(run_with(Machine()), conditions=MappingProxyType({}))
    with pytest.raises(BadRecording, match="clock"):
        result_of(bare, VARIANT)


def test_a_recording_without_samples_is_refused() -> None:
    empty = recordings.parse(
        b"# ticklab recording: 1\n# kernel: k\nvariant,process,sample,batch,ticks\n"
    )
    with pytest.raises(KeyError):
        result_of(empty)


KEYS = {
    "kernel", "variant", "value", "unit", "interval", "method", "n", "conditions", "warnings",
    "recording",
}  # fmt: skip


def test_the_json_has_its_keys_whether_or_not_there_is_a_figure() -> None:
    for machine in (Machine(), Machine(hidden=120), Machine(samples=10)):
        result = result_of(run_with(machine), VARIANT)
        stated = json.loads(json.dumps(result.as_json("recordings/a.csv"), allow_nan=False))
        assert stated.keys() >= KEYS, machine
        assert (stated["value"] is None) == (result.estimate is None), machine
        assert (stated["interval"] is None) == (result.estimate is None), machine
        assert stated["recording"] == "recordings/a.csv", machine


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.csv")), ids=lambda path: path.stem)
def test_a_saved_recording_still_has_its_result(path: Path) -> None:
    recording = recordings.read(path)
    for name in recording.variants:
        result = result_of(recording, name)
        assert (result.estimate is None) == (name == "unfenced")
        json.dumps(result.as_json(), allow_nan=False)
        assert result.sentence().endswith(".")


def shown(value: float, low: float, high: float) -> tuple[str, str, str]:
    return sensible(Estimate(value, low, high, "ns", "m", 10, 2))


def test_numbers_are_written_as_a_reader_expects() -> None:
    for ns, unit in (
        (0, "ns"), (9_999, "ns"), (-9_999, "ns"), (10_000, "us"), (9_999e3, "us"), (1e7, "ms"),
        (-1e7, "ms"), (9_999e6, "ms"), (1e10, "s"), (1e15, "s"),
    ):  # fmt: skip
        assert units.readable_unit(ns) == unit, ns
    for value, digits, text in (
        (0, 3, "0"), (16.3812, 3, "16.4"), (1234567, 3, "1,230,000"), (999.9, 3, "1,000"),
        (0.76923, 3, "0.769"), (-20.5555, 3, "-20.6"),
        (-0.5, 2, "-0.5"), (0.00002344, 3, "0.0000234"), (2e-8, 2, "2e-08"), (99.96, 4, "99.96"),
        (123456, 4, "123,500"), (9999.9, 4, "10,000"),
    ):  # fmt: skip
        assert units.rounded(value, digits) == text, value
    for value, text in (
        (999.94, "999.9"),
        (999.96, "1,000"),
        (1000.4, "1,000"),
        (9999.4, "9,999"),
        (22.3456, "22.35"),
    ):
        assert units.in_four_digits(value) == text, value
    assert [units.fixed(*each) for each in ((-0.001, 2), (1234.5678, 1))] == ["0.00", "1,234.6"]
    assert [units.fixed(n, 1, signed=True) for n in (0.04, -2, 2)] == ["0.0", "-2.0", "+2.0"]
    assert [units.with_unit(n, "cycles") for n in ("1", "1.0", "2")] == [
        "1 cycle", "1.0 cycles", "2 cycles",
    ]  # fmt: skip
    assert units.with_unit("1", "ns") == "1 ns" and units.unit_symbol("us") == "µs"


def test_digits_are_those_that_the_interval_supports() -> None:
    assert shown(16.3812, 16.3512, 16.4112) == ("16.381", "16.351", "16.411")
    assert shown(16.3812, 15.1, 17.4) == ("16.4", "15.1", "17.4")
    assert shown(1634.4, 1500, 1800) == ("1,634", "1,500", "1,800")
    assert shown(16.3812, 16.3812, 16.3812) == ("16.4", "16.4", "16.4")
    assert shown(0.0123, 0.0121, 0.0125) == ("0.01230", "0.01210", "0.01250")
    assert shown(2.3018e-8, 2.265e-8, 2.339e-8) == ("2.302e-08", "2.265e-08", "2.339e-08")


def test_what_is_small_and_may_be_0_is_about_0() -> None:
    for value, low, high, shown in (
        (-0.000123, -0.0005, 0.0003, "about 0"),
        (0.000165, -0.0006, 0.0009, "about 0"),
        (0.000165, 0.0001, 0.0002, "0.000165"),  # small, and not 0
        (-7.0, -17.0, 3.0, "-7"),
    ):
        assert sensible(Estimate(value, low, high, "ns", "m", 10, 2))[0] == shown
