"""What `python -m bench ablation` makes of sets and simulated machines; when it does not hold."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.figures import ablation
from bench.figures.ablation import IDEAS, NOTHING, Idea, Outcome, Reduced, Row
from bench.figures.coverage_cases import ROUNDS, Case, Truth, all_cases
from labs.analysis.confidence import Estimate
from labs.recording.file import Recording
from labs.results.result import result_of
from support import simulate
from support.declarations import as_declared
from support.simulate import BASELINE, OPERATION

BY_NAME = {idea.name: idea for idea in IDEAS}
#: An idea that changes nothing here: no machine declares another step than its own.
USELESS = BY_NAME["step that samples show"]
ROUNDS_OF_THE_CORE = BY_NAME["rounds of the core"]


def call(seed: int, slower: int = 0, slower_by: float = 0.33) -> Recording:
    """A run of which so many processes share their core, and are slower by this share."""
    machine = replace(
        OPERATION, samples=600, rounds=ROUNDS, slower_processes=slower, slower_by=slower_by
    )
    return as_declared(simulate.run(machine, seed), "procedure_call")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of four rounds: in two of them, eight of ten processes shared their core."""
    folder = tmp_path_factory.mktemp("set")
    for number, slower in enumerate((0, 8, 0, 8)):
        path = folder / f"round-{number:02}" / "procedure_call-simulated.csv"
        call(number, slower).write(path)
    return folder


def reduced(folder: Path, ideas: Sequence[Idea]) -> list[Reduced]:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return ablation.reduced_set(pool, folder, ideas)


def lost(case: Case, ideas: Sequence[Idea], runs: int = 20) -> list[tuple[Row, ...]]:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return ablation.lost_rows(pool, [case], runs, ideas)


def of_agreement(percent: int) -> Reduced:
    return Reduced([True] * percent + [False] * (100 - percent), [0.04] * 10)


def judged(idea: Idea, usual: Sequence[int], without: Sequence[int], rows: int = 0) -> bool:
    """The verdict on an idea by these percentages of pairs that agree in each set."""
    outcomes = [
        Outcome(NOTHING, tuple(map(of_agreement, usual)), ()),
        Outcome(
            idea,
            tuple(map(of_agreement, without)),
            tuple(Row("a case", "cost", n) for n in range(rows)),
        ),
    ]
    return ablation.judged([f"set {n}" for n in range(len(usual))], outcomes)


# The judgement

CASES: dict[str, tuple[Sequence[int], Sequence[int], int, bool]] = {
    "it earns a point on one of two sets": ((93, 90), (93, 89), 0, True),
    "it earns nothing": ((93, 90), (93, 90), 0, False),
    "without it, more pairs agree": ((93, 90), (95, 92), 0, False),
    "it earns two rows": ((93, 90), (93, 90), 2, False),
    "it earns three rows": ((93, 90), (93, 90), 3, True),
}


@pytest.mark.parametrize("name", CASES)
def test_an_idea_must_earn_agreement_or_rows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual, without, rows, holds = CASES[name]
    assert judged(Idea("an idea", {}), usual, without, rows) is holds
    said = capsys.readouterr().out
    assert ("DOES NOT HOLD: 0 of 1 ideas earn their place; these go: an idea" in said) is not holds


def test_another_experiment_keeps_an_idea(capsys: pytest.CaptureFixture[str]) -> None:
    idea = Idea("an idea", {}, "loads differ by it: python -m bench ladder")
    assert judged(idea, (93,), (93,))
    assert "loads differ by it: python -m bench ladder" in capsys.readouterr().out


def test_without_a_set_nothing_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(Idea("an idea", {}), (), ())
    assert "SKIPPED: no set of recordings" in capsys.readouterr().out


# Sets


def test_a_set_shows_what_rounds_of_the_core_earn(saved: Path) -> None:
    usual, without, useless = reduced(saved, (ROUNDS_OF_THE_CORE, USELESS))
    assert usual.agreement == 100
    assert without.agreement < 100
    assert useless == usual


# Simulated machines


def shared_case() -> Case:
    machine = replace(OPERATION, samples=600, rounds=ROUNDS, slower_processes=4, gaps_per_s=500)
    return Case("4 of 10 slower", machine, (Truth.COST,), kernel="procedure_call")


def test_a_row_is_lost_if_it_holds_only_with_the_idea() -> None:
    usual, without, useless = lost(shared_case(), (ROUNDS_OF_THE_CORE, USELESS))
    assert usual == ()
    assert without == (("4 of 10 slower", "cost", 1),)
    assert useless == ()


def test_a_row_that_never_holds_is_lost_by_no_idea() -> None:
    wrong = replace(shared_case(), factor=2.0)
    usual, without, _ = lost(wrong, (ROUNDS_OF_THE_CORE, USELESS))
    assert usual == (("4 of 10 slower", "cost", 1),)
    assert without == ()


def test_an_idea_that_changes_nothing_is_not_tried_in_all_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    switched_off = Idea.switched_off

    def noted(idea: Idea) -> object:
        tried.append(idea.name)
        return switched_off(idea)

    monkeypatch.setattr(ablation, "FIRST_RUNS", 5)
    monkeypatch.setattr(Idea, "switched_off", noted)
    lost(shared_case(), (ROUNDS_OF_THE_CORE, USELESS))
    assert tried.count(ROUNDS_OF_THE_CORE.name) == 4
    assert tried.count(USELESS.name) == 1


# The ideas


def with_all_that_rounds_count() -> Recording:
    """A run next to a thread that only the stores show."""
    run = call(1)
    stated = {"core_stores": " ".join(["2.0"] * 30 + ["1.4"] * 11)}
    return replace(run, processes=tuple({**each, **stated} for each in run.processes))


@pytest.fixture(scope="module")
def some_of_all() -> list[Recording]:
    """Recordings of which each idea decides something."""
    names = (
        "4 of 10 slower, layout 3.0%",
        "all slower by 10%",
        "a slight bend",
        "gaps in 88 % of the longest",
        "coarser than declared (1)",
        "one in 20 takes longer",
        "one in 20 takes longer, short",
        "net: processes differ",
        "70% of long samples preempted",
    )
    cases = [case for case in all_cases() if case.name in names and case.machine.step > 1]
    one_far = replace(OPERATION, slower=(*[0.0] * 9, 0.5))
    paired = simulate.with_baseline(one_far, BASELINE, 1)
    return [with_all_that_rounds_count(), paired, *(case.recording(1) for case in cases)]


def figures(recordings: Sequence[Recording]) -> list[Estimate | None]:
    return [result_of(replace(each), unit="cycles").estimate for each in recordings]


@pytest.mark.parametrize("idea", IDEAS, ids=lambda idea: idea.name.replace(" ", "-"))
def test_each_idea_changes_a_figure_and_comes_back(
    idea: Idea, some_of_all: list[Recording]
) -> None:
    """A name that the estimate no longer uses would earn nothing, and nobody would see why."""
    usual = figures(some_of_all)
    with idea.switched_off():
        assert figures(some_of_all) != usual
    assert figures(some_of_all) == usual


def test_a_set_shows_how_much_longer_samples_take_on_a_shared_core(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "round-00" / "procedure_call-simulated.csv"
    for slower_by, said, holds in ((0.33, "1 variants take 1.3", True), (2.0, "", False)):
        call(1, 5, slower_by).write(path)
        assert ablation.sharing_in(tmp_path) is holds
        assert said in capsys.readouterr().out
