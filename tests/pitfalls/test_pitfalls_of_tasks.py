"""Pitfalls of creating tasks, and of what a switch leaves behind: where they must keep silent."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import cast

import pytest

from grader.evidence import borne_out, memory_use, task_counts
from grader.figures import figure_named
from grader.figures.case import Case, make_case
from grader.figures.lab_05_task_creation import FIGURES as OF_CREATION
from grader.figures.lab_07_switch_footprint import FIGURES as OF_FOOTPRINT
from grader.figures.spec import FigureSpec
from grader.figures.verdict import Outcome
from grader.judging.lab_folder import check_folder
from grader.pitfalls import pitfall_named
from labs.analysis.confidence import Estimate
from labs.course import figures
from labs.recording import file
from labs.recording.file import Recording
from support.paths import FIXTURES

FOLDER = FIXTURES / "pitfalls"


def case_of(folder: str, figure_id: str, source: str | None = None) -> Case:
    """The case of a figure in a fixture of ours."""
    spec = figure_named(figure_id)
    figure = figures.read(FOLDER / folder)[figure_id]
    assert isinstance(figure, figures.Figure) and figure.recording is not None
    return make_case(spec, figure, file.read(FOLDER / folder / figure.recording), source)


def without(recording: Recording, key: str) -> Recording:
    """The recording as a version of the kit would have made it that does not say `key`."""

    def left(conditions: MappingProxyType[str, str]) -> MappingProxyType[str, str]:
        return MappingProxyType({k: v for k, v in conditions.items() if not k.endswith(key)})

    return replace(
        recording,
        conditions=left(MappingProxyType(dict(recording.conditions))),
        processes=tuple(left(MappingProxyType(dict(each))) for each in recording.processes),
    )


def test_where_the_os_does_not_say_nothing_is_said() -> None:
    for code, figure, key in (
        ("not-a-thread", "creation-thread", "children_faults"),
        ("child-left-behind", "creation-fork-wait", "children_faults"),
        ("memory-not-resident", "creation-fork-64mb", "memory.resident_kb"),
        ("working-set-not-touched", "footprint-processes-8-256k", "core_cycle_ticks"),
    ):
        case = case_of(f"{code}/wrong", figure)
        assert pitfall_named(code).detect(case) is not None, (code, figure)
        silent = make_case(case.spec, case.figure, without(case.recording, key))
        assert pitfall_named(code).detect(silent) is None, (code, figure)


def test_an_os_that_counts_no_faults_accuses_nobody_of_leaving_children_behind() -> None:
    case = case_of("child-left-behind/wrong", "creation-fork-wait")
    none = MappingProxyType({**case.recording.conditions, "variant.fork-wait.faults": "0"})
    uncounted = replace(without(case.recording, "fork-wait.faults"), conditions=none)
    code = pitfall_named("child-left-behind")
    assert code.detect(make_case(case.spec, case.figure, uncounted)) is None


def test_a_clone_that_says_thread_is_told_by_its_source_alone() -> None:
    case = case_of("not-a-thread/wrong", "creation-thread")
    bare = without(case.recording, "children_faults")
    code = pitfall_named("not-a-thread")
    for words, is_thread in [
        ("clone(f, top, SIGCHLD, 0)", True),
        ("clone(f, top, CLONE_VM, 0)", False),
    ]:
        found = code.detect(
            make_case(case.spec, case.figure, bare, f"static void x() {{ {words}; }}")
        )
        assert (found is not None) == is_thread
    commented = "/* no CLONE_VM */ clone(f, top, SIGCHLD, 0);"
    assert code.detect(make_case(case.spec, case.figure, bare, commented)) is not None


def _estimates(*values: float, half: float = 0.1) -> tuple[Estimate, ...]:
    return tuple(Estimate(v, v - half, v + half, "ns", "", 400, 5) for v in values)


def _concluded(spec: FigureSpec, *values: float, half: float = 0.1) -> int:
    assert spec.decide is not None
    return spec.decide(_estimates(*values, half=half))


FOOTPRINT_CAUSE = next(spec for spec in OF_FOOTPRINT if spec.id == "footprint-cause")
CREATION_CAUSE = next(spec for spec in OF_CREATION if spec.id == "creation-cause")


def test_where_the_indirect_cost_comes_from() -> None:
    for values, half, right in (
        ((5.0, 3.0, 3.4, 2.4), 0.1, 1),
        ((5.0, 3.0, 4.4, 2.4), 0.1, 2),
        ((5.0, 3.0, 4.9, 2.4), 0.1, 2),  # more than processes
        ((5.0, 3.0, 2.45, 2.4), 0.1, 3),  # perhaps nothing
        ((3.05, 3.0, 3.4, 2.4), 0.1, 3),
        ((5.0, 3.0, 4.0, 2.4), 1.5, 3),  # not distinguishable
        ((3.0, 5.0, 2.4, 2.5), 0.1, 3),  # a set that saves time is noise
    ):
        assert _concluded(FOOTPRINT_CAUSE, *values, half=half) == right, (values, half)


def test_what_fork_is_paid_for() -> None:
    for fork, vfork, right in ((120, 20, 1), (40, 30, 2), (40, 20, 3)):
        assert _concluded(CREATION_CAUSE, fork, vfork) == right, (fork, vfork)


def test_the_least_that_reading_a_set_can_cost() -> None:
    assert memory_use.least_cycles("processes-8-256k") == 1024
    assert memory_use.least_cycles("threads-2-4m") == 16384
    assert memory_use.least_cycles("processes-8-0") == 0
    assert memory_use.alone_of("own-256k") == "alone-256k"
    assert memory_use.alone_of("processes-8-0") == "alone-0"


@pytest.mark.usefixtures("as_students_run")
def test_an_honest_run_passes_and_raises_no_flag() -> None:
    for lab in ("05-task-creation", "07-switch-footprint"):
        # Its longest samples last tens of ms: no counter of a guest keeps its step so long.
        verdicts = check_folder(FOLDER.parent / "honest" / lab, lab)
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED}, lab
        assert [flag for verdict in verdicts for flag in verdict.flags] == [], lab


def test_a_child_is_told_by_its_faults_or_by_its_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cast(Case, None)  # the accounts are all that is looked at
    for faults, switches, charged in (
        (100, 0, True), (0, 100, True), (50, 0, True), (49, 49, False), (0, 0, False),
    ):  # fmt: skip
        account = task_counts.Account("fork", 100, 300, faults, switches)
        monkeypatch.setattr(task_counts, "accounts", lambda _, found=account: iter([found]))
        assert borne_out.children_waited_for(case) is charged, account
        assert borne_out.no_child_counted(case) is not charged, account
    # Not every OS counts switches of children: then nothing says that there was none.
    account = task_counts.Account("fork", 100, 300, 0, None)
    monkeypatch.setattr(task_counts, "accounts", lambda _: iter([account]))
    assert not borne_out.no_child_counted(case) and not borne_out.children_waited_for(case)
