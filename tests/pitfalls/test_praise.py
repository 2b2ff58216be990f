"""Each praising sentence names its checks; where one of them fails, the sentence is not said.

For each figure, sentence and check there is a submission in which that check fails. It is made from
the honest one: either by the student's value, or by a small change of the recording or of the C. A
check without such a submission cannot fail, and nobody may be praised by it.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.evidence import borne_out, caveats
from grader.evidence.borne_out import FACTS
from grader.evidence.observed import usual_ticks
from grader.evidence.sources import source_of
from grader.figures import LABS, figure_named
from grader.figures.lab_08_five_reports_on_trial import TRIALS, Trial
from grader.figures.spec import FigureSpec, Praise
from grader.figures.verdict import Outcome
from grader.judging import check as judging
from grader.judging.lab_folder import check_folder
from grader.pitfalls import CATALOGUE, pitfall_named
from labs.course import figures
from labs.course.figures import Figure
from labs.recording.file import read
from labs.results.result import result_of
from labs.run import broken
from support.honest_cases import honest
from support.paths import FIXTURES
from support.submission import COUNTED, Submission, honest_submission

FIGURES = [spec for specs in LABS.values() for spec in specs]
CODES = {pitfall.code for pitfall in CATALOGUE}
ALL = [(spec, praise) for spec in FIGURES for praise in spec.praises]
PAIRS = [(spec, praise, check) for spec, praise in ALL for check in praise.by]


@functools.cache
def praised(spec: FigureSpec, praise: Praise) -> Submission:
    """The honest submission that gets this praise: of later ones, the earlier ones lack a fact."""
    found = honest_submission(spec)
    for earlier in spec.praises[: spec.praises.index(praise)]:
        found = LACKING[earlier.by[0]](found)
    return found


# --------------------------------------------------------------- submissions in which a check fails


Change = Callable[[Submission], Submission]


def without(*keys: str) -> Change:
    """The same without these conditions."""
    return lambda found: found.states(dict.fromkeys(keys))


def stating(key: str, value: str) -> Change:
    return lambda found: found.states({key: value})


def times(factor: float) -> Change:
    return lambda found: found.gives(found.figure.value * factor)


def other_choice(found: Submission) -> Submission:
    right = int(found.figure.value)
    return found.gives(1.0 if right != 1 else 2.0)


def one_process(found: Submission) -> Submission:
    assert found.recording is not None
    return found.rows(found.recording.process == 0).follows()


def in_turn(found: Submission) -> Submission:
    """All samples of one variant come before those of the next, in each process."""
    recording = found.recording
    assert recording is not None
    sample = recording.sample.copy()
    for process in np.unique(recording.process).tolist():
        steady = np.flatnonzero((recording.process == process) & (sample >= 0))
        order = np.lexsort((sample[steady], recording.variant_index[steady]))
        sample[steady[order]] = np.sort(sample[steady])
    return found.with_recording(sample=sample).follows()


def bent(found: Submission) -> Submission:
    """The samples of one batch size take longer than their work."""
    recording = found.recording
    assert recording is not None
    size = np.unique(recording.batch)[-2]
    return found.lasting(np.where(recording.batch == size, 2 * recording.ticks, recording.ticks))


def gap(found: Submission) -> Submission:
    """One sample of each process is left out."""
    assert found.recording is not None
    return found.rows(found.recording.sample != 15)


def warmed_up(found: Submission) -> Submission:
    """The first samples of each process are called warm-up."""
    assert found.recording is not None
    return found.with_recording(sample=found.recording.sample - 3).follows()


def of_fixture(code: str) -> Change:
    """The wrong submission of the pitfall, where it is of this figure."""

    def change(found: Submission) -> Submission:
        folders = sorted((FIXTURES / "pitfalls" / code).glob("wrong*"))
        for folder in folders:
            figure = figures.read(folder).get(found.spec.id)
            if isinstance(figure, Figure) and figure.recording is not None:
                path = folder / figure.recording
                recording = read(path)
                source = source_of(recording, path.with_suffix(".c"))
                return Submission(found.spec, figure, recording, source)
        pytest.fail(f"no fixture of {code} is a {found.spec.id}")

    return change


def sample_with_work(found: Submission) -> Submission:
    """A whole sample in place of what is to be read from the line through all of them."""
    recording = found.recording
    assert recording is not None
    mine = recording.samples(found.spec.variant)
    size = next(size for size in mine.batch_sizes if size)
    clock = recording.clock(found.spec.variant)
    return found.gives(usual_ticks(mine, size) / clock.ticks_in(found.spec.unit))


def whole_sample(found: Submission) -> Submission:
    """The longest sample, with all of its operations."""
    line = found.case().result.line
    assert line is not None
    return found.gives(float(line.location[-1]) / line.clock.ticks_in(found.spec.unit))


def as_timed(found: Submission) -> Submission:
    """What one operation takes with nothing subtracted."""
    result = found.case().result
    assert result.net is not None
    return found.gives(result.net.unsubtracted.value / result.clock.ticks_in(found.spec.unit))


def with_clock(found: Submission) -> Submission:
    """The cost, and a pair of readings on top."""
    result = found.case().result
    assert result.line is not None
    return found.gives(
        found.figure.value + result.line.overhead.value / result.clock.ticks_in(found.spec.unit)
    )


def ticks_as_cycles(found: Submission) -> Submission:
    """The right value in ticks, called core cycles."""
    cycle = found.case().result.clock.core_cycle_ticks
    assert cycle is not None
    return found.gives(found.figure.value * cycle)


def in_nanoseconds(found: Submission) -> Submission:
    """The right value in ns, where it is asked for in core cycles."""
    clock = found.case().result.clock
    value = clock.convert(found.figure.value, found.figure.unit, "ns")
    return replace(found, figure=replace(found.figure, value=value, unit="ns"))


def value_of(variant: str) -> Change:
    """The result of another variant of the same recording."""

    def change(found: Submission) -> Submission:
        assert found.recording is not None
        estimate = result_of(found.recording, variant, found.spec.unit).estimate
        assert estimate is not None
        return found.gives(estimate.value)

    return change


def in_ticks_over_ns(found: Submission) -> Submission:
    """The quotient of two numbers, one of them in ticks of the counter."""
    over, under = (found.case().results[name].clock for name in found.spec.variants)
    return found.gives(found.figure.value * over.frequency_hz / under.frequency_hz)


def by_c_of(name: str) -> Change:
    """The C of a broken C kernel in place of the one that was measured."""

    def change(found: Submission) -> Submission:
        text = broken.find(name).source
        return found.of_c(text)

    return change


def by_c(old: str, new: str) -> Change:
    """The student's C with a change."""

    def change(found: Submission) -> Submission:
        assert found.source is not None and old in found.source
        return found.of_c(found.source.replace(old, new))

    return change


