"""Figures of switches from a machine that can bind no task to a CPU, or says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.cases.case import Case, make_case, make_relation
from grader.cases.verdict import Outcome, Verdict
from grader.facts import caveats, task_counts
from grader.figures import figure_named
from grader.judging.check import check
from grader.judging.lab_folder import check_folder
from labs.course import figures
from labs.course.figures import Figure
from labs.recording import run_conditions
from labs.recording.file import Recording
from labs.results.result import result_of
from testing.paths import FIXTURES
from testing.submitted_figures import Clocked, figure, recording, switching

CONDVAR = "thread-switch-condvar"
REFUSED = "none: this system offers no pinning"


def unbound_run(
    counted: float = 2.0, said: str = REFUSED, processes: int = 10, **more: str
) -> Recording:
    """Two tasks that may have had a CPU each, on a machine that is `said` to be without pinning."""
    one = switching(counted=counted, may_use="0-1", peers="1", more={"cpu.pinning": said, **more})
    trips = {"condvar": Clocked(60.0, 10_400.0), "alone": Clocked(60.0, 1_300.0)}
    stated_conditions = {
        key: value
        for key, value in one.conditions.items()
        if key.startswith(("variant.", "cpu.", "machine.", "os", "seccomp"))
    }
    return recording(
        trips,
        kernel="thread_switch",
        samples=3000,
        processes=processes,
        noise=40.0,
        extra=stated_conditions,
    )


def case_of(found: Recording) -> Case:
    return make_case(figure_named(CONDVAR), figure(CONDVAR, 1500.0, "ns"), found)


def verdict_on(found: Recording) -> Verdict:
    estimate = result_of(found, "condvar", "ns").estimate
    assert estimate is not None
    return check(figure_named(CONDVAR), figure(CONDVAR, estimate.value, "ns"), found)


def test_what_a_machine_without_pinning_shows_is_graded_and_told_for_what_it_is() -> None:
    verdict = verdict_on(unbound_run())
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.points == verdict.max_points
    assert "this system offers no pinning" in verdict.reason
    assert "need not be switches on one CPU" in verdict.reason
    # Nothing praises it for what it is not.
    assert verdict.praise == caveats.UNBOUND_PRAISE.text


@pytest.mark.parametrize(
    "said",
    [
        "left out: -DTICKLAB_NO_PINNING leaves pinning out",
        "",
        "yes",
        "the OS refuses",
    ],
)
def test_only_a_machine_that_cannot_pin_is_excused(said: str) -> None:
    verdict = verdict_on(unbound_run(said=said))
    assert {finding.code for finding in verdict.findings} == {"two-cpus-not-one"}
    assert verdict.points < verdict.max_points


def test_a_wrong_figure_stays_wrong_without_pinning() -> None:
    found = unbound_run()
    verdict = check(figure_named(CONDVAR), figure(CONDVAR, 9_000.0, "ns"), found)
    assert verdict.outcome is Outcome.FAILED and verdict.findings
    # A round trip that is called one switch, as anywhere else.
    estimate = result_of(found, "condvar", "ns").estimate
    assert estimate is not None
    doubled = check(figure_named(CONDVAR), figure(CONDVAR, 2 * estimate.value, "ns"), found)
    assert doubled.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("counted", "code"),
    [
        (0.001, task_counts.FEWER),
        (0.9, task_counts.FEWER),
        (1.3, None),
        (2.3, None),
        (3.4, None),
    ],
)
def test_with_a_cpu_each_tasks_sleep_more_or_less_often(counted: float, code: str | None) -> None:
    assert task_counts.code_of(case_of(unbound_run(counted))) == code


def test_a_single_cpu_is_one_cpu_with_pinning_or_without() -> None:
    found = switching(
        may_use="0", peers="0", allowed="0", more={"cpu.pinning": REFUSED, "cpus.online": "4"}
    )
    assert run_conditions.why_unbound(found) is None
    assert caveats.caveat_of_unbound(case_of(found)) == ""


@pytest.mark.parametrize(("online", "bound"), [("2", False), ("1", True)])
def test_where_nobody_says_which_cpus_may_be_used_there_may_be_only_one(
    online: str, bound: bool
) -> None:
    found = switching(allowed="unknown", more={"cpu.pinning": REFUSED, "cpus.online": online})
    assert (run_conditions.why_unbound(found) is None) == bound


def submission(folder: Path, **recordings: Recording) -> dict[str, Verdict]:
    """The verdicts on two figures of lab 06, each by a recording of its own."""
    names = dict(zip((CONDVAR, "switch-convoy-count"), recordings, strict=True))
    for name, found in recordings.items():
        found.write(folder / "recordings" / f"{name}.csv")
    condvar = result_of(recordings[names[CONDVAR]], "condvar", "ns").estimate
    assert condvar is not None
    values = {CONDVAR: (condvar.value, "ns"), "switch-convoy-count": (0.004, "times")}
    for asked, (value, unit) in values.items():
        figures.put(folder, Figure(asked, value, unit, f"recordings/{names[asked]}.csv"))
    return {each.figure: each for each in check_folder(folder, "06-process-and-thread-switch")}


def test_another_run_of_the_same_machine_that_was_pinned_speaks_against_it(tmp_path: Path) -> None:
    pinned = switching("bare-mutex", counted=0.004)
    found = submission(tmp_path, threads=unbound_run(), naive=pinned)[CONDVAR]
    assert {finding.code for finding in found.findings} == {"two-cpus-not-one"}
    assert any("cpu.pinning differ from recordings/naive.csv" in flag for flag in found.flags)


def test_a_run_of_another_machine_says_nothing_against_it(tmp_path: Path) -> None:
    other = switching("bare-mutex", counted=0.004, more={"os": "Linux 6.1 x86_64"})
    mine = unbound_run(os="Darwin 23.0 arm64")
    found = submission(tmp_path, threads=mine, naive=other)[CONDVAR]
    assert found.outcome is Outcome.PASSED, found


@pytest.mark.parametrize(("seccomp", "flagged"), [("off", True), ("filter", False)])
def test_a_plain_linux_that_cannot_pin_is_for_a_person_to_look_at(
    seccomp: str, flagged: bool, tmp_path: Path
) -> None:
    here = {"os": "Linux 6.1 x86_64", "seccomp": seccomp}
    naive = switching("bare-mutex", counted=0.004, more={"cpu.pinning": REFUSED, **here})
    threads = unbound_run(os=here["os"], seccomp=seccomp)
    found = submission(tmp_path, threads=threads, naive=naive)[CONDVAR]
    assert found.outcome is Outcome.PASSED
    assert any("no task can be bound" in flag for flag in found.flags) == flagged


def test_what_follows_from_such_figures_says_so_as_well() -> None:
    cases = []
    for name, variant in (("process-switch-pipe-pinned", "pipe-pinned"), (CONDVAR, "condvar")):
        kernel = figure_named(name).kernel
        more = {"cpu.pinning": REFUSED}
        found = switching(variant, kernel=kernel, may_use="0-1", peers="1", more=more)
        cases.append(make_case(figure_named(name), figure(name, 1500.0, "ns"), found))
    which = figure_named("switch-which-is-dearer")
    related = make_relation(which, Figure(which.id, 3, "choice", None), tuple(cases))
    assert "need not be switches on one CPU" in caveats.caveat_of_unbound(related)


# Real runs, made under a filter that refuses to pin


RUNS = FIXTURES / "honest_runs"
MADE_WITHOUT = sorted(path.name for path in RUNS.glob("*-no-pinning"))


@pytest.mark.usefixtures("as_students_run")
@pytest.mark.parametrize("name", MADE_WITHOUT)
def test_real_runs_without_pinning_get_their_points_by_what_they_say_of_it(
    name: str, tmp_path: Path
) -> None:
    lab = name.removesuffix("-no-pinning")
    for verdict in check_folder(RUNS / name, lab):
        assert verdict.outcome is Outcome.PASSED, verdict
        assert caveats.HANDOFFS_IN_ITS_PLACE in verdict.reason
        assert verdict.flags == ()
    folder = tmp_path / lab
    shutil.copytree(RUNS / name, folder)
    for path in (folder / "recordings").glob("*.csv"):
        head, _, rows = path.read_text().partition("# cpu.pinning: ")
        path.write_text(head + rows.partition("\n")[2])
    silent = {each.figure: each for each in check_folder(folder, lab)}
    found_codes = {finding.code for each in silent.values() for finding in each.findings}
    assert found_codes == {"two-cpus-not-one"}
    assert sum(each.points for each in silent.values()) < 18


def test_there_are_such_runs() -> None:
    assert len(MADE_WITHOUT) == 2
