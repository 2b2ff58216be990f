"""What a notebook says of C that got a first call ready by touching the wrong page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labs.notebook import explain
from labs.recording import file
from labs.recording.file import Recording
from testing.paths import FIXTURES

OWN = FIXTURES / "honest" / "02-first-iteration" / "recordings" / "own.csv"


def watched(**counts: str) -> Recording:
    """The saved run, with other counts of the pages that the C touched."""
    honest = file.read(OWN)
    kept = {name: text for name, text in honest.conditions.items() if ".watched_" not in name}
    added = {f"variant.own.watched_{name}": count for name, count in counts.items()}
    return replace(honest, conditions={**kept, **added})


@pytest.mark.parametrize(("others", "words"), [("1", "only other pages"), ("0", "no page")])
def test_a_page_that_was_not_touched_is_reported(others: str, words: str) -> None:
    message = explain.of_pages(watched(page="0", other_pages=others), "(void)code[4096];")
    assert message is not None and words in message.sentences[0]


def test_nothing_is_said_of_c_that_touched_the_page_or_that_nobody_watched() -> None:
    assert explain.of_pages(watched(page="1", other_pages="1"), "") is None
    assert explain.of_pages(watched(), "") is None


def test_nothing_is_said_of_c_that_reaches_the_code_by_its_name() -> None:
    unseen = watched(page="0", other_pages="0")
    assert explain.of_pages(unseen, "touch(remote_procedure);") is None


def test_a_call_is_reported_whatever_the_pages_say() -> None:
    message = explain.of_pages(watched(called="1"), "((void (*)(void))code)();")
    assert message is not None and "called the code" in message.heading