def run_of(other: str) -> Change:
    """The recording of another figure, with the value that it gives here."""

    def change(found: Submission) -> Submission:
        given = honest_submission(figure_named(other))
        return replace(found, recording=given.recording, source=given.source).follows()

    return change


def costing_nothing(found: Submission) -> Submission:
    """The samples do not grow with their work, and differ by as much as before."""
    recording = found.recording
    assert recording is not None
    mine, ticks = recording.rows_of(found.spec.variant), recording.ticks.copy()
    usual = {k: int(np.median(ticks[mine & (recording.batch == k)])) for k in recording.batch[mine]}
    least = usual[min(k for k in usual if k > 0)]
    ticks[mine] += np.array([least - usual[k] for k in recording.batch[mine]])
    return found.lasting(ticks)


def as_unprepared(found: Submission) -> Submission:
    """The first calls take as long as those that nobody got ready for."""
    recording = found.recording
    assert recording is not None
    ticks = recording.ticks.copy()
    for process in np.unique(recording.process).tolist():
        mine, other = (
            np.flatnonzero(recording.rows_of(name) & (recording.process == process))
            for name in ("own", "unprepared")
        )
        first, of_other = (rows[recording.sample[rows].argmin()] for rows in (mine, other))
        ticks[first] = ticks[of_other]
    return found.lasting(ticks)


