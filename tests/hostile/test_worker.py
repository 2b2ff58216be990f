"""Whatever the check of one submission does, it costs no other submission anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.figures.verdict import Finding, Level, Outcome, Verdict
from grader.judging.worker import (
    Judgement,
    Limits,
    NotGraded,
    Shown,
    Ways,
    Worker,
    as_json,
    from_json,
)
from support.hostile.checks import FIGURE

FAILURES = {
    "endless": "took more than 1 s of processor time",
    "greedy": "needed more memory",
    "crashes": "was ended by SIGSEGV",
    "faulty": "our own check failed (RuntimeError)",
    "wordy": "too long to be stored",
}


def test_a_failure_costs_only_its_own_submission(tmp_path: Path) -> None:
    limits = Limits(cpu_s=1.0, memory=1_000_000_000)
    with Worker(limits, Ways("support.hostile.checks.by_folder")) as worker:
        for name, reason in FAILURES.items():
            judged = worker.judge(tmp_path / name, "a lab")
            assert isinstance(judged, NotGraded), name
            assert reason in judged.reason
        for _ in range(2):
            honest = worker.judge(tmp_path / "honest", "a lab")
            assert isinstance(honest, Judgement)
            (verdict,) = honest.verdicts
            assert (verdict.figure, verdict.points) == (FIGURE, 4.0)


def test_a_worker_that_ended_while_idle_is_replaced(tmp_path: Path) -> None:
    with Worker(ways=Ways("support.hostile.checks.by_folder")) as worker:
        assert isinstance(worker.judge(tmp_path / "honest", "a lab"), Judgement)
        assert worker._process is not None and worker._process.stdin is not None
        # Another pipe in place of its input: it ends, as after two minutes without a job, and the
        # next job meets a pipe that nobody reads.
        nothing, output = os.pipe()
        os.close(nothing)
        os.dup2(output, worker._process.stdin.fileno())
        os.close(output)
        assert isinstance(worker.judge(tmp_path / "honest", "a lab"), Judgement)


def test_a_submission_whose_worker_was_killed_is_judged_again_once(tmp_path: Path) -> None:
    with Worker(ways=Ways("support.hostile.checks.by_folder")) as worker:
        assert isinstance(worker.judge(tmp_path / "killed", "a lab"), Judgement)
        assert len(list(tmp_path.iterdir())) == 2
        judged = worker.judge(tmp_path / "killed-always", "a lab")
        assert isinstance(judged, NotGraded) and "ended by SIGKILL" in judged.reason
        assert len(list(tmp_path.iterdir())) == 4


def test_a_judgement_comes_back_as_it_was() -> None:
    finding = Finding("code", Level.VALIDITY, "a", "b \ud800", "c", "d")
    levels = {Level.PROVENANCE: (1.0, 1.0), Level.VALIDITY: (0.0, 3.0)}
    told = {"levels": levels, "findings": (finding,), "answer": "1", "tries": 2, "flags": ("x",)}
    verdict = Verdict("f", Outcome.FAILED, 1.0, 4.0, "<r>", recording="r", **told)  # type: ignore[arg-type]
    judgement = Judgement((verdict,), {"f": Shown("t", "p", "<svg/>")}, "page", "log")
    assert from_json(as_json(judgement)) == judgement
    refused = NotGraded("why", "log")
    assert from_json(as_json(refused)) == refused


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"7", b'{"verdicts": 1}', b'{"verdicts": [{}]}', b"[" * 100_000]
)
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        from_json(content)
