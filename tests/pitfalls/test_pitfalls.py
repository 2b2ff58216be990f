"""Every pitfall: a submission that shows it and no other, one that is close but right, and live.

The submissions lie under fixtures/pitfalls/CODE/: `wrong` and `near`, each a lab folder with its
figures.json and recordings; some have a second, `wrong-...`, where a mistake shows in two ways.
The recipes in support/fixtures state how each was made.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.evidence import sources
from grader.evidence.caveats import caveat_of_width
from grader.evidence.sources import source_of
from grader.figures import figure_named
from grader.figures.case import Case
from grader.figures.verdict import Outcome, Verdict
from grader.judging import lab_folder
from grader.judging.check import check, open_case
from grader.pitfalls import CATALOGUE, pitfall_named
from grader.pitfalls.pitfall import Live, Pitfall
from grader.pitfalls.system_and_library_calls import TIMES_FLOOR
from labs.analysis.cpu_core import core_of
from labs.analysis.net_cost import parts_of
from labs.c_kernels.toolchain import measured_region
from labs.course.figures import Figure
from labs.machine.surroundings import allowed_cpus
from labs.recording.file import Recording
from labs.results import result
from labs.results.result import Result, result_of
from labs.run import broken, measure, variants
from labs.run.broken import BrokenKernel
from labs.run.c_process import RunClock, RunFailed
from labs.run.plan import Plan
from support.finding_words import MOST_WORDS, words_of
from support.paths import FIXTURES

FOLDER = FIXTURES / "pitfalls"

CODES = [pitfall.code for pitfall in CATALOGUE]
LIVE = [(pitfall, live) for pitfall in CATALOGUE for live in pitfall.broken]


def judged(folder: Path) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts on what is handed in there, and on what is not."""
    handed_in = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    verdicts = lab_folder.check_handed_in(folder, lab_folder.lab_of(folder))
    of_it = [verdict for verdict in verdicts if verdict.figure in handed_in]
    return of_it, [verdict for verdict in verdicts if verdict.figure not in handed_in]


def test_each_has_a_code_and_names_a_c_kernel_that_can_be_run() -> None:
    assert len(CODES) == len(set(CODES)) >= 36
    assert {live.kernel for _, live in LIVE} == set(broken.names())
    for pitfall in CATALOGUE:
        finding = pitfall.finding("the evidence")
        assert bool(finding.to_see) == bool(pitfall.broken), pitfall.code
        if finding.to_see:
            assert f'lab.broken("{broken.find(finding.broken).name}")' in finding.to_see


@pytest.mark.parametrize("code", CODES)
def test_its_fixture_shows_it_and_no_other_of_its_level(code: str) -> None:
    level = pitfall_named(code).level
    for folder in [FOLDER / code / "wrong", *sorted((FOLDER / code).glob("wrong-*"))]:
        handed_in, others = judged(folder)
        about = handed_in + others if code == "no-figure" else handed_in
        found = {
            finding.code
            for verdict in about
            for finding in verdict.findings
            if finding.level is level
        }
        assert found == {code}, folder
        for verdict in handed_in + others:
            for each in verdict.findings:
                texts = (each.symptom, each.evidence, each.misconception, each.experiment)
                assert all(text.strip() for text in texts)
                assert words_of(each, figure_named(verdict.figure)) <= MOST_WORDS, each


@pytest.mark.parametrize("code", CODES)
def test_its_near_miss_shows_none(code: str) -> None:
    verdicts, _ = judged(FOLDER / code / "near")
    assert verdicts
    assert [finding for verdict in verdicts for finding in verdict.findings] == []
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED}


#: Most of them ask for fewer themselves, and show their mistake.
MOST_SAMPLES = 2000
#: Samples and processes of a walk through memory, which takes long to fill. Each process counts its
#: mistake, so no time decides.
OF_LADDER = (120, 3)
#: Of a run of which so many samples were set aside, the rest is too little for a small mistake.
MOST_SHARED = 0.25
#: A machine may hide a few mistakes, which a verdict then tells by the hash of the C. More are a
#: fault of ours.
HIDDEN: list[str] = []
MOST_HIDDEN = 3
#: Of a mean, the share of its samples that other programs may have made.
LONGEST_SAMPLES = 0.01
#: Mistakes that are told by trying the operations, without a time: no neighbour hides them.
SHOWN_BY_TRIALS = {
    *("half-of-the-counter", "input-eaten", "mapping-counted-along"),
    *("nothing-sent", "samples-dropped"),
}
#: To build what tries them takes longer than all the rest, so only these have theirs tried.
TRIED = {*SHOWN_BY_TRIALS, "child-flushes", "input-learnt"}
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