def creation_alone(found: Submission) -> Submission:
    """Another variant of the run stands for one without an end, and its result is handed in."""
    recording = found.recording
    assert recording is not None
    alone = found.spec.variant.removesuffix("-wait")
    variants = tuple(alone if name == "vfork-wait" else name for name in recording.variants)
    stated = (recording.conditions, *recording.processes)
    conditions, *processes = (
        {key.replace("vfork-wait", alone): value for key, value in each.items()} for each in stated
    )
    renamed = found.with_recording(
        variants=variants, conditions=conditions, processes=tuple(processes)
    )
    return value_of(alone)(renamed)


def without_samples_of(variant: str) -> Change:
    """The recording has no samples of this variant."""

    def change(found: Submission) -> Submission:
        assert found.recording is not None
        return found.rows(~found.recording.rows_of(variant))

    return change


def of_other_mechanism(found: Submission) -> Submission:
    """The ratio to the figure of another mechanism."""
    process, other = (honest(name).value for name in (found.spec.of[0], found.spec.compare_with[0]))
    return found.gives(process / other)


def with_library(found: Submission) -> Submission:
    """The library's call before the one made by hand, as the C of report B has it."""
    again = by_c("fd >= 0 && 1;", "fd >= 0 && gettimeofday(&today, NULL) == 0;")(found)
    return again.states({"program.imports": "gettimeofday"})


def scaled(variant: str, factor: float) -> Change:
    """The samples of one variant, of which so much is left."""

    def change(found: Submission) -> Submission:
        recording = found.recording
        assert recording is not None
        ticks = np.where(
            recording.rows_of(variant), (recording.ticks * factor).astype(np.int64), recording.ticks
        )
        return found.lasting(ticks)

    return change


#: Nobody could watch the student's call.
UNWATCHED = without(*(key for key in COUNTED["own_call"] if "watched" in key))

