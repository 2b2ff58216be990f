"""Conclusions by number: one of them is right, and a wrong one is not told which."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.figures import LABS
from grader.figures.case import Case
from grader.figures.expected import compared_as, conclusion
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Outcome, Verdict
from grader.judging import check, lab_folder
from grader.judging.presentation import as_html, as_text, evidence_html
from labs.analysis.confidence import Estimate, side
from labs.course import figures, guide
from labs.course.figures import Figure
from labs.messages import Refused
from labs.notebook.run import Run
from labs.notebook.session import Session
from labs.recording.file import read
from labs.results.result import result_of
from labs.results.results_compared import compared, differences_compared
from labs.units import Clock
from support.finding_words import MOST_WORDS, words_of
from support.paths import FIXTURES

CHOICES = [spec for specs in LABS.values() for spec in specs if spec.quantity is Quantity.CHOICE]
EXPLAINS = [spec for spec in CHOICES if spec.id.endswith("-explains")]
BY_DATA = [spec for spec in CHOICES if spec.decide is not None and spec not in EXPLAINS]
HONEST = FIXTURES / "honest"
SAVED = [*sorted((FIXTURES / "honest_runs").iterdir()), *sorted(HONEST.iterdir())]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The honest folder of a lab, copied once, with the honest figures each time."""
    top = tmp_path_factory.mktemp("honest")

    def honest_again(lab: str) -> Path:
        if not (top / lab).exists():
            shutil.copytree(HONEST / lab, top / lab)
        shutil.copy(HONEST / lab / figures.FILE_NAME, top / lab)
        return top / lab

    return honest_again


