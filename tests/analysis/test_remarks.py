"""What a run shows of its warnings: those that decide always, what every run has never."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import MappingProxyType

import pytest

from labs import views
from labs.analysis import cpu_core
from labs.notebook.run import Run
from labs.recording.file import Recording, read
from labs.results import remarks
from labs.results import warning_thresholds as thresholds
from labs.results.remarks import Remarks
from labs.results.result import Result, result_of, sensible
from labs.results.run_warnings import RunWarning, of_line
from support import simulate
from support.simulate import Machine

HONEST = Path(__file__).parents[1] / "fixtures" / "honest"
#: At most this share of the saved honest runs shows a warning; all of them were taken on a virtual
#: machine, and most of them while it was busy.
MOST_SHOWN = 0.2
#: What never becomes quiet for a variant that somebody asked for.
DECIDE = {
    "affinity-not-obtained",
    "few-samples",
    "negative",
    "not-believable",
    "not-bound",
    "not-on-a-line",
    "one-process",
    "shared-core",
    "switches-unaccounted",
    "traced",
}


def stated(recording: Recording, **conditions: str) -> Recording:
    """The recording with other conditions; a name's `__` stands for a dot."""
    changed = {key.replace("__", "."): value for key, value in conditions.items()}
    return dataclasses.replace(
        recording, conditions=MappingProxyType({**recording.conditions, **changed})
    )


def with_cycles(*lengths: str) -> Recording:
    """A run whose processes had core cycles of these lengths, in ticks, in turn."""
    recording = simulate.run(Machine(), 1)
    shared = {k: v for k, v in recording.conditions.items() if k != "core_cycle_ticks"}
    each = tuple(
        MappingProxyType({**process, "core_cycle_ticks": lengths[number % len(lengths)]})
        for number, process in enumerate(recording.processes)
    )
    return dataclasses.replace(recording, conditions=MappingProxyType(shared), processes=each)


def results_of(recording: Recording, unit: str = "ns") -> list[Result]:
    asked = recording.conditions["variants"].split(",")
    return [result_of(recording, name, unit) for name in asked if name in recording.variants]


def of_simulated(recording: Recording, unit: str = "ticks") -> Remarks:
    return remarks.of_results([result_of(recording, None, unit)])


@pytest.fixture(scope="module")
def honest() -> dict[str, list[Result]]:
    """The results of each saved honest run, by lab and name."""
    files = sorted(HONEST.glob("*/recordings/*.csv"))
    assert len(files) > 50
    return {f"{file.parts[-3]}/{file.stem}": results_of(read(file)) for file in files}


def test_few_honest_runs_show_a_warning_though_nearly_all_have_one(
    honest: dict[str, list[Result]],
) -> None:
    has = [name for name, some in honest.items() if any(each.warnings for each in some)]
    shows = [name for name, some in honest.items() if remarks.of_results(some).warnings]
    assert len(has) > 0.7 * len(honest), "otherwise this test shows nothing"
    assert 0 < len(shows) <= MOST_SHOWN * len(honest), shows


def test_writes_without_a_page_fault_need_no_narrow_interval() -> None:
    """What is left when the pages are there is the right answer, and no figure to hand in."""
    for variant, quiet in (("own", True), ("bring", False)):
        found = result_of(read(HONEST / "10-page-fault/recordings/own.csv"), variant, "ns")
        assert found.line is not None and found.estimate is not None, variant
        value = found.estimate.value
        wide = dataclasses.replace(found.estimate, low=0.6 * value, high=1.4 * value)
        of_width = [
            each
            for each in of_line(found.recording, found.line, wide)
            if each.code in ("not-believable", "wide-interval")
        ]
        assert [each.quiet for each in of_width] == [quiet]


def test_what_decides_is_shown_of_every_honest_run(honest: dict[str, list[Result]]) -> None:
    seen = set()
    for name, some in honest.items():
        said = remarks.of_results(some).warnings
        for result in some:
            for warning in result.warnings:
                if warning.code in DECIDE and not warning.quiet:  # the rest of the run is enough
                    seen.add(warning.code)
                    assert any(result.variant in words or words.count(" more") for words in said), (
                        name,
                        result.variant,
                        warning.code,
                    )
    assert {"not-believable", "not-on-a-line", "switches-unaccounted"} <= seen


def test_what_comes_with_every_run_of_a_shared_machine_is_one_line(
    honest: dict[str, list[Result]],
) -> None:
    for name, some in honest.items():
        said = remarks.of_results(some)
        assert said.conditions.startswith("Conditions: virtual machine")
        assert "\n" not in said.conditions
        # A clock that changes by a tenth does not come with every run (lab 09's stairs).
        speeds = cpu_core.speeds_ghz(some[0].recording)
        much = speeds is not None and speeds[1] > (1 + thresholds.MUCH_SPEED_CHANGE) * speeds[0]
        unsaid = ("busy during",) if much else ("busy during", "clock changed")
        told = [each for each in said.warnings if any(words in each for words in unsaid)]
        assert not told, (name, told)