#: By check, or by figure and check, what makes the check fail in an honest submission.
LACKING: dict[str | tuple[str, str], Change] = {
    # Codes of pitfalls
    "baseline-does-it-too": stating("@.counted_of_baseline", "7"),
    "child-left-behind": of_fixture("child-left-behind"),
    "clock-read-too-early": of_fixture("clock-read-too-early"),
    "conclusion-against-table": other_choice,
    "cost-of-many-for-one": whole_sample,
    "counts-itself": of_fixture("counts-itself"),
    "creation-without-its-end": creation_alone,
    "failing-call-timed": stating("@.watched_failed", "16"),
    "figure-not-from-recording": times(6.03),
    "cycles-for-ticks": ticks_as_cycles,
    "cycle-too-short": stating("@.nodes_walked", "100"),
    "first-sample-lost": warmed_up,
    "interval-as-wide-as-value": of_fixture("interval-as-wide-as-value"),
    "library-call-not-system-call": of_fixture("library-call-not-system-call"),
    "lock-convoy": of_fixture("lock-convoy"),
    "loop-counted-along": of_fixture("loop-counted-along"),
    "memory-not-resident": stating("memory.resident_kb", "2000"),
    "neighbours-mapped-along": of_fixture("neighbours-mapped-along"),
    "not-a-thread": of_fixture("not-a-thread"),
    "not-one-call": stating("@.watched_loops", "1"),
    "not-one-chain": stating("@.watched_chains", "2"),
    "not-woken": stating("@.turns_unwoken", "1"),
    "number-not-by-the-task": stating("@.raised_by_task", "0"),
    "one-process": one_process,
    "operations-not-counted": without("@.counted_of_operation"),
    "optimisation-levels-mixed": stating("flags", "-O1"),
    "other-call-than-asked": stating("@.watched_empty_reads", "0"),
    "other-page-touched": stating("@.watched_page", "0"),
    "order-foreseen": stating("@.same_hops", "2097150"),
    "page-fault-counted-along": stating("task.main.minor_faults", "100000"),
    "page-not-brought": stating("variant.own.faults", "100000"),
    "page-still-missing": as_unprepared,
    "page-there-before": of_fixture("page-there-before"),
    "read-not-written": lambda found: found.states(
        {"@.later_faults": "100000", "@.there": "1000000000"}
    ),
    "more-between-the-readings": bent,
    "ratio-upside-down": lambda found: found.gives(1 / found.figure.value),
    "mechanisms-differ": of_other_mechanism,
    "call-not-by-hand": by_c(
        "trap(SYS_gettimeofday, (long)&today, 0, 0)", "gettimeofday(&today, NULL)"
    ),
    "library-call-beside-trap": with_library,
    "ratio-of-unlike-units": in_ticks_over_ns,
    "read-and-write-counted-along": as_timed,
    "step-assumed-one": lambda found: found.gives(1.0),
    "timer-not-subtracted": with_clock,
    "touching-counted-as-switch": as_timed,
    "two-cpus-not-one": stating("@.peers_may_use", "0-1"),
    "two-results-for-one": value_of("condvar"),
    "vdso-not-system-call": stating("@.system_calls", "0"),
    "vfork-for-thread": stating("@.parent_slept", "1"),
    "work-counted-as-timer": sample_with_work,
    "work-optimised-away": costing_nothing,
    "working-set-in-part": stating("@.lines_used", "2048"),
    "working-set-not-touched": of_fixture("working-set-not-touched"),
    "wrong-registers": by_c_of("wrong_registers"),
    # Facts
    "cost left": costing_nothing,
    "use measured": without("core_cycle_ticks"),
    "baseline subtracted": without("@.baseline"),
    "call seen": without("@.watched_calls"),
    "children waited for": without("@.children_switches", "@.children_faults"),
    "calls comparable": without("core_cycle_ticks"),
    "every line used": stating("@.lines_used", "4095"),
    "every line walked": without("@.nodes_walked"),
    "in core cycles": in_nanoseconds,
    "hops counted": without("@.same_hops"),
    "loads chained": without("@.ends_right"),
    "set resident": without("@.resident_kb"),
    "faults counted": without("task.main.minor_faults"),
    "interleaved": in_turn,
    "level stated": without("flags"),
    "made by hand": without("program.imports"),
    "memory held": without("memory.resident_kb"),
    "nearly every line used": without("@.lines_tried"),
    "no child counted": without("@.children_switches"),
    "no fault left": without("variant.own.faults"),
    "no sample missing": gap,
    "one fault a page": without("@.faults"),
    "on one cpu": without("@.peers_may_use"),
    "on the step": lambda found: found.with_recording(
        ticks=2 * (found.recording.ticks if found.recording is not None else np.zeros(0))
    ),
    "one chain seen": without("@.watched_chains"),
    "page seen": without("@.watched_page"),
    "parent awake": without("@.parent_slept"),
    "raised by task": without("@.tried"),
    "reads seen": UNWATCHED,
    "no call refused": stating("@.watched_failed", "8"),
    "failure noticed": without("@.watched_failure_noticed"),
    "sleeps until woken": without("@.turns_tried"),
    "switches counted": without("@.claimed_switches", "@.counted_switches", "@.switches"),
    "floor in run": without_samples_of("invalid"),
    "less than half": as_unprepared,
    "costs more than refused": scaled("setuid-refused", 10.0),
    # Where a figure needs another change
    ("timer-own-addition", "clock-read-too-early"): costing_nothing,
    ("trial-a-reproduced", "mistake-not-reproduced"): run_of("trial-a-repaired"),
    ("trial-b-reproduced", "mistake-not-reproduced"): run_of("system-call-vdso-ratio"),
    ("trial-c-reproduced", "mistake-not-reproduced"): run_of("system-call-read0"),
    ("trial-d-reproduced", "mistake-not-reproduced"): run_of("trial-d-repaired"),
    ("trial-e-reproduced", "mistake-not-reproduced"): run_of("trial-e-repaired"),
    ("trial-a-repaired", "library-call-not-system-call"): run_of("trial-a-reproduced"),
    ("trial-d-repaired", "lock-convoy"): run_of("trial-d-reproduced"),
    ("system-call-vdso-ratio", "library-call-not-system-call"): scaled("gettimeofday-trap", 0.05),
    ("switch-convoy-count", "figure-not-from-recording"): lambda found: found.gives(3.7),
}