def named(specs: list[FigureSpec]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spec", specs, ids=[spec.id for spec in specs])


def estimates(*values: float, half: float) -> tuple[Estimate, ...]:
    return tuple(Estimate(v, v - half, v + half, "ns", "", 400, 5) for v in values)


def test_every_lab_from_the_second_on_asks_for_a_conclusion() -> None:
    assert {spec.lab for spec in CHOICES} == set(LABS) - {"01-timer-overhead"}


@named(CHOICES)
def test_the_lab_lists_the_conclusions_that_the_grader_judges(spec: FigureSpec) -> None:
    assert spec.look_at
    assert (spec.decide is None) == any(each.known for each in spec.choices)
    listed = guide.of_lab(spec.lab).choices[spec.id]
    assert listed == tuple(each.text for each in spec.choices) and len(set(listed)) == len(listed)


@named(BY_DATA)
@pytest.mark.parametrize("half", [0.0, 0.05, 0.5, 3.0, 50.0])
def test_whatever_the_data_are_one_conclusion_holds(spec: FigureSpec, half: float) -> None:
    assert spec.decide is not None
    values = (-1.0, 0.0, 0.2, 0.9, 1.0, 2.0, 5.0)
    operands = len(spec.operands)
    found = {
        spec.decide(estimates(*each, half=half))
        for each in itertools.product(values, repeat=operands)
    }
    numbers = set(range(1, len(spec.choices) + 1))
    assert found <= numbers
    if half == 0.05:
        assert found == numbers, "a conclusion that no data bear out"
    if half == 50.0:
        assert found == {len(spec.choices)}, "so wide intervals decide nothing"


def test_the_number_of_what_inlining_leaves_has_the_words_of_its_share() -> None:
    spec = next(spec for spec in CHOICES if spec.id == "call-inlined")
    assert spec.decide is not None
    words = ("less than a tenth", "less than all of it", "more than the call", "does not decide")
    for inlined, said in zip((0.2, 5.0, 20.0, 10.0), words, strict=True):
        number = spec.decide(estimates(inlined, 10.0, half=0.1))
        assert said in spec.choices[number - 1].text, inlined


def cases_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """The cases of the conclusions in a lab folder."""
    found: list[Case] = []
    judge = check.judge

    def keep(spec: FigureSpec, case: object, *rest: object, **named: bool) -> Verdict:
        if isinstance(case, Case) and spec.quantity is Quantity.CHOICE:
            found.append(case)
        return judge(spec, case, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(lab_folder, "judge", keep)
    lab = next(lab for lab in LABS if folder.name.startswith(lab))
    lab_folder.check_folder(folder, lab)
    return found


@pytest.mark.parametrize(
    "folder",
    [each for each in SAVED if any(each.name.startswith(spec.lab) for spec in CHOICES)],
    ids=lambda folder: f"{folder.parent.name} {folder.name}",
)
def test_a_recording_bears_out_one_conclusion(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_of(folder, monkeypatch)
    assert cases
    for case in cases:
        results = [case.results[name] for name in case.spec.operands]
        assert len(case.accepted_values) == (1 if all(each.estimate for each in results) else 0)


def of(folder: Path, spec: FigureSpec, number: float) -> Path:
    """The lab folder with this conclusion instead of the honest one."""
    honest = figures.read(folder)[spec.id]
    assert isinstance(honest, Figure)
    figures.put(folder, replace(honest, value=number))
    return folder


def verdict_on(spec: FigureSpec, folder: Path, *, handed_in: bool = False) -> Verdict:
    """The verdict on one figure, without those on the others of its lab."""
    judged = lab_folder.check_handed_in if handed_in else lab_folder.check_folder
    asked = {spec.lab: tuple(e for e in LABS[spec.lab] if e.id in (spec.id, *spec.of))}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lab_folder, "figures_of", asked.__getitem__)
        return next(each for each in judged(folder, spec.lab) if each.figure == spec.id)


@named(CHOICES)
def test_the_line_to_type_comes_after_the_second_wrong_answer(
    spec: FigureSpec, copies: Callable[[str], Path]
) -> None:
    folder = copies(spec.lab)
    honest = figures.read(folder)[spec.id]
    assert isinstance(honest, Figure)
    wrong = [each for each in range(1, len(spec.choices) + 1) if each != honest.value]
    stated = json.loads((folder / figures.FILE_NAME).read_text())
    del stated[spec.id]  # nothing was answered yet
    (folder / figures.FILE_NAME).write_text(json.dumps(stated))
    for tries, number in enumerate(wrong[:2], 1):
        figures.put(folder, replace(honest, value=number))
        verdict = verdict_on(spec, folder)
        assert verdict.tries == tries
        assert (spec.look_at in as_text(verdict)) == (tries > 1)


@named(CHOICES)
def test_a_wrong_conclusion_is_not_told_the_right_one(
    spec: FigureSpec, copies: Callable[[str], Path]
) -> None:
    folder = copies(spec.lab)
    honest = figures.read(folder)[spec.id]
    assert isinstance(honest, Figure)
    right = int(honest.value)
    right_text = spec.choices[right - 1].text
    shown = set()
    for wrong in range(1, len(spec.choices) + 1):
        if wrong == right:
            continue
        verdict = verdict_on(spec, of(folder, spec, wrong))
        assert verdict.outcome is Outcome.FAILED and verdict.answer == ""
        words = f"{as_text(verdict)} {as_html(verdict)} {verdict.as_json()}"
        for given_away in (right_text, f"{right} (", f"choice {right}", f"conclusion {right}"):
            assert given_away not in words.replace(spec.choices[wrong - 1].text, "")
        assert "not distinguishable" not in words
        # What is said is the same for every wrong one, but for the conclusion itself.
        concluded = f'{wrong}: "{spec.choices[wrong - 1].text}"'
        shown.add(as_text(verdict).replace(concluded, "").replace(concluded[3:], ""))
        if not spec.choices[wrong - 1].known:
            assert spec.look_at in words

        told = verdict_on(spec, folder, handed_in=True)
        assert all(
            words_of(each, spec) <= MOST_WORDS for each in (*verdict.findings, *told.findings)
        )
        assert told.answer == f"The right conclusion is {right} ({right_text})."
        assert told.answer in as_text(told)
        assert (told.points, told.outcome) == (verdict.points, verdict.outcome)
    assert len(shown) == 1 or any(each.known for each in spec.choices)


@named(CHOICES)
def test_no_more_is_told_of_the_right_one_after_the_lab_is_handed_in(spec: FigureSpec) -> None:
    folder = HONEST / spec.lab
    assert verdict_on(spec, folder) == verdict_on(spec, folder, handed_in=True)


@named(CHOICES)
@pytest.mark.parametrize("number", [0, -1, 1.5, 99])
def test_what_is_no_conclusion_is_refused_with_the_list(
    spec: FigureSpec, number: float, tmp_path: Path
) -> None:
    lab = Session(spec.lab, tmp_path)
    for hand_in in (lab.conclude, lambda name, value: lab.figure(name, value, "choice")):
        with pytest.raises(Refused) as refused:
            hand_in(spec.id, number)
        words = str(refused.value)
        assert all(each.text in words for each in spec.choices)
    with pytest.raises(Refused):
        lab.figure(spec.id, 1, "ns")
    assert not (tmp_path / figures.FILE_NAME).exists()


def test_the_answers_to_a_question_are_counted_and_cost_nothing(tmp_path: Path) -> None:
    lab = "06-process-and-thread-switch"
    spec = next(spec for spec in CHOICES if spec.lab == lab)
    shutil.copytree(HONEST / lab, folder := tmp_path / lab)
    session = Session(lab, folder)
    before = verdict_on(spec, folder)
    assert before.tries is None  # handed in by an older kit
    for number, tries in ((2, 2), (2, 2), (3, 3), (1, 4), (1, 4)):
        session.conclude(spec.id, number)
        verdict = verdict_on(spec, folder)
        assert verdict.tries == tries and verdict.as_json()["tries"] == tries
    assert verdict.points == before.points == verdict.max_points
    assert f"{spec.id} 4 times" in evidence_html([verdict], folder)
    assert "4 times" not in as_text(verdict) + as_html(verdict)
    text = (folder / figures.FILE_NAME).read_text(encoding="utf-8")
    for odd in ("0", "-3", "1e9", '"two"', "null", "[]"):
        (folder / figures.FILE_NAME).write_text(text.replace('"tries": 4', f'"tries": {odd}'))
        verdict = verdict_on(spec, folder)
        assert verdict.tries is None and verdict.outcome is Outcome.PASSED


def test_other_figures_have_no_tries(tmp_path: Path) -> None:
    figures.put(tmp_path, Figure("timer-step", 2, "ticks", None))
    figures.put(tmp_path, Figure("timer-step", 3, "ticks", None))
    assert figures.read(tmp_path)["timer-step"] == replace(
        Figure("timer-step", 3, "ticks", None),
        when=figures.read(tmp_path)["timer-step"].when,  # type: ignore[union-attr]
    )


# ------------------------------------------------------------------ the rule that a lab teaches


KINDS = read(HONEST / "05-task-creation" / "recordings" / "kinds.csv")


@pytest.mark.parametrize("times", [0.05, 0.1, 0.137, 0.138, 0.14, 0.5, 1.0, 3.0])
def test_a_share_is_compared_as_the_grader_does(times: float, tmp_path: Path) -> None:
    run = Run.of(KINDS, unit="us")
    vfork, fork = run["vfork-wait"], run["fork-wait"]
    found = Session("05-task-creation", tmp_path).compare(vfork, fork, times=times)
    one, other = (result_of(KINDS, name).estimate for name in ("vfork-wait", "fork-wait"))
    assert one is not None and other is not None
    assert found.side == side(one, other, times)
    assert found.distinguishable == (found.side != 0)
    words = {1: "is more than", -1: "is less than", 0: "not distinguishable"}[found.side]
    if times != 1:
        assert words in found.sentence() and f"{times:g} times fork-wait" in found.sentence()


def test_a_wrong_conclusion_shows_the_data_in_the_unit_of_the_lab(tmp_path: Path) -> None:
    spec = next(spec for spec in CHOICES if spec.id == "creation-cause")
    shutil.copytree(HONEST / spec.lab, folder := tmp_path / spec.lab)
    (finding,) = verdict_on(spec, of(folder, spec, 2)).findings
    assert re.search(r"fork-wait [\d.]+ us \(.*; vfork-wait [\d.]+ us \(", finding.evidence)
    unknown = replace(result_of(KINDS, "fork-wait"), clock=Clock(frequency_hz=1e9, step=1))
    assert compared_as(spec, unknown).unit == "us"
    assert compared_as(replace(spec, compared_in="cycles"), unknown).unit == "ns"


def test_a_share_cannot_be_nothing(tmp_path: Path) -> None:
    run, lab = Run.of(KINDS), Session("05-task-creation", tmp_path)
    for times in (0, -0.5, float("nan"), float("inf"), True, "half", None):
        with pytest.raises(Refused, match="times"):
            lab.compare(run["vfork-wait"], run["fork-wait"], times=times)  # type: ignore[arg-type]


def test_two_differences_are_compared_process_by_process(tmp_path: Path) -> None:
    recorded = read(HONEST / "07-switch-footprint" / "recordings" / "kinds.csv")
    of_processes, of_threads = (
        compared(result_of(recorded, f"{task}-8-256k"), result_of(recorded, f"{task}-8-0"))
        for task in ("processes", "threads")
    )
    found = differences_compared(of_threads, of_processes, 0.5)
    assert found.difference == pytest.approx(
        of_threads.difference - 0.5 * of_processes.difference, rel=0.2
    )
    assert "(threads-8-256k - threads-8-0)" in found.sentence()
    share = differences_compared(of_threads, of_processes, 1e-6)
    assert share.side == of_threads.side
    lab = Session("07-switch-footprint", tmp_path)
    assert lab.compare(of_threads, of_processes, times=0.5) == found
    with pytest.raises(Refused, match="plain differences"):
        lab.compare(found, of_processes)
    with pytest.raises(Refused, match="two runs"):
        lab.compare(Run.of(recorded), of_processes)


@named([spec for spec in BY_DATA if not spec.of])
def test_a_conclusion_of_one_run_follows_from_the_difference_in_each_process(
    spec: FigureSpec,
) -> None:
    """Processes that differ by a factor of two widen each interval, and not their difference."""
    figure = figures.read(HONEST / spec.lab)[spec.id]
    assert isinstance(figure, Figure) and figure.recording is not None
    run = read(HONEST / spec.lab / figure.recording)
    first = run.process.min()
    slower = 1 + (run.process - first) / max(1, run.process.max() - first)
    stated = {key: words for key, words in run.conditions.items() if key != "samples.sha256"}
    ticks = np.rint(run.ticks * slower).astype(np.int64)
    uneven = replace(run, ticks=ticks, conditions=stated)
    both = [
        [compared_as(spec, result_of(each, name)) for name in spec.variants]
        for each in (run, uneven)
    ]
    wide = [
        [each.estimate.half_width / each.estimate.value for each in results if each.estimate]
        for results in both
    ]
    assert any(after > 2 * before for before, after in zip(*wide, strict=True))
    answers = [conclusion(spec, results)[0].value for results in both]
    assert answers[0] == answers[1]