def mean_of_most(measured: Result) -> float:
    """The mean without the longest samples: where nearly all are 0, one interrupted sample is all
    of a mean, and a figure about another program."""
    recording, mine = measured.recording, measured.recording.rows_of(measured.variant)
    ticks, operations = recording.ticks[mine], recording.batch[mine].clip(min=1)
    most = np.argsort(ticks, kind="stable")[: int(len(ticks) * (1 - LONGEST_SAMPLES))]
    mean = float(ticks[most].sum() / operations[most].sum())
    return mean / measured.clock.ticks_in(measured.unit)


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


def is_short_and_stands_alone(kernel: BrokenKernel) -> None:
    """It says what is wrong, and needs no folder of ours for its headers."""
    lines, words = len(kernel.source.splitlines()), len(kernel.mistake.split())
    assert lines <= broken.MOST_LINES, f"{kernel.path.name} has {lines} lines: shorten it"
    assert 4 <= words <= 40, f"{kernel.path.name}: its mistake has {words} words"
    assert measured_region(kernel.source)
    for header in re.findall(r'^ *# *include +"(.+)"', kernel.source, re.MULTILINE):
        assert (kernel.path.parent / header).is_file(), header


async def nothing_tried(plan: Plan, clock: RunClock) -> dict[str, str]:
    """In place of `measure.tried`: as where operations cannot be tried."""
    return {}


def claims_what_its_twin_measures(plan: Plan, twin: Plan) -> None:
    """Its variants that the twin has too are declared alike, and its first one is of these."""
    mine = variants.of_plan(plan)
    listed = {each.name: each for each in variants.of_plan(twin)}
    assert {*twin.variants, mine[0].name} <= listed.keys()
    for each in mine:
        if each.name in listed:
            assert each.declared.estimand == listed[each.name].declared.estimand, each.name


@pytest.mark.parametrize(
    ("pitfall", "live"), LIVE, ids=[f"{pitfall.code}-{live.kernel}" for pitfall, live in LIVE]
)
def test_its_broken_c_kernel_shows_it_live(
    pitfall: Pitfall, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    if pitfall.code not in TRIED:
        monkeypatch.setattr(measure, "tried", nothing_tried)
    # It must show in what was measured: a verdict also tells the kit's broken C by its hash.
    monkeypatch.setattr(sources, "broken_name", lambda _: None)
    kernel = broken.find(live.kernel)
    # The same program, or none where there is a warning. It is built once: a plan lists variants.
    plan = replace(kernel, options=(*kernel.options, "--flags=-O2 -Werror")).plan()
    plan = replace(plan, samples=min(plan.samples, MOST_SAMPLES))
    if kernel.repaired == "memory_ladder":
        plan = replace(plan, samples=OF_LADDER[0], processes=OF_LADDER[1])
    is_short_and_stands_alone(kernel)
    claims_what_its_twin_measures(plan, kernel.twin_plan())
    if live.needs == "two CPUs" and len(allowed_cpus() or (0,)) < 2:
        pytest.skip("needs two CPUs")
    try:
        recording = measure.measure_now(plan)
    except RunFailed as error:
        if not error.impossible_here:
            raise
        pytest.skip(str(error))
    spec = figure_named(live.figure)
    unit = spec.unit if spec.is_time else "ns"
    measured = result_of(recording, live.handed_in or spec.variant, unit)
    values = [result.naive_value(measured)]
    if measured.estimate is None:
        values.append(mean_of_most(measured))
    for value in values:
        figure = Figure(spec.id, value, unit, "recordings/broken.csv")
        verdict = check(spec, figure, recording, source_of(recording))
        if pitfall.code in [finding.code for finding in verdict.findings]:
            break
    else:
        assert pitfall.code not in SHOWN_BY_TRIALS, verdict
        why = disturbed(recording) or told_by_its_cost_alone(recording)
        # These a run has here only where it was disturbed.
        for found in verdict.findings:
            if found.code in ("too-few-samples", "not-on-a-line"):
                why = why or found.evidence
        # An interval that is not to be believed may hold the mistaken value as well.
        opened = open_case(spec, figure, recording, source_of(recording))
        why = why or (caveat_of_width(opened) if isinstance(opened, Case) else "")
        if not why and len(HIDDEN) < MOST_HIDDEN:
            HIDDEN.append(pitfall.code)
            why = "it did not show in this run"
        if why:
            pytest.skip(why)
    assert pitfall.code in [finding.code for finding in verdict.findings], verdict
    assert verdict.outcome is Outcome.FAILED
