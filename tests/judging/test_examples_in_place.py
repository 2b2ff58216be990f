"""A finding in a notebook unfolds to the same mistake in another real recording."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from grader import examples
from grader.check_folders import check
from support.paths import FIXTURES

SAVED = FIXTURES / "pitfalls"


def shown(lab_folder: Path, figure: str) -> str:
    return check(figure, lab_folder)._repr_html_()


def test_a_finding_unfolds_to_two_plots_of_real_recordings() -> None:
    html = shown(SAVED / "lock-convoy" / "wrong", "thread-switch-condvar")
    [unfolded] = re.findall(r"<details.*?</details>", html, re.DOTALL)
    assert re.search(r"<summary[^>]*>The same mistake in another real recording", unfolded)
    images = re.findall(r'<img [^>]*alt="([^"]*)" [^>]*src="data:image/svg\+xml,%3Csvg', unfolded)
    assert len(images) == 2
    assert all(each.startswith("Samples of thread_switch condvar") for each in images)
    assert images[0] != images[1]
    assert "claims 104,576 switches; the OS counted 8" in unfolded
    assert not re.search(r"<script|href=|https?:", html)


def test_there_is_nothing_to_unfold_where_a_plot_shows_nothing_or_too_much() -> None:
    for code in (
        "unit-slip",
        "cause-not-isolated",
        "no-figure",
        "no-such-code",
        "conclusion-against-table",
        "mechanisms-differ",
    ):
        assert examples.in_place(code) == ""


def test_a_figure_that_passes_has_nothing_to_unfold() -> None:
    assert "<details" not in shown(SAVED / "lock-convoy" / "near", "thread-switch-condvar")


def test_an_installed_kit_shows_what_was_made_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel has no lab folders to draw from."""
    made = tmp_path / "made"
    made.mkdir()
    shutil.copy(SAVED / "lock-convoy" / "wrong" / "figures.json", made / "lock-convoy.html")
    monkeypatch.setattr(examples, "_MADE", made)
    examples.in_place.cache_clear()
    try:
        assert examples.in_place("lock-convoy") == (made / "lock-convoy.html").read_text()
        assert examples.in_place("not-woken") == ""
    finally:
        examples.in_place.cache_clear()


def test_a_value_is_drawn_beside_what_is_accepted_only_where_it_is_what_is_wrong() -> None:
    slip = shown(SAVED / "unit-slip" / "wrong", "timer-overhead-fenced")
    assert re.search(r'alt="On one axis: handed in [^"]*times above it[^"]*; your recording ', slip)
    # A convoy's value follows from its run, which is what is wrong.
    assert "On one axis: handed in" not in shown(
        SAVED / "lock-convoy" / "wrong", "thread-switch-condvar"
    )
