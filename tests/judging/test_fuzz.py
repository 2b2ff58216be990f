"""The readers stand whatever is handed in: made up from a grammar, changed, or hostile.

Here are a few hundred inputs, the same in every run. `python -m bench fuzz` makes 20,000.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bench.fuzz import checks, engine, good_inputs, hostile, limits, text_checks, tokens
from bench.fuzz.checks import Wrong
from bench.fuzz.good_inputs import Submission
from bench.fuzz.hostile import Hostile
from bench.fuzz.targets import TARGETS
from labs.course.figures import FILE_NAME
from labs.recording.file import HEADER
from support.hostile.in_answers import ANSWERS

#: How many inputs of each target: those that take long are fewer.
COUNTS = {
    **{"recordings": 100, "figures": 150, "submissions": 60, "grammar": 60, "shown": 5},
    **{"c-sources": 30, "notebooks": 60, "answers": 50, "names": 20},
}
#: These take 1 to 4 s, so the speed of a machine decides; `python -m bench fuzz` tries them.
NEAR_THE_LIMIT = {
    "notebooks: pictures of many pixels",
    "shown: as much as is read",
    "shown: as many rows as are read",
}

#: Without what other tests hold against limits of their own: C (`test_hostile.py`) and answers that
#: try to load something (`test_student_text.py`).
HOSTILE = {
    f"{case.target}: {case.name}": case
    for case in hostile.cases()
    if case.target != "c-sources" and case.name not in ANSWERS
}


@pytest.mark.parametrize("target", TARGETS)
def test_changed_and_made_up_inputs_are_read_or_refused_with_a_reason(target: str) -> None:
    outcome = engine.by_hypothesis(target, COUNTS[target], seed=1)
    assert outcome.wrong == []
    assert 0.7 * COUNTS[target] < outcome.inputs <= COUNTS[target]
    assert outcome.read > 0


def test_what_a_fuzzer_starts_from_is_good() -> None:
    for target, each in TARGETS.items():
        seeds = each.seeds()
        assert all(each.check(seed) for seed in seeds[:: len(seeds) // 10 + 1]), target


@pytest.mark.parametrize("target", sorted({case.target for case in HOSTILE.values()}))
def test_a_hostile_input_is_taken_within_the_limits(target: str) -> None:
    faults = {
        name: fault
        for name, case in HOSTILE.items()
        if case.target == target and name not in NEAR_THE_LIMIT
        if (fault := case.fault(limits.cost_of(target, case.content())))
    }
    assert faults == {}


def test_a_cost_beyond_a_limit_or_a_fault_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    good = limits.cost_of("figures", b"{}")
    assert good.read and good.seconds < limits.MOST_SECONDS and good.megabytes > 30
    assert limits.Cost(2.1, 1).too_much and limits.Cost(0, 301).too_much
    assert limits.cost_of("no such target", b"").too_much
    assert Hostile("figures", "", bytes, read=False).fault(good) == "was read"
    outcome = engine.Outcome()
    monkeypatch.setattr(engine, "keep", lambda target, content: "file")
    assert not outcome.examine("figures", lambda content: 1 // 0 == 0, b"x")
    assert "ZeroDivisionError" in outcome.wrong[0] and "[file]" in outcome.wrong[0]


def test_what_only_the_bench_tries_exists() -> None:
    assert HOSTILE.keys() >= NEAR_THE_LIMIT


def test_the_same_seed_changes_the_same_way() -> None:
    for content in good_inputs.recordings()[:20]:
        first, again = (tokens.meaning_changed(content, random.Random(7)) for _ in range(2))
        assert first == again
    assert len(set(tokens.TOKENS)) == len(tokens.TOKENS)
    for each in good_inputs.submissions():
        assert Submission.from_bytes(each.as_bytes()) == each


def test_what_runs_or_loads_in_a_page_is_noticed() -> None:
    for page in (
        *("<script>1</script>", "<p onclick='x'>", "<a href='java&#115;cript:x'>"),
        *("<img src='//h/x'>", "<img src=' \thttps:h/x'>", "<img src='h\nttp:///h/x'>"),
        *("<img src='/\\h/x'>", "<img src='data:image/svg+xml,x'>", "<p style='top:url(x)'>"),
    ):
        with pytest.raises(Wrong):
            text_checks.Page().feed(page)


def test_what_an_answer_may_have_is_not_noticed() -> None:
    text_checks.Page().feed("<p class='a'>x <a href='https://h/x'>y</a><img src='plot.png'></p>")


def test_conditions_of_a_process_that_cannot_be_kept() -> None:
    half = ('{"a": "\\ud800"}', '{"\\udfff": "b"}')
    for process in (*half, '{"a": 1}', "[]", '{"a": "b"'):
        head = f"# ticklab recording: 1\n# kernel: k\n# process.0: {process}\n"
        checks.recording(f"{head}{HEADER}\n".encode())


def test_half_a_character_in_figures_is_reported_and_can_be_written(tmp_path: Path) -> None:
    entry = {"value": 1, "unit": "\ud800", "recording": None, "when": "\udfff"}
    content = json.dumps({"timer-step": entry, "\ud800": entry}).encode()
    checks.figures_file(content)
    checks.submission(Submission("01-timer-overhead", ((FILE_NAME, content),)).as_bytes())
