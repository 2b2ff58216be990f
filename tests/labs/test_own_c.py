"""Own C of labs 01 to 04: right but unusual C passes, wrong C does not, whatever the number is.

Each file is built and run. What the run saw of it is then laid into an honest recording, whose
number is right: so only what the C did decides, and no state of the machine.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cases.verdict import Level, Outcome
from grader.figures import figure_named
from grader.judging.check import check
from labs.c_kernels.toolchain import source_hash
from labs.course.figures import Figure
from labs.notebook import measuring
from labs.notebook.session import Session
from labs.recording.file import Recording, read
from labs.results.result import result_of
from testing.paths import FIXTURES, REPOSITORY

FILES = sorted((REPOSITORY / "tests" / "labs" / "own_c").glob("*/*.c"))
FINDING = re.compile(r"Finding: ([a-z-]+)\.")
#: By lab the figure, its unit, and what the run is asked for.
OWN = {
    "01-timer-overhead": ("timer-own-addition", "cycles", "--variant own"),
    "02-first-iteration": ("first-call-own", "ns", "--variant own,unprepared"),
    "03-system-call": ("system-call-read0", "ns", "--variant read0,invalid"),
    "04-procedure-call": ("call-own", "cycles", "--variant own --flags=-O2"),
}
#: Right C that gets the second praise: it touches the code by its name, and not at its address, or
#: nothing in it looks at the result of its call.
UNSEEN = ("right_by_name", "right_result_ignored")


@functools.lru_cache(maxsize=len(OWN))
def honest(lab: str) -> Recording:
    return read(FIXTURES / "honest" / lab / "recordings" / "own.csv")


def watched(recording: Recording) -> dict[str, str]:
    known = {**recording.conditions, **recording.processes[0]}
    return {key: value for key, value in known.items() if ".watched_" in key}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name[:2]}-{path.stem}")
def test_own_c_is_judged_by_what_it_did(path: Path, tmp_path: Path) -> None:
    lab, text = path.parent.name, path.read_text(encoding="utf-8")
    figure, unit, words = OWN[lab]
    line = f"own {words} --samples 20 --processes 1 --warmup 1"
    counts = watched(measuring.measure_cell(Session(lab, tmp_path), line, text).recording)
    if not counts:
        pytest.skip("this system does not let a process watch its child")
    calm = honest(lab)
    conditions = {**calm.conditions, **counts, "source.sha256": source_hash(text)}
    run = replace(calm, conditions=conditions)
    spec = figure_named(figure)
    estimate = result_of(run, spec.variant, unit).estimate
    assert estimate is not None
    handed_in = Figure(figure, estimate.value, unit, "recordings/own.csv")
    verdict = check(spec, handed_in, run, text)
    asked = FINDING.search(text)
    assert [each.code for each in verdict.findings] == ([asked[1]] if asked else [])
    assert (verdict.outcome is Outcome.PASSED) == (asked is None)
    sentence = spec.praise[path.stem in UNSEEN].text
    assert verdict.praise == ("" if asked else sentence)
    if asked is not None:
        assert verdict.levels[Level.VALIDITY][0] == 0.0


def test_every_lab_has_four_unusual_right_ones_and_three_wrong_ones() -> None:
    for lab in OWN:
        names = [path.stem.partition("_")[0] for path in FILES if path.parent.name == lab]
        assert names.count("right") >= 4 and names.count("wrong") >= 3, lab


@pytest.mark.parametrize("lab", OWN)
def test_c_that_nobody_watched_is_praised_only_for_its_samples(lab: str) -> None:
    figure, unit, _ = OWN[lab]
    spec, run = figure_named(figure), honest(lab)
    conditions = {key: value for key, value in run.conditions.items() if "watched" not in key}
    run = replace(run, conditions=conditions)
    estimate = result_of(run, spec.variant, unit).estimate
    assert estimate is not None
    source = (FIXTURES / "honest" / lab / "recordings" / "own.c").read_text(encoding="utf-8")
    handed_in = Figure(figure, estimate.value, unit, "recordings/own.csv")
    verdict = check(spec, handed_in, run, source)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.praise == spec.praise[-1].text