def lacking(spec: FigureSpec, praise: Praise, check: str) -> Submission:
    """A submission of this figure in which the check fails, made from one with this praise."""
    change = LACKING.get((spec.id, check)) or LACKING.get(check)
    assert change is not None, f"add to LACKING what makes {check} fail: see its comment"
    return change(praised(spec, praise))


def test_each_sentence_names_checks_that_there_are() -> None:
    assert CODES.isdisjoint(FACTS)
    for spec, praise in [*ALL, *((None, each) for each in ELSEWHERE)]:
        assert praise.by and set(praise.by) <= CODES | set(FACTS), (spec, praise)
    used = {check for _, _, check in PAIRS}
    assert set(FACTS) <= used
    used |= {check for praise in ELSEWHERE for check in praise.by}
    assert {key if isinstance(key, str) else key[1] for key in LACKING} <= used


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_every_figure_is_praised_by_its_own_sentences(lab: str) -> None:
    """Each of them is said of a submission that passes."""
    for spec in LABS[lab]:
        assert spec.praises, spec.id
        for praise in spec.praises:
            verdict = praised(spec, praise).verdict()
            assert verdict.outcome is Outcome.PASSED, (spec.id, verdict)
            assert verdict.praise == praise.text, spec.id


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_where_a_check_fails_the_sentence_is_not_said(lab: str) -> None:
    for spec, praise, check in PAIRS:
        if spec.lab != lab:
            continue
        found = lacking(spec, praise, check)
        verdict = found.verdict()
        assert verdict.praise != praise.text, (spec.id, check)
        if check in FACTS:
            assert not FACTS[check](found.case()), (spec.id, check)
            assert borne_out.praise_of(found.case()) != praise, (spec.id, check)
        else:
            assert check in {finding.code for finding in verdict.findings}, (spec.id, check)
            assert not verdict.praise, (spec.id, check)


# ------------------------------------------------------- what is said in place of a figure's praise


ELSEWHERE = (
    caveats.WIDE_PRAISE,
    caveats.UNBOUND_PRAISE,
    borne_out.FOLLOWS,
    borne_out.BORNE_OUT,
    judging.UNCHANGED,
)


def said(praise: Praise, found: Submission) -> None:
    """The sentence is said of this submission."""
    assert found.verdict().praise == praise.text


def not_said(praise: Praise, check: str, found: Submission) -> None:
    """The check fails in this submission, and nothing is said of it."""
    assert check in praise.by
    verdict = found.verdict()
    assert check in {finding.code for finding in verdict.findings}, verdict
    assert not verdict.praise


def test_a_wide_interval_is_praised_for_what_it_allows() -> None:
    spec = replace(figure_named("call-args0"), widest=1e-9)
    found = replace(honest_submission(figure_named("call-args0")), spec=spec)
    said(caveats.WIDE_PRAISE, found)
    not_said(caveats.WIDE_PRAISE, "figure-not-from-recording", found.gives(1234.5))
    wide = LACKING["interval-as-wide-as-value"](found)
    not_said(caveats.WIDE_PRAISE, "interval-as-wide-as-value", wide)


