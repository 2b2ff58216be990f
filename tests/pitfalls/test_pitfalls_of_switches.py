"""Switches: which one mistake counts, places and clocks of a recording show, and when none."""

from __future__ import annotations

from dataclasses import replace

from grader.evidence import task_counts
from grader.figures import figure_named
from grader.figures.case import Case, make_case, make_relation
from grader.judging.check import check, judge
from labs.course.figures import Figure
from labs.recording import run_conditions
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.results.results_compared import compared
from labs.units import rounded
from support.submission import honest_submission
from support.submitted_figures import Clocked, figure, recording, switching

CONDVAR, PROCESS = "thread-switch-condvar", "process-switch-pipe-pinned"
SEMAPHORE = """
    /* measured region begins */
    sem_post(&turn);
    sem_wait(&turn);
    /* measured region ends */
"""
TWO_SEMAPHORES = SEMAPHORE.replace("sem_wait(&turn)", "sem_wait(&mine)")
FORK = """
    /* measured region begins */
    const pid_t child = fork();
    /* measured region ends */
"""

FORK_IN_A_FUNCTION = """
    static int to_a_new_one(void) { const pid_t child = fork(); return wait_for(child); }
    /* measured region begins */
    failed |= to_a_new_one();
    /* measured region ends */
"""
LOCK = """
    pthread_mutex_lock(&mutex);
    turn = 0;
    pthread_mutex_unlock(&mutex);
"""
SIGNAL_INSIDE = LOCK.replace("turn = 0", "pthread_cond_signal(&changed)")
SIGNAL_AFTER = LOCK + "pthread_cond_signal(&changed);"
TIMED = "while (turn != own) pthread_cond_timedwait(&changed, &mutex, &until);"

COUNT_CODES = {
    *("lock-convoy", "never-slept", "own-semaphore", "signal-under-the-lock"),
    *("two-cpus-not-one", "unclear-divisor", "creation-counted-as-switch"),
    *(task_counts.FEWER, task_counts.MORE, "wait-with-an-end"),
}


def case_of(found: Recording, asked: str = CONDVAR, source: str | None = None) -> Case:
    return make_case(figure_named(asked), figure(asked, 1500.0, "ns"), found, source)


def test_a_recording_shows_one_mistake_or_none() -> None:
    for counted, may_use, source, code in (
        (2.0, "0", None, None),
        (2.05, "0", None, None),
        (0.001, "0", None, task_counts.FEWER),
        (0.001, "0", LOCK, "lock-convoy"),
        (0.001, "0", LOCK.replace("turn = 0", "sem_post(&there)"), task_counts.FEWER),
        (0.001, "0", SEMAPHORE, "own-semaphore"),
        (0.001, "0", TWO_SEMAPHORES, task_counts.FEWER),
        (0.001, "0", FORK, "creation-counted-as-switch"),
        (0.001, "0", FORK_IN_A_FUNCTION, "creation-counted-as-switch"),
        (0.001, "1", None, "never-slept"),
        (0.001, "0-1", SEMAPHORE, "never-slept"),
        (3.4, "0", None, task_counts.MORE),
        (3.4, "0", SIGNAL_INSIDE, "signal-under-the-lock"),
        (3.4, "0", SIGNAL_AFTER, task_counts.MORE),
        (3.4, "0", SIGNAL_AFTER + TIMED, "wait-with-an-end"),
        (3.4, "0", SIGNAL_INSIDE + TIMED, task_counts.MORE),
        (3.4, "0", LOCK + "/* usleep(5) */", task_counts.MORE),
        (2.0, "1", None, "two-cpus-not-one"),
        (2.0, "0-1", None, "two-cpus-not-one"),
        (2.0, "0", FORK, "creation-counted-as-switch"),
    ):
        found = switching(counted=counted, may_use=may_use, peers=may_use[:1])
        assert task_counts.code_of(case_of(found, source=source)) == code, (counted, may_use)


def test_what_is_found_is_told_alone() -> None:
    found = switching(counted=0.001)
    verdict = check(figure_named(CONDVAR), figure(CONDVAR, 1500.0, "ns"), found, SEMAPHORE)
    assert COUNT_CODES & {finding.code for finding in verdict.findings} == {"own-semaphore"}


def test_page_faults_show_creation_without_the_source() -> None:
    found = switching("pipe-pinned", kernel="process_switch", faults=200_000, counted=4.0)
    assert task_counts.code_of(case_of(found, PROCESS)) == "creation-counted-as-switch"


def test_one_switch_claimed_for_a_round_trip_is_an_unclear_divisor() -> None:
    found = switching(claim=1.0, counted=2.0)
    assert task_counts.code_of(case_of(found)) == "unclear-divisor"


def test_on_a_machine_of_one_cpu_nothing_need_be_pinned() -> None:
    found = switching(may_use="0", peers="0", allowed="0")
    assert task_counts.code_of(case_of(found)) is None


def test_a_slow_busy_machine_may_preempt_often() -> None:
    # 150 µs a switch: samples last seconds in all, and others have the CPU in between.
    found = switching(counted=2.4)
    stretched = recording(
        {"condvar": Clocked(60.0, 780_000.0), "alone": Clocked(60.0, 1_300.0)},
        kernel="thread_switch",
        samples=300,
        processes=1,
        extra={
            key: value
            for key, value in found.conditions.items()
            if key.startswith(("variant.", "cpu."))
        },
    )
    assert task_counts.code_of(case_of(found)) == task_counts.MORE
    assert task_counts.code_of(case_of(stretched)) is None


