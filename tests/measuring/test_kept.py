"""What is reduced from a recording is reduced once, and not kept longer than the recording."""

from __future__ import annotations

import gc
import weakref

import pytest

from labs.recording.file import Recording, memoized, read
from testing.paths import FIXTURES

SAVED = FIXTURES / "fenced.csv"


def test_the_same_question_is_answered_once_and_another_anew() -> None:
    asked: list[tuple[str, bool]] = []

    @memoized
    def reduce(recording: Recording, variant: str, *, twice: bool = False) -> int:
        asked.append((variant, twice))
        return len(recording) * (2 if twice else 1)

    first, second = read(SAVED), read(SAVED)
    assert reduce(first, "a") == reduce(first, "a") == len(first)
    assert reduce(first, "a", twice=True) == 2 * len(first)
    assert reduce(second, "a") == len(second)
    assert asked == [("a", False), ("a", True), ("a", False)]


def test_an_error_is_not_kept() -> None:
    calls = []

    @memoized
    def refuse(recording: Recording) -> int:
        calls.append(1)
        raise ValueError("no")

    recording = read(SAVED)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            refuse(recording)
    assert len(calls) == 2


def test_a_recording_that_nobody_needs_is_let_go() -> None:
    @memoized
    def count(recording: Recording) -> int:
        return len(recording)

    recording = read(SAVED)
    count(recording)
    gone = weakref.ref(recording)
    del recording
    gc.collect()
    assert gone() is None