def test_a_figure_that_is_rightly_next_to_nothing_keeps_its_praise() -> None:
    """Nothing was left of the first call, the best result, and nothing was said of the student's C.

    The sentence is about the run: one that did not see the page is not praised for it.
    """
    spec = figure_named("first-call-own")
    found = honest_submission(spec)
    assert found.recording is not None
    first = found.recording.rows_of("own") & (found.recording.sample == 0)
    later = found.recording.ticks[found.recording.rows_of("own") & ~first]
    ticks = found.recording.ticks.copy()
    ticks[first] = np.resize(np.quantile(later, (0.0, 0.5, 1.0)), first.sum())
    nothing_left = found.with_recording(ticks=ticks).gives(0.0)
    assert "does not distinguish the figure from zero" in nothing_left.verdict().reason
    said(spec.praises[0], nothing_left)
    said(spec.praises[1], without("@.watched_page")(nothing_left))


def test_a_machine_without_pinning_is_praised_for_its_limits() -> None:
    folder = FIXTURES / "honest_runs" / "06-process-and-thread-switch-no-pinning"
    spec = figure_named("thread-switch-condvar")
    figure = figures.read(folder)[spec.id]
    assert isinstance(figure, Figure) and figure.recording is not None
    found = Submission(spec, figure, read(folder / figure.recording))
    said(caveats.UNBOUND_PRAISE, found)
    not_said(caveats.UNBOUND_PRAISE, "two-cpus-not-one", found.states({caveats.PINNING: None}))


def test_a_recording_that_shows_no_fact_is_praised_for_its_figure_only() -> None:
    found = LACKING["level stated"](honest_submission(figure_named("call-args6")))
    said(borne_out.FOLLOWS, found)
    not_said(borne_out.FOLLOWS, "figure-not-from-recording", found.gives(1234.5))
    found = replace(
        honest_submission(figure_named("call-inlined")),
        spec=replace(figure_named("call-inlined"), praise=""),
    )
    said(borne_out.BORNE_OUT, found)
    not_said(borne_out.BORNE_OUT, "conclusion-against-table", found.gives(2.0))


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_mistake_that_does_not_show_is_not_said_to_show(trial: Trial) -> None:
    """The unchanged C kernel of the mistake, and samples in which nobody finds it."""
    spec = figure_named(f"{trial.name}-reproduced")
    repaired = LACKING[spec.id, "mistake-not-reproduced"](honest_submission(spec))
    mistake = broken.find(pitfall_named(trial.code).broken[0].kernel)
    found = replace(repaired.of_c(mistake.source), source=None)  # known by its hash
    said(judging.UNCHANGED, found)
    not_said(judging.UNCHANGED, "figure-not-from-recording", found.gives(98765.4))
    not_said(judging.UNCHANGED, "mistake-not-reproduced", repaired)


@pytest.mark.parametrize(
    ("asked", "wrong", "unit"),
    [
        ("creation-ratio", "creation-thread", "times"),
        ("switch-ratio-same-mechanism", "thread-switch-pipe", "times"),
    ],
)
def test_a_ratio_of_wrong_figures_is_not_called_the_ratio_that_was_asked_for(
    asked: str, wrong: str, unit: str, tmp_path: Path
) -> None:
    """It follows from the student's own figures, and one of them is of something else."""
    spec = figure_named(asked)
    folder = shutil.copytree(FIXTURES / "honest" / spec.lab, tmp_path / spec.lab)
    known = figures.read(folder)
    first, second = (known[name] for name in spec.of)
    assert isinstance(first, Figure) and isinstance(second, Figure)
    said = {}
    for off in (1.0, 2.0):
        figures.put(folder, replace(second, value=off * second.value))
        figures.put(folder, Figure(asked, first.value / (off * second.value), unit, None))
        verdicts = {each.figure: each for each in check_folder(folder, spec.lab)}
        expected = Outcome.PASSED if off == 1 else Outcome.FAILED
        assert verdicts[wrong].outcome is expected
        assert verdicts[asked].outcome is Outcome.PASSED
        said[off] = verdicts[asked].praise
    assert said[1.0] == spec.praises[0].text
    assert said[2.0] == borne_out.FOLLOWS_FROM_FIGURES.text
