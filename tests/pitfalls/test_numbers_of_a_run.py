"""Other numbers of a run, and what is made of its rows: named as far as their digits tell."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.figures import figure_named
from grader.figures.verdict import Finding
from grader.judging.check import check, judge, open_case, open_relation
from grader.judging.lab_folder import check_folder
from labs.course import figures
from labs.recording import file
from labs.recording.file import Recording
from labs.results.result import result_of
from support.paths import REPOSITORY
from support.submitted_figures import (
    FENCED,
    MONOTONIC,
    PROCESS_CPU,
    Clocked,
    figure,
    recording,
    switching,
)

NS = 2.6
Read = Callable[[Recording], float]


@pytest.fixture(scope="module")
def runs() -> dict[str, Recording]:
    """By figure, a run with known numbers."""
    calls = {
        "getppid": Clocked(60.0, 441.0),
        "invalid": Clocked(60.0, 271.3),
        "getpid": Clocked(60.0, 388.7),
        "loop": Clocked(60.0, 0.7),
    }
    extra = {f"variant.{name}.baseline": "loop" for name in calls if name != "loop"}
    system_call = recording(calls, kernel="system_call", samples=600, processes=4, extra=extra)
    # Otherwise one ratio would lie within 5 % of the other.
    monotonic = replace(MONOTONIC, overhead=20.0)
    clocks = {"fenced": FENCED, "monotonic": monotonic, "process-cpu": PROCESS_CPU}
    timers = recording(clocks, samples=900, processes=4)
    return {
        "timer-overhead-fenced": timers,
        "timer-step": timers,
        "timer-ratio-process-cpu": timers,
        "system-call-getppid": system_call,
        "system-call-floor": system_call,
    }


def found_in(name: str, value: float, unit: str, run: Recording) -> Finding:
    (found,) = check(figure_named(name), figure(name, value, unit), run).findings
    return found


def cost(run: Recording, variant: str) -> float:
    estimate = result_of(run, variant, "ns").estimate
    assert estimate is not None
    return estimate.value


def line(run: Recording, variant: str, of: str) -> float:
    found = result_of(run, variant, "ns").line
    assert found is not None
    return float(getattr(found, of).value) / found.clock.ticks_in("ns")


def column(run: Recording, variant: str, k: int | None = None) -> float:
    rows = run.rows_of(variant)
    rows = rows if k is None else rows & (run.batch == k)
    return float(run.ticks[rows].mean()) / run.clock(variant).ticks_in("ns")


SHOWN: list[tuple[str, Read, str, str]] = [
    ("timer-overhead-fenced", lambda r: line(r, "fenced", "cost"), "slope of your line", "ns"),
    ("timer-overhead-fenced", lambda r: column(r, "fenced"), "mean of the whole column", "ns"),
    ("timer-overhead-fenced", lambda r: column(r, "fenced", 512), "at k = 512", "ns"),
    ("timer-step", lambda r: NS * line(r, "fenced", "overhead"), "overhead of a pair", "ticks"),
    ("timer-step", lambda r: 4.0, "twice the step", "ticks"),
    ("system-call-getppid", lambda r: line(r, "getppid", "overhead"), "intercept", "ns"),
    ("system-call-getppid", lambda r: cost(r, "loop"), "the cost of loop", "ns"),
    ("system-call-getppid", lambda r: column(r, "getppid", 256), "256 operations inside", "ns"),
]

MADE: list[tuple[str, Read, str, str]] = [
    (
        "system-call-getppid",
        lambda r: cost(r, "getppid") - cost(r, "invalid"),
        "that is getppid - invalid.",
        "ns",
    ),
    (
        "system-call-floor",
        lambda r: cost(r, "getppid") - cost(r, "invalid"),
        "that is getppid - invalid.",
        "ns",
    ),
    (
        "system-call-getppid",
        lambda r: (cost(r, "getppid") + cost(r, "invalid")) / 2,
        "that is (getppid + invalid) / 2",
        "ns",
    ),
    (
        "system-call-getppid",
        lambda r: cost(r, "getppid") + cost(r, "getpid"),
        "that is getppid + getpid",
        "ns",
    ),
    (
        "system-call-getppid",
        lambda r: cost(r, "getppid") / cost(r, "invalid"),
        "a ratio, getppid / invalid",
        "ns",
    ),
    (
        "timer-ratio-process-cpu",
        lambda r: cost(r, "process-cpu") / cost(r, "monotonic"),
        "that is process-cpu / monotonic.",
        "times",
    ),
    (
        "timer-ratio-process-cpu",
        lambda r: cost(r, "process-cpu") - cost(r, "fenced"),
        "the difference process-cpu - fenced in ns",
        "times",
    ),
    (
        "timer-ratio-process-cpu",
        lambda r: column(r, "process-cpu") / column(r, "fenced"),
        "means of whole samples",
        "times",
    ),
    (
        "timer-ratio-process-cpu",
        lambda r: (cost(r, "process-cpu") - cost(r, "monotonic")) / cost(r, "fenced"),
        "(process-cpu - monotonic) / fenced",
        "times",
    ),
]


def test_the_number_is_named_and_one_near_it_is_not(runs: dict[str, Recording]) -> None:
    for name, read, words, unit in (*SHOWN, *MADE):
        value = read(runs[name])
        told = found_in(name, float(f"{value:.4g}"), unit, runs[name])
        assert words in told.evidence, (name, read)
        for factor in (0.985, 1.015):
            near = found_in(name, float(f"{value * factor:.4g}"), unit, runs[name])
            assert words not in near.evidence, (name, read)
            assert near.code not in ("arithmetic-slip", "another-number-of-the-run"), (name, read)


def test_a_number_that_is_copied_is_the_one_to_all_its_digits(runs: dict[str, Recording]) -> None:
    name = "system-call-getppid"
    for value, code in (
        (line(runs[name], "getppid", "overhead"), "another-number-of-the-run"),
        (column(runs[name], "getppid", 256), "cost-of-many-for-one"),
    ):
        assert found_in(name, value, "ns", runs[name]).code == code
        assert found_in(name, float(f"{value:.5g}"), "ns", runs[name]).code == code
        near = found_in(name, float(f"{value * 1.0025:.5g}"), "ns", runs[name])
        assert near.code != code


def test_of_a_row_that_is_nothing_beside_another_no_difference_is_made() -> None:
    small = {"getppid": Clocked(60.0, 441.0), "invalid": Clocked(60.0, 0.5)}
    run = recording(small, kernel="system_call", samples=400, processes=4)
    value = float(f"{cost(run, 'getppid'):.4g}")
    name = "system-call-floor"
    told = {
        each.code: each.evidence
        for each in check(figure_named(name), figure(name, value, "ns"), run).findings
    }
    assert "the cost of getppid" in told["figure-not-from-recording"]
    assert "arithmetic-slip" not in told


def test_a_count_that_is_not_of_one_exchange_is_named() -> None:
    for value, words in (
        (2.0, "what the C kernel claims"),
        (41.0, "the OS counted 40"),
        (250.0, "upside down"),
        (60.0, ""),
        (240.0, ""),
    ):
        run = switching("bare-mutex", counted=0.004)
        told = [
            each
            for each in check(
                figure_named("switch-convoy-count"),
                figure("switch-convoy-count", value, "times"),
                run,
            ).findings
            if each.code in ("another-number-of-the-run", "figure-not-from-recording")
        ]
        assert len(told) == 1, (value, words)
        named = told[0].code == "another-number-of-the-run"
        assert named == bool(words) and words in told[0].evidence, (value, words)


def test_few_digits_name_a_number_that_has_no_others() -> None:
    for value, named in ((2.0, True), (3.0, False), (2.1, False)):
        each = {"args6": 5.0, "args12": 7.0, "loop": 1.0}
        of = {name: Clocked(42.6, cycles * 0.7253) for name, cycles in each.items()}
        extra = {f"variant.{name}.baseline": "loop" for name in each if name != "loop"}
        run = recording(
            of, kernel="procedure_call", noise=0.01, samples=3000, extra={"flags": "-O0", **extra}
        )
        told = found_in("call-per-argument", value, "cycles", run)
        assert (told.code == "arithmetic-slip" and "args12 - args6." in told.evidence) == named, (
            value
        )


def test_slips_between_two_figures_are_named() -> None:
    names = ("footprint-processes-8-256k", "footprint-processes-8-0")
    ticks = {"processes-8-256k": 180e3, "processes-8-0": 87e3, "alone-256k": 8e3, "alone-0": 2e3}
    extra: dict[str, str] = {}
    for name in ("processes-8-256k", "processes-8-0"):
        alone = name.replace("processes-8", "alone")
        extra |= {f"variant.{name}.parts": "8", f"variant.{name}.baseline_times": "8"}
        extra |= {f"variant.{name}.baseline": alone}
    of = {name: Clocked(60.0, each) for name, each in ticks.items()}
    run = recording(of, kernel="switch_footprint", samples=400, processes=4, extra=extra)
    costs = {name: cost(run, figure_named(name).variant) / 1000 for name in names}
    cases = {
        name: open_case(figure_named(name), figure(name, value, "us"), run)
        for name, value in costs.items()
    }
    one, other = costs.values()
    spec = figure_named("footprint-indirect")
    for value, words in (
        (other - one, "the other way round"),
        (one + other, "added"),
        (8 * (one - other), "8 x (footprint-processes-8-256k"),
        # The baseline is 8 of the 14.5 parts of one.
        (one - other - one * 8 / 14.5, "baseline subtracted a second time"),
        (one - other - one * 7 / 14.5, ""),
        (1.3 * (one - other), ""),
    ):
        handed_in = replace(figure(spec.id, value, "us"), recording=None)
        (told,) = judge(spec, open_relation(spec, handed_in, cases), handed_in).findings
        code = "arithmetic-slip" if words else "figure-not-from-recording"
        assert told.code == code, (value, words)
        assert words in told.evidence


@pytest.mark.parametrize(
    ("run", "share", "code", "words"),
    [
        ("kinds", 1.0, "arithmetic-slip", "the baseline subtracted a second time"),
        ("naive", 1.0, "figure-not-from-recording", "costs by recordings/naive.csv, which is"),
        ("kinds", 0.9, "figure-not-from-recording", ""),
    ],
)
def test_a_baseline_subtracted_a_second_time_is_named(
    run: str, share: float, code: str, words: str, tmp_path: Path
) -> None:
    name, variant = "footprint-processes-8-256k", "processes-8-256k"
    honest = REPOSITORY / "tests/fixtures/honest/07-switch-footprint"
    folder = shutil.copytree(honest, tmp_path / honest.name)
    net = result_of(file.read(folder / f"recordings/{run}.csv"), variant, "us").net
    right = result_of(file.read(folder / "recordings/kinds.csv"), variant, "us")
    assert net is not None and net.baseline is not None and right.estimate is not None
    value = right.estimate.value - share * net.baseline.into("us", right.clock).value
    path = folder / figures.FILE_NAME
    stated = json.loads(path.read_text())
    stated[name]["value"] = value
    path.write_text(json.dumps(stated))
    (verdict,) = (each for each in check_folder(folder, folder.name) if each.figure == name)
    assert verdict.findings[0].code == code
    said = verdict.findings[0].evidence
    assert words in said if words else "subtracted" not in said
