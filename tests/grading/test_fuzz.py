"""The readers stand whatever is handed in: made up from a grammar, and changed from what is good.

Here are a few thousand inputs, the same in every run. `python -m bench fuzz` makes 100,000.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.fuzz import checks, good_inputs, readers
from bench.fuzz.good_inputs import Submission
from bench.fuzz.grammar import figure_files_of_any_form, recordings, submissions
from bench.fuzz.guide import Edges
from bench.fuzz.mutations import TOKENS, Mutator
from labs.course.figures import FILE_NAME
from labs.recording.file import HEADER
from testing.paths import FIXTURES

SAME_EVERY_TIME = settings(
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    max_examples=200,
)


@SAME_EVERY_TIME
@given(recordings())
def test_any_recording_of_the_right_form_is_read_or_told_why_not(made: tuple[str, bytes]) -> None:
    checks.recording(made[1])


@SAME_EVERY_TIME
@given(st.binary(max_size=400) | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_no_recording_and_no_figures_and_are_told_so(content: bytes) -> None:
    checks.recording(content)
    checks.figures_file(content)


@SAME_EVERY_TIME
@given(figure_files_of_any_form())
def test_any_json_is_figures_or_told_why_not(content: bytes) -> None:
    checks.figures_file(content)


@SAME_EVERY_TIME
@given(submissions())
def test_any_submission_of_the_right_form_is_graded(made: Submission) -> None:
    checks.submission(made)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("recordings", 1500), ("figures", 600), ("submissions", 250), ("grammar", 50)],
)
def test_changed_submissions_are_read_graded_or_told_why_not(kind: str, count: int) -> None:
    outcome = readers.part(kind, 1, count)
    assert outcome.wrong == []
    assert outcome.inputs >= count
    assert outcome.edges > 50 or kind == "grammar"


def test_large_inputs_are_bounded() -> None:
    outcome = readers.large()
    assert outcome.wrong == []
    assert outcome.inputs > 25


def test_the_same_seed_changes_the_same_way() -> None:
    seeds = good_inputs.recordings()
    first, again, other = (Mutator(seed, seeds) for seed in (7, 7, 8))
    for content in seeds[:20]:
        changed = first.changed(content)
        assert changed == again.changed(content)
        assert len(changed) <= FIXTURES.stat().st_size + 10**6
    assert [other.changed(each) for each in seeds[:20]] != [first.changed(each) for each in seeds]
    assert len(set(TOKENS)) == len(TOKENS)


def test_what_reaches_new_code_is_seen() -> None:
    edges = Edges()
    good = good_inputs.recordings()[0]
    assert edges.of(lambda: checks.recording(good)) > 20
    assert edges.of(lambda: checks.recording(good)) == 0
    assert edges.of(lambda: checks.recording(good[: len(good) // 2] + b"\xff")) > 0


@pytest.mark.parametrize(
    "process",
    ['{"a": "\\ud800"}', '{"\\udfff": "b"}', '{"a": 1}', "[]", '{"a": "b"'],
    ids=["half a character", "in a name", "a number", "a list", "cut off"],
)
def test_conditions_of_a_process_that_cannot_be_kept(process: str) -> None:
    checks.recording(
        f"# ticklab recording: 1\n# kernel: k\n# process.0: {process}\n{HEADER}\n".encode()
    )


def test_half_a_character_in_figures_is_told_and_can_be_written(tmp_path: Path) -> None:
    entry = {"value": 1, "unit": "\ud800", "recording": None, "when": "\udfff"}
    checks.figures_file(json.dumps({"a": entry, "\ud800": entry}).encode())
    checks.submission(
        Submission(
            "01-timer-overhead",
            ((FILE_NAME, json.dumps({"timer-step": entry, "\ud800": 1}).encode()),),
        )
    )
