"""Every pitfall: a submission that shows it and no other, one that is close but right, wrong C.

The submissions lie under fixtures/pitfalls/CODE/: `wrong` and `near`, each a lab folder with its
figures.json and recordings; some have a second, `wrong-...`, where a mistake shows in two ways.
The recipes in support/fixtures state how each was made.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.docs_site import run_file
from grader.evidence import sources
from grader.figures import figure_named
from grader.figures.verdict import Outcome, Verdict
from grader.judging import lab_folder
from grader.pitfalls import CATALOGUE, pitfall_named
from grader.pitfalls.pitfall import Live, Pitfall
from labs.c_kernels.toolchain import measured_region, source_hash
from labs.recording.file import read
from labs.run import broken, measure, variants
from labs.run.c_process import RunClock
from labs.run.plan import Plan
from support import mistakes
from support.finding_words import MOST_WORDS, words_of
from support.fixtures.saved_runs import EVIDENCE, sentences_of
from support.paths import FIXTURES

FOLDER = FIXTURES / "pitfalls"

CODES = [pitfall.code for pitfall in CATALOGUE]
#: What the grader says of each lab folder with a mistake; `python -m support.fixtures` writes it.
SAID = json.loads(EVIDENCE.read_text(encoding="utf-8"))
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
        said = sentences_of(code, handed_in + others)
        assert said == SAID.get(f"{code}/{folder.name}"), "if true: python -m support.fixtures"
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


#: Mistakes that are told by trying the operations, without a time: no machine hides them.
SHOWN_BY_TRIALS = {
    *("half-of-the-counter", "input-eaten", "mapping-counted-along"),
    *("nothing-sent", "samples-dropped"),
}


@pytest.fixture
def by_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake must show in the run: a verdict also tells the kit's broken C by its hash."""
    monkeypatch.setattr(sources, "broken_name", lambda _: None)


@pytest.mark.usefixtures("by_what_was_measured")
@pytest.mark.parametrize(
    ("pitfall", "live"), LIVE, ids=[f"{pitfall.code}-{live.kernel}" for pitfall, live in LIVE]
)
def test_the_saved_run_of_its_broken_c_kernel_shows_it(pitfall: Pitfall, live: Live) -> None:
    """`python -m bench mistakes` asks the same of runs on the machine at hand."""
    run = read(run_file(live.kernel, "broken"))
    again = f"python -m grader.docs_site --record {live.kernel}"
    assert run.conditions["source.sha256"] == source_hash(broken.find(live.kernel).source), again
    verdict, *_ = mistakes.verdicts_on(live, run)
    assert pitfall.code in [finding.code for finding in verdict.findings], verdict
    assert verdict.outcome is Outcome.FAILED


@pytest.mark.usefixtures("by_what_was_measured")
@pytest.mark.measuring
@pytest.mark.parametrize("code", sorted(SHOWN_BY_TRIALS))
def test_what_trials_tell_is_told_of_any_run(code: str) -> None:
    (live,) = pitfall_named(code).broken
    run = measure.measure_now(mistakes.plan_of(broken.find(live.kernel)))
    verdict, *_ = mistakes.verdicts_on(live, run)
    assert code in [finding.code for finding in verdict.findings]
    assert verdict.outcome is Outcome.FAILED


@pytest.mark.measuring
@pytest.mark.parametrize("name", broken.names())
def test_a_broken_c_kernel_runs_and_claims_what_its_twin_measures(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It also says what is wrong, is short, and needs no folder of ours for its headers."""
    kernel = broken.find(name)
    lines, words = len(kernel.source.splitlines()), len(kernel.mistake.split())
    assert lines <= broken.MOST_LINES, f"{kernel.path.name} has {lines} lines: shorten it"
    assert 4 <= words <= 40, f"{kernel.path.name}: its mistake has {words} words"
    assert measured_region(kernel.source)
    for header in re.findall(r'^ *# *include +"(.+)"', kernel.source, re.MULTILINE):
        assert (kernel.path.parent / header).is_file(), header
    plan, twin = mistakes.plan_of(kernel, "-O0"), kernel.twin_plan()
    mine = variants.of_plan(plan)
    listed = {each.name: each for each in variants.of_plan(twin)}
    assert {*twin.variants, mine[0].name} <= listed.keys()
    for each in mine:
        if each.name in listed:
            assert each.declared.estimand == listed[each.name].declared.estimand, each.name
    monkeypatch.setattr(measure, "tried", nothing_tried)
    run = measure.measure_now(replace(plan, samples=24, processes=1, warmup=0))
    assert set(plan.variants) <= set(run.variants)


async def nothing_tried(plan: Plan, clock: RunClock) -> dict[str, str]:
    """In place of `measure.tried`: as where operations cannot be tried."""
    return {}