def _with_one_process() -> Recording:
    whole = simulate.run(Machine(), 1)
    mine = whole.process == 0
    parts = ("variant_index", "process", "sample", "batch", "ticks")
    return dataclasses.replace(
        whole,
        processes=whole.processes[:1],
        **{name: getattr(whole, name)[mine] for name in parts},
    )


def test_a_warning_of_a_comparison_names_its_side() -> None:
    run = _with_one_process()
    both = [result_of(run, run.variants[0], "ticks")] * 2
    told = "\n".join(remarks.in_lines(both, names=("it at -O1", "it at -O2")))
    assert "warning: it at -O1 and it at -O2: all samples come from one process" in told


def _switches(counted: str, **more: str) -> Recording:
    named = {"claimed_switches": "1000", "counted_switches": counted, "switches": "2"}
    conditions = {f"variant__simulated__{key}": value for key, value in named.items()}
    return stated(simulate.run(Machine(), 1), cpu__asked="none", **conditions, **more)


def test_a_warning_that_decides_is_never_quiet() -> None:
    for busy in (False, True):
        for code, recording in (
            ("one-process", _with_one_process()),
            ("few-samples", simulate.run(Machine(samples=90), 1)),
            ("not-believable", simulate.run(Machine(process_spread=30, samples=60_000), 1)),
            ("not-on-a-line", simulate.run(Machine(hidden=120), 1)),
            ("negative", simulate.run(Machine(overhead=500, cost=-0.5), 1)),
            ("below-one-cycle", simulate.run(Machine(cost=0.3), 1)),
            (
                "shared-core",
                simulate.run(
                    Machine(
                        neighbour=11,
                        neighbour_stretches=((0.15, 0.75),),
                        samples=10_000,
                        rounds=41,
                    ),
                    1,
                ),
            ),
            (
                "affinity-not-obtained",
                stated(simulate.run(Machine(), 1), cpu__asked="1", cpu__after="0"),
            ),
            ("switches-unaccounted", _switches("20")),
            ("not-bound", _switches("1000", cpu__pinning="none: this system offers no pinning")),
            ("clock-speed", with_cycles("0.55", "0.722")),
        ):
            if busy:
                recording = stated(recording, cpus__busy="2", cpus__online="2", steal__share="0.05")
            result = result_of(recording, None, "ticks")
            (warning,) = [each for each in result.warnings if each.code == code]
            said = remarks.of_results([result])
            assert f"simulated: {warning}" in said.warnings, code
            assert warning.symptom not in said.conditions, code


def test_a_busy_machine_and_what_a_hypervisor_took_are_conditions() -> None:
    busy = stated(
        simulate.run(Machine(), 1),
        cpus__busy="1.97", cpus__online="2", steal__share="0.05", machine__virtual="True",
    )  # fmt: skip
    said = of_simulated(busy)
    assert said.warnings == ()
    assert said.conditions.startswith("Conditions: virtual machine, 2 of 2 CPUs busy, CPU clock")
    assert "the hypervisor took 5 % of the CPU time" in said.conditions


def test_of_a_quiet_machine_nothing_is_said_that_was_not_seen() -> None:
    quiet = stated(simulate.run(Machine(), 1), cpus__busy="0.9", cpus__online="2")
    said = of_simulated(quiet)
    assert "0.9 of 2 CPUs busy" in said.conditions
    assert "virtual" not in said.conditions and "hypervisor" not in said.conditions


def test_a_clock_that_moves_a_little_is_a_condition_and_much_is_a_warning() -> None:
    little, much = with_cycles("0.70", "0.722"), with_cycles("0.55", "0.722")
    assert of_simulated(little).warnings == ()
    assert " to " in of_simulated(little).conditions
    (words,) = of_simulated(much).warnings
    assert "--unit cycles" in words
    # The unit that the warning advises does not depend on the clock's speed.
    assert of_simulated(much, "cycles").warnings == ()


def test_an_interval_that_can_be_believed_is_quiet_and_says_how_to_narrow_it() -> None:
    result = result_of(simulate.run(Machine(step=72), 1), None, "ticks")
    assert [each.code for each in result.warnings] == ["wide-interval"]
    said, in_python = (remarks.of_results([each]) for each in (result, result.for_python()))
    assert said.warnings == in_python.warnings == ()
    assert "% of the value (--samples " in said.conditions
    assert "% of the value (samples=" in in_python.conditions


def test_interrupted_samples_are_a_warning_where_too_few_others_are_left() -> None:
    for machine, shown in (
        # One sample in five is interrupted, and the others are many.
        (Machine(interruption=7000.0, interrupted_every=800.0, samples=10_000), False),
        # Two in five are, most of them long ones.
        (
            Machine(
                interruption=7000.0,
                interrupted_every=300.0,
                samples=10_000,
                gaps_per_s=8_000_000,
            ),
            True,
        ),
    ):
        result = result_of(simulate.run(machine, 1), None, "ticks")
        (warning,) = [each for each in result.warnings if each.code == "interrupted"]
        assert warning.quiet != shown