def test_where_the_os_counts_no_switches_nothing_is_said_of_them() -> None:
    found = switching(counted=0.0)
    without = dict(found.conditions)
    del without["variant.condvar.counted_switches"]
    silent = replace(found, conditions=without)
    assert task_counts.code_of(case_of(silent)) is None


def test_the_count_of_a_whole_run_says_nothing_of_one_of_several_variants() -> None:
    found = switching()
    head = {key: value for key, value in found.conditions.items() if "_switches" not in key} | {
        "variant.alone.switches": "2",
        "claimed.switches": "40000",
        "task.main.voluntary_switches": "100",
    }
    mixed = replace(found, conditions=head)
    assert task_counts.code_of(case_of(mixed)) is None


def test_lists_of_cpus_are_read_and_anything_else_is_none() -> None:
    for words, cpus in (
        ("0", {0}),
        ("0-2,5", {0, 1, 2, 5}),
        ("", set()),
        ("unknown", set()),
        ("7-3", set()),
    ):
        assert run_conditions.cpus_of(words) == cpus, (words, cpus)


def test_the_count_of_a_convoy_is_a_figure_and_no_mistake() -> None:
    found = switching("bare-mutex", counted=0.004)
    verdict = check(
        figure_named("switch-convoy-count"), figure("switch-convoy-count", 0.004, "times"), found
    )
    assert verdict.findings == () or {f.code for f in verdict.findings} == {"one-process"}
    assert not COUNT_CODES & {finding.code for finding in verdict.findings}


def test_only_a_variants_own_samples_say_whether_it_was_where_it_was_asked_to_be() -> None:
    for cpus, is_reported in (("0", False), ("0-1", True), ("1", True)):
        # The other variant of this run moves by design: the counts of the whole run are not this
        # one's own.
        whole = {
            "cpu.asked": "0",
            "cpu.before": "0",
            "cpu.after": "1",
            "task.main.migrations": "38",
        }
        found = switching(more={**whole, "variant.condvar.cpus": cpus})
        verdict = check(figure_named(CONDVAR), figure(CONDVAR, 1500.0, "ns"), found)
        codes = {finding.code for finding in verdict.findings}
        assert ("affinity-not-obtained" in codes) == is_reported, (cpus, is_reported)


def test_who_concludes_by_comparing_the_runs_concludes_rightly() -> None:
    for times, right in ((1.05, 2), (0.95, 1), (1.0, 3)):
        ids = ("process-switch-pipe-pinned", "thread-switch-pipe")
        kinds = (("process_switch", "pipe-pinned", 1.0), ("thread_switch", "pipe", times))
        cases, runs = [], []
        for name, (kernel, variant, factor) in zip(ids, kinds, strict=True):
            trips = {variant: Clocked(60.0, 10_400.0 * factor), "alone": Clocked(60.0, 1_300.0)}
            claims = {f"variant.{variant}.parts": "2"}
            found = recording(trips, kernel=kernel, samples=600, extra=claims)
            result = result_of(found, variant, "ns")
            assert result.estimate is not None, (times, right)
            cases.append(
                make_case(figure_named(name), figure(name, result.estimate.value, "ns"), found)
            )
            runs.append(result)
        comparison = compared(runs[0], runs[1])
        assert (
            3 if not comparison.distinguishable else 1 if comparison.difference > 0 else 2
        ) == right, (times, right)
        which = figure_named("switch-which-is-dearer")
        for number in (1, 2, 3):
            concluded = Figure(which.id, number, "choice", None)
            case = make_relation(which, concluded, tuple(cases))
            assert case.right is (number == right), (times, right)
            if case.right:
                reason = judge(which, case, concluded).reason
                assert reason.endswith(f": {number} ({which.choices[number - 1].text})."), times


def test_a_condition_variable_is_not_told_of_pipes() -> None:
    found = switching()
    net = result_of(found, "condvar", "ns").net
    assert net is not None
    value = float(f"{net.unsubtracted.value / 2.6:.5g}")
    verdict = check(figure_named(CONDVAR), figure(CONDVAR, value, "ns"), found)
    told = next(each for each in verdict.findings if each.code == "read-and-write-counted-along")
    words = " ".join((told.symptom, told.evidence, told.misconception, told.experiment))
    assert "pipe" not in words and "message" not in words
    # And a stale figure is not told of calls at all.
    old = replace(figure(CONDVAR, value, "ns"), when="2020-01-01T00:00:00+00:00")
    dated = replace(found, conditions={**found.conditions, "created": "2026-01-01T00:00:00+00:00"})
    stale = check(figure_named(CONDVAR), old, dated)
    codes = {each.code for each in stale.findings}
    assert "figure-not-from-recording" in codes and "read-and-write-counted-along" not in codes


def test_the_calls_are_told_for_as_many_switches_as_were_given() -> None:
    found = honest_submission(figure_named("process-switch-pipe-pinned"))
    net, unit = found.case().result.net, found.spec.unit
    assert net is not None and net.baseline is not None and net.parts == 2
    per_unit = found.case().result.clock.ticks_in(unit)
    calls = net.times * net.baseline.value / per_unit
    for timed, words in (
        (net.unsubtracted, f"half your round trip, of which {rounded(calls / 2)} {unit} are"),
        (net.whole, f"your round trip of 2 switches, of which {rounded(calls)} {unit} are"),
    ):
        (told,) = found.gives(timed.value / per_unit).verdict().findings
        assert told.code == "read-and-write-counted-along" and words in told.evidence
