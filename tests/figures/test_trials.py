"""Lab 08: a reproduced mistake is judged by its run, and blamed for as much as it explains."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.figures import figures_of
from grader.figures.lab_08_five_reports_on_trial import (
    DIRECTION,
    LAB,
    NOTHING,
    SIZE,
    TRIALS,
    UNDECIDED,
    by_printed,
)
from grader.figures.spec import FigureSpec
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import check
from grader.judging.lab_folder import check_folder
from labs.analysis.confidence import Estimate, side
from labs.course import figures, guide, published
from labs.course.figures import Figure
from labs.messages import Refused
from labs.notebook.broken_pair import Pair
from labs.notebook.run import Run
from labs.recording.file import read
from labs.results.result import result_of
from labs.run import broken
from labs.views import beside_report
from support.paths import FIXTURES

HONEST = FIXTURES / "honest" / LAB
REPRODUCED = [spec for spec in figures_of(LAB) if spec.demonstrates]
FACTOR = published.spread_of_machines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HONEST, tmp_path / LAB))


def verdict(folder: Path, name: str) -> Verdict:
    return next(each for each in check_folder(folder, LAB) if each.figure == name)


def honest(folder: Path, name: str) -> Figure:
    found = figures.read(folder)[name]
    assert isinstance(found, Figure)
    return found


@pytest.mark.parametrize("spec", REPRODUCED, ids=[spec.id for spec in REPRODUCED])
def test_a_reproduced_value_follows_from_the_broken_run(spec: FigureSpec, folder: Path) -> None:
    right = honest(folder, spec.id)
    repaired = honest(folder, spec.id.replace("reproduced", "repaired"))
    for value, unit, code in (
        (12345.0, "ns", "figure-not-from-recording"),
        (0.0, "ns", ""),
        (right.value, "us", "unit-slip"),
        (right.value * 1e6, "ns", ""),
        (right.value * 1.3, "ns", ""),
        (repaired.value, repaired.unit, ""),
        (right.value, "bushels", "unit-unknown"),
    ):
        figures.put(folder, replace(right, value=value, unit=unit))
        found = verdict(folder, spec.id)
        codes = [finding.code for finding in found.findings]
        assert found.outcome is Outcome.FAILED and codes, (value, unit)
        assert found.points <= found.max_points / 2
        assert code in ("", *codes), (value, unit, codes)
        assert found.praise == ""
    for value, unit in ((right.value / 1e3, "us"), (float(f"{right.value:.3g}"), "ns")):
        figures.put(folder, replace(right, value=value, unit=unit))
        assert verdict(folder, spec.id).outcome is Outcome.PASSED, (value, unit)


def test_a_broken_run_is_not_called_the_variant_that_its_student_chose(folder: Path) -> None:
    said = {spec.id: verdict(folder, spec.id).reason for spec in REPRODUCED}
    assert "The broken variant getppid costs" in said["trial-a-reproduced"]
    assert not any("Your variant" in each for each in said.values())


@pytest.mark.parametrize("spec", REPRODUCED, ids=[spec.id for spec in REPRODUCED])
def test_the_repaired_run_reproduces_no_mistake(spec: FigureSpec, folder: Path) -> None:
    repaired = honest(folder, spec.id.replace("reproduced", "repaired"))
    figures.put(folder, replace(repaired, id=spec.id))
    found = verdict(folder, spec.id)
    assert found.outcome is Outcome.FAILED
    assert not found.praise and found.points <= found.max_points / 2


def test_the_cells_of_a_trial_are_worth_four_points() -> None:
    for trial in TRIALS:
        mine = [spec for spec in figures_of(LAB) if spec.id.startswith(trial.name)]
        assert sum(spec.max_points for spec in mine) == 4.0


def test_a_reproduced_value_within_a_wide_interval_passes_and_is_called_wide() -> None:
    for slower in (0.0, 0.5):
        spec = next(spec for spec in REPRODUCED if spec.id == "trial-d-reproduced")
        run = read(HONEST / "recordings" / "broken-bare_mutex.csv")
        ticks = np.rint(run.ticks * (1 + slower * run.process)).astype(np.int64)
        stated = {key: words for key, words in run.conditions.items() if key != "samples.sha256"}
        run = replace(run, ticks=ticks, conditions=stated)
        estimate = result_of(run, spec.variant).estimate
        assert estimate is not None, slower
        figure = replace(honest(HONEST, spec.id), value=estimate.value, unit="ns")
        found = check(spec, figure, run, broken.find("bare_mutex").source)
        assert found.outcome is Outcome.PASSED, slower
        assert ("do not believe the value" in found.reason) == (slower > 0)


# ------------------------------------------------------------------------- what it explains


def around(value: float, share: float = 0.01) -> Estimate:
    half = share * value
    return Estimate(value, value - half, value + half, "ns", "", 400, 5)


def test_what_a_mistake_explains() -> None:
    for broken_at, share, repaired_at, right in (
        (1.0, 0.01, 30.0, SIZE),
        (1.0, 0.01, 1.0, UNDECIDED),  # the mistake changes nothing, and the size is the same
        (1 / 5.07, 0.001, 1 / 5.5, DIRECTION),  # it moves hardly, and leaves a factor of 5
        (1 / 0.217, 0.001, 1 / 0.2, DIRECTION),
        (1 / 5.07, 0.001, 1 / 26.0, SIZE),
        (1 / 0.217, 0.001, 1 / 0.04, SIZE),
        (0.9 * FACTOR, 0.01, 0.1, SIZE),
        (1.1 * FACTOR, 0.01, 0.1, DIRECTION),
        (1 / (1.1 * FACTOR), 0.01, 30.0, DIRECTION),
        (100.0, 0.01, 0.5, DIRECTION),
        (100.0, 0.01, 2.0, NOTHING),
        (0.01, 0.01, 2.0, DIRECTION),
        (0.01, 0.01, 0.5, NOTHING),  # it makes the figure smaller, and the printed one is larger
        (0.01, 0.01, 1.0, NOTHING),  # the repaired run gives what is printed
        (0.01, 0.01, 0.01, UNDECIDED),  # nothing moves here
        (FACTOR, 0.05, 0.1, UNDECIDED),
        (1 / FACTOR, 0.05, 30.0, UNDECIDED),
        (1.0, 20.0, 30.0, UNDECIDED),
    ):
        # In units of the printed figure.
        printed = published.in_ns("system call gettimeofday", "B")
        decide = by_printed("system call gettimeofday", "B")
        operands = (around(broken_at * printed, share), around(repaired_at * printed))
        assert decide(operands) == right


def test_on_a_shared_core_the_rule_is_the_printed_one() -> None:
    """The table shows the intervals as they are, and machines differ by more than two programs."""
    printed = published.in_ns("system call gettimeofday", "B")
    values = (around(value * printed) for value in (1 / 3.5, 25.0))
    broken, repaired = (replace(each, at_most=True) for each in values)
    assert by_printed("system call gettimeofday", "B")((broken, repaired)) == SIZE
    assert side(broken, repaired) < 0


def test_the_factor_of_machines_is_that_of_one_measurement_in_report_a() -> None:
    printed = published.figures("timer overhead", "A", "table")
    values = sorted(each.value for each in printed if each.unit == "ns")
    assert len(values) == 4
    assert pytest.approx(values[-1] / values[0], rel=0.01) == FACTOR == 6.0
    assert "factor of 6" in guide.of_lab(LAB).hints["explains"][2]


def test_printed_figures_in_ns() -> None:
    for quantity, report, ns in (
        ("system call gettimeofday", "B", 16.56),
        ("system call read of 0 bytes", "C", 320_000.0),
        ("thread switch mutex", "D", 3323.0),
        ("procedure call 0 args", "E", 104.0),
        ("process switch pipe", "B", 3465.0),
    ):
        assert published.in_ns(quantity, report) == pytest.approx(ns, rel=1e-3)
        assert quantity in published.quantities_in_time(report)


def test_nothing_printed_is_told() -> None:
    with pytest.raises(KeyError, match="prints no time"):
        published.in_ns("procedure call", "A")
    with pytest.raises(KeyError):
        published.in_ns("procedure call 0 args", "B")


def pair_of(name: str) -> Pair:
    recordings = HONEST / "recordings"
    runs = (Run.of(read(recordings / f"{which}-{name}.csv")) for which in ("broken", "repaired"))
    return Pair(broken.find(name), *runs)


@pytest.mark.parametrize(
    ("figure", "other", "answers"),
    [
        ("trial-a-repaired", "trial-c-repaired", ("getppid,", "getppid.")),
        ("trial-d-repaired", "trial-a-repaired", ("condvar", "thread_switch")),
        ("trial-e-repaired", "trial-a-repaired", ("procedure_call", "args0")),
    ],
)
def test_a_wrong_repair_is_refused_without_the_name_of_the_right_one(
    figure: str, other: str, answers: tuple[str, ...], folder: Path
) -> None:
    wrong = honest(folder, other)
    figures.put(folder, replace(wrong, id=figure))
    (finding,) = verdict(folder, figure).findings
    asked = next(spec for spec in figures_of(LAB) if spec.id == figure).asked
    assert asked in finding.evidence
    assert not [each for each in answers if each in finding.evidence.replace(asked, "")]


def test_the_printed_figures_say_what_they_are_the_mean_of() -> None:
    headings = {
        report: beside_report(report, pair_of("bare_mutex")).header[1] for report in "ABCDE"
    }
    assert headings == {
        "A": "in ns, mean of machines",
        "B": "in ns, mean of runs",
        **dict.fromkeys("CDE", "in ns"),
    }


def test_a_trial_is_shown_next_to_its_report() -> None:
    table = beside_report("D", pair_of("bare_mutex"))
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["thread switch mutex"][0] == "3323" and rows["thread switch mutex"][2] == "larger"
    assert "broken is smaller" in table.caption and "6 times" in table.caption
    factor = float(rows["thread switch mutex"][1].split(" ")[0])
    assert factor == pytest.approx(3323 / pair_of("bare_mutex").naive_value, rel=0.01)
    assert set(rows) == set(published.quantities_in_time("D"))
    with pytest.raises(Refused, match="no report"):
        beside_report("F", pair_of("bare_mutex"))