def test_a_move_to_another_cpu_is_a_warning_where_it_changes_what_is_measured() -> None:
    for moves, switches, shown in (("1", "0", False), ("50", "0", True), ("1", "2", True)):
        recording = stated(
            simulate.run(Machine(), 1),
            cpu__asked="none", task__main__migrations=moves, variant__simulated__switches=switches,
        )  # fmt: skip
        said = of_simulated(recording)
        assert any("moved between CPUs" in each for each in said.warnings) == shown
        assert ("moved between CPUs" in said.conditions) != shown


def test_what_is_odd_of_a_baseline_that_nobody_asked_for_is_no_warning() -> None:
    short = dataclasses.replace(simulate.BASELINE, cost=0.02)
    recording = simulate.with_baseline(simulate.OPERATION, short, 1)
    results = [result_of(recording, name, "ticks") for name in ("operation", "alone")]
    assert "below-one-cycle" in [each.code for each in results[1].warnings]
    assert remarks.of_results(results).warnings == ()
    # As a figure of its own it is one.
    (words,) = remarks.of_results(results[1:]).warnings
    assert words.startswith("alone: ")


def test_one_warning_names_all_its_variants_and_says_itself_once() -> None:
    recording = simulate.with_baseline(simulate.OPERATION, simulate.BASELINE, 1)
    traced = stated(recording, cpu__asked="1", cpu__after="0")
    results = [result_of(traced, name, "ticks") for name in traced.variants]
    said = remarks.of_results(results)
    names = " and ".join(traced.variants)
    assert sum("was pinned to CPU 1" in each for each in said.warnings) == 1
    assert any(each.startswith(f"{names}: ") for each in said.warnings)


def test_a_cell_that_ends_in_a_plot_shows_the_warnings_and_a_panel_shows_them_once() -> None:
    run = Run.of(_with_one_process(), unit="ticks", python=True)
    for drawn in (run.plot(), run.plot_line(), run.compare()):
        for text in (drawn._repr_html_(), repr(drawn)):
            assert "all samples come from one process" in text
            assert "processes=10" in text and "--processes" not in text
        assert "all samples come" not in drawn.as_html()
    good = Run.of(simulate.run(Machine(), 1), unit="ticks")
    assert "Warnings" not in good.plot()._repr_html_()


def test_a_view_of_numbers_shows_the_warnings_of_its_runs() -> None:
    recording = simulate.with_baseline(simulate.OPERATION, simulate.BASELINE, 1)
    good, astray = (
        Run.of(each, ["operation"], "ticks", python=True)
        for each in (recording, stated(recording, cpu__asked="1", cpu__after="0"))
    )
    for text in (views.parts(good, astray)._repr_html_(), repr(views.parts([astray]))):
        assert text.count("operation: the task was pinned to CPU 1") == 1
        assert "cpu=..." in text and "--cpu" not in text
    assert "arning" not in views.parts(good)._repr_html_()
    assert "pinned to" not in views.parts(astray).as_html()


def test_a_run_in_a_terminal_begins_with_its_value_and_has_five_lines() -> None:
    result = result_of(read(HONEST.parent / "two-variants.csv"), "fenced")
    assert result.estimate is not None
    answer, *below = remarks.in_lines([result], width=80)
    assert answer == f"timer_overhead fenced: overhead {sensible(result.estimate)[0]} ns"
    assert [line.partition(":")[0].strip() for line in below[:4]] == [
        "95 % interval", "samples", "clock", "conditions",
    ]  # fmt: skip
    assert len({len(line) - len(line.partition(":")[2].lstrip()) for line in below[:4]}) == 1


def test_what_needs_no_action_is_not_printed_in_a_terminal() -> None:
    recording = read(HONEST.parent / "two-variants.csv")
    results = [result_of(recording, name) for name in recording.variants]
    seen = remarks.of_results(results)
    printed = " ".join(remarks.in_lines(results))
    assert all(warning in printed for warning in seen.warnings)
    assert not any(quiet in printed for quiet in seen.quiet)


def test_a_warning_that_all_results_have_is_told_of_all_even_if_most_are_quiet() -> None:
    """Told of two rings of four, it made the other two seem undisturbed."""
    recording = simulate.run(Machine(), 1)
    one = RunWarning("shared-core", "something else used the same core", "a thread", "wait")
    result = result_of(recording, None, "ticks")
    quiet = dataclasses.replace(
        result, told=(dataclasses.replace(one, quiet=True, brief="used the same core"),)
    )
    loud = dataclasses.replace(result, told=(one,))
    for results, which in (
        ([quiet, loud, quiet], "all: "),
        ([quiet, loud, dataclasses.replace(result, told=())], "a and b: "),
    ):
        said = remarks.of_results(results, ["a", "b", "c"])
        assert [each.startswith(which) for each in said.warnings] == [True]
        assert said.conditions == remarks.of_results([result]).conditions
