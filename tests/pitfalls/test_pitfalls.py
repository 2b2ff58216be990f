"""Every pitfall: a submission that shows it and no other, one that is close but right, and live.

The submissions lie under fixtures/pitfalls/CODE/: `wrong` and `near`, each a lab folder with its
figures.json and recordings; some have a second, `wrong-...`, where a mistake shows in two ways.
The recipes in testing/fixtures state how each was made.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cases.case import Case
from grader.cases.verdict import Outcome, Verdict
from grader.facts.caveats import caveat_of_width
from grader.facts.sources import source_of
from grader.figures import figure_named
from grader.judging import lab_folder
from grader.judging.check import check, open_case
from grader.pitfalls import CATALOGUE, pitfall_named
from grader.pitfalls.pitfall import Live, Pitfall
from grader.pitfalls.system_and_library_calls import TIMES_FLOOR
from labs.analysis.line import core_of
from labs.analysis.net_cost import parts_of
from labs.course.figures import Figure
from labs.machine.surroundings import allowed_cpus
from labs.recording.file import Recording
from labs.results import result
from labs.results.result import result_of
from labs.run import broken, measure
from labs.run.c_process import RunFailed
from testing.paths import FIXTURES

FOLDER = FIXTURES / "pitfalls"
MOST_WORDS = 80

CODES = [pitfall.code for pitfall in CATALOGUE]
LIVE = [(pitfall, live) for pitfall in CATALOGUE for live in pitfall.broken]


def judged(folder: Path, code: str) -> list[Verdict]:
    """The verdicts on what is handed in there; for `no-figure`, on what is not."""
    handed_in = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    verdicts = lab_folder.check_handed_in(folder, lab_folder.lab_of(folder))
    return [v for v in verdicts if v.figure in handed_in or code == "no-figure"]


def test_there_are_as_many_as_promised() -> None:
    assert len(CODES) == len(set(CODES)) >= 36


@pytest.mark.parametrize("code", CODES)
def test_a_finding_names_a_c_kernel_that_can_be_run(code: str) -> None:
    pitfall = pitfall_named(code)
    finding = pitfall.finding("the evidence")
    assert bool(finding.to_see) == bool(pitfall.broken)
    if finding.to_see:
        assert f'lab.broken("{broken.find(finding.broken).name}")' in finding.to_see


def wrong(code: str) -> list[Path]:
    """The submissions that show it, the first of them `wrong`."""
    return [FOLDER / code / "wrong", *sorted((FOLDER / code).glob("wrong-*"))]


@pytest.mark.parametrize("code", CODES)
def test_its_fixture_shows_it_and_no_other_of_its_level(code: str) -> None:
    level = pitfall_named(code).level
    for folder in wrong(code):
        found = {
            finding.code
            for verdict in judged(folder, code)
            for finding in verdict.findings
            if finding.level is level
        }
        assert found == {code}, folder


@pytest.mark.parametrize("code", CODES)
def test_its_near_miss_shows_none(code: str) -> None:
    verdicts = judged(FOLDER / code / "near", code="")
    assert verdicts
    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED}


@pytest.mark.parametrize("code", CODES)
def test_what_is_told_is_short(code: str) -> None:
    for verdict in [each for folder in wrong(code) for each in judged(folder, code)]:
        for finding in verdict.findings:
            texts = (finding.symptom, finding.evidence, finding.misconception, finding.experiment)
            assert all(text.strip() for text in texts)
            assert len(" ".join(texts).split()) <= MOST_WORDS, finding


#: Of a run of which so many samples were set aside, the rest is too little for a small mistake.
MOST_SHARED = 0.25
#: A switch that takes so many ns waits until the time slice of another program is over.
LONGEST_SWITCH = 100_000.0


def disturbed(recording: Recording) -> str:
    """Why a live run need not show its mistake; '' where it must.

    Beside another hardware thread everything takes twice as long, what would be impossibly short
    too, and the kit then knows only what the cost is at most. Where most samples were taken beside
    one, too few are left.
    """
    core = core_of(recording)
    if core is not None and core.always_shared:
        return f"the core was shared: {core.additions:.1f} additions a cycle at most"
    for name in recording.variants:
        line = result_of(recording, name, "ns").line
        if line is not None and line.shared:
            return f"{name}: the core was shared all the time"
        shared = line.share_set_aside("shared") if line is not None else 0.0
        if shared > MOST_SHARED:
            return f"{name}: the core was shared for {shared:.0%} of the samples"
        parts = parts_of(recording, name)
        if parts > 1 and line is not None:
            each = line.cost.value / parts / line.clock.ticks_in("ns")
            if each > LONGEST_SWITCH:
                return f"{name}: a switch takes {each / 1000:.0f} us, so others run in between"
    return ""


def told_by_its_cost_alone(recording: Recording) -> str:
    """Why a failed call is not known here: '' where it is cheap.

    On some machines the search for a descriptor that is not open costs half of a system call.
    """
    if not {"read0", "invalid"} <= set(recording.variants):
        return ""
    failed, least = (result_of(recording, name, "ns").estimate for name in ("read0", "invalid"))
    if failed is None or least is None or failed.value < TIMES_FLOOR * least.value:
        return ""
    return f"a read that fails costs {failed.value / least.value:.2f} times the least call here"


@pytest.mark.parametrize(
    ("pitfall", "live"), LIVE, ids=[f"{pitfall.code}-{live.kernel}" for pitfall, live in LIVE]
)
def test_its_broken_c_kernel_shows_it_live(pitfall: Pitfall, live: Live) -> None:
    if live.needs == "two CPUs" and len(allowed_cpus() or (0,)) < 2:
        pytest.skip("needs two CPUs")
    kernel = broken.find(live.kernel)
    try:
        recording = measure.measure_now(kernel.plan())
    except RunFailed as error:
        if not error.impossible_here:
            raise
        pytest.skip(str(error))
    spec = figure_named(live.figure)
    unit = spec.unit if spec.is_time else "ns"
    value = result.naive_value(result_of(recording, live.handed_in or spec.variant, unit))
    figure = Figure(spec.id, value, unit, "recordings/broken.csv")
    verdict = check(spec, figure, recording, source_of(recording))
    codes = [finding.code for finding in verdict.findings]
    if pitfall.code not in codes:
        why = disturbed(recording) or told_by_its_cost_alone(recording)
        if "too-few-samples" in codes:  # which a run has here only where it was disturbed
            why = why or verdict.findings[codes.index("too-few-samples")].evidence
        # An interval that is not to be believed may hold the mistaken value as well.
        opened = open_case(spec, figure, recording, source_of(recording))
        if why := why or (caveat_of_width(opened) if isinstance(opened, Case) else ""):
            pytest.skip(why)
    assert pitfall.code in [finding.code for finding in verdict.findings], verdict
    assert verdict.outcome is Outcome.FAILED
