"""The C kernels of `python -m bench own_questions`: each operation has evidence from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bench import machine
from bench.command import CannotRun
from bench.figures import own_questions
from bench.figures.own_peers import OWN, QUESTIONS, Answer, Question
from bench.figures.own_questions import VARIABLE, judged
from labs.run.measure import Plan, measure_now
from support.c_programs import LINUX


@LINUX
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.peer)
def test_every_operation_has_evidence_from_elsewhere(question: Question) -> None:
    if question.variant == "contended" and len(machine.cpus()) < 2:
        pytest.skip("one CPU only")
    variants = (question.variant, *question.further)
    found = measure_now(Plan(str(OWN / f"{question.kernel}.c"), variants, samples=40, processes=1))
    for variant in variants:

        def total(key: str, variant: str = variant) -> int | None:
            return found.total(f"variant.{variant}.{key}")

        claimed, watched = total("claimed_operations"), total("watched_operations")
        if claimed is not None:
            assert claimed > 0
            of_others = total("operations_of_others")
            seen = total("counted_operations") or total("compared_copies")
            assert seen == claimed if of_others is None else of_others > 0
        elif watched is not None:  # two calls of the C library in each operation
            calls = total("watched_calls")
            assert calls is not None and calls >= 2 * watched > 0
        else:
            pytest.skip("no process may watch its child here")


def test_without_the_peers_the_bench_says_where_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "cpus", lambda: [0, 1])
    for named in ("", str(tmp_path)):
        monkeypatch.setenv(VARIABLE, named)
        assert own_questions.run(quick=True)
        printed = capsys.readouterr().out
        assert "SKIPPED" in printed and "google/benchmark" in printed and VARIABLE in printed


def test_all_tools_are_asked_the_same_questions() -> None:
    """A question that one of the programs does not know would end the bench."""
    for name in ("google", "nanobench", "whole"):
        text = (OWN / f"{name}.cpp").read_text(encoding="utf-8")
        known = {question.peer for question in QUESTIONS if question.peer in text}
        assert known == {question.peer for question in QUESTIONS}


def answer(value: float, *, spread: float = 0.001, others: float | None = None) -> Answer:
    processes = (value, 1.1 * value)
    return Answer(value, "", spread, others=others, processes=processes)


@pytest.mark.parametrize(
    ("ours", "peer", "long", "said"),
    [
        (answer(8.0), (answer(8.1),), None, "holds"),
        (answer(8.0), (answer(9.9), answer(8.2)), None, "holds"),  # the lowest is taken
        (replace(answer(8.5), processes=(8.0, 9.0)), (answer(8.0),), None, "one place in memory"),
        (replace(answer(8.5), processes=(8.4, 9.0)), (answer(8.0),), None, "DOES NOT HOLD"),
        # A process that is dearer may have been disturbed, so it explains nothing.
        (replace(answer(8.5), processes=(8.0, 9.5)), (answer(9.5),), None, "DOES NOT HOLD"),
        (answer(1.8), (answer(2.0),), 2.0, "with all interrupts"),
        (answer(1.8), (answer(2.0),), 1.8, "DOES NOT HOLD"),
        (answer(1.8), (answer(2.0, spread=0.2),), 1.8, "its own spread"),
        (answer(8, others=1), (answer(2), answer(8), answer(9)), None, "holds"),  # the middle one
        (answer(8, others=1), (answer(2), answer(6), answer(7)), None, "had its CPU or not"),
        (answer(8, others=1), (answer(6), answer(6), answer(6.1)), None, "DOES NOT HOLD"),
    ],
)
def test_a_difference_is_explained_only_by_a_cause_that_was_seen(
    ours: Answer,
    peer: tuple[Answer, ...],
    long: float | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def in_long_samples(ns: float) -> Answer:
        if long is None:
            raise CannotRun("no figure")
        return answer(long)

    held = judged("peer", ours, list(peer), in_long_samples, None)
    printed = capsys.readouterr().out
    assert said in printed
    assert held == ("DOES NOT HOLD" not in printed)


def test_one_place_of_all_runs_explains_only_if_others_agree(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for others, moved, said in (
        (None, 8.2, "at random ones they give 8.2 to 8.2"),
        (None, 9.3, "DOES NOT HOLD"),
        (1.0, 8.2, "DOES NOT HOLD"),  # with another thread, it may have had its CPU more often
    ):
        ours, peer = answer(8.0, others=others), [answer(9.5, others=others)] * 3
        held = judged("peer", ours, peer, lambda _: answer(8.0), partial(answer, moved))
        printed = capsys.readouterr().out
        assert said in printed
        assert held == ("DOES NOT HOLD" not in printed), others
