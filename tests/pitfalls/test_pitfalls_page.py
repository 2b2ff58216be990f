"""docs/pitfalls.md is made from the catalogue and from the published figures on trial."""

from __future__ import annotations

from bench import published as on_trial


def test_the_mistake_in_every_published_figure_is_named() -> None:
    trials = on_trial.trials()
    assert len(trials) > 400
    missed = [(each.figure, each.code, each.found) for each in trials if not each.named]
    assert not missed


def test_the_page_is_as_it_is_made() -> None:
    written = on_trial.PAGE.read_text(encoding="utf-8")
    assert written == on_trial.page(), "make it anew: python -m bench.published"
