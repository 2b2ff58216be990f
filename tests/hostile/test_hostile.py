"""Hostile submissions, each alone, as autograding takes them in: copied, then judged by a worker.

The worker ends what takes over 10 s of processor time or 1 GB. So a graded outcome is also the
proof that a submission took less.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.check_folders import NotALab, lab_folder
from grader.figures.verdict import Outcome, Verdict
from grader.judging.lab_folder import check_folder
from grader.judging.worker import Judgement, Worker
from grader.submissions.safe_files import copy
from labs.terminal import safe
from support.hostile.case import Hostile, all_cases

NOBODY = 65534
CASES = all_cases()


def test_there_are_as_many_as_promised() -> None:
    assert len(CASES) >= 120
    assert len({named(case) for case in CASES}) == len(CASES)


def named(case: Hostile) -> str:
    return f"{case.kind}: {case.name}"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as shared:
        yield shared


def holds(case: Hostile, verdicts: tuple[Verdict, ...]) -> None:
    told = [f"{v.reason} {' '.join(f.evidence for f in v.findings)}" for v in verdicts]
    open_ones = [v for v in verdicts if v.outcome is Outcome.NOT_GRADED]
    assert len(open_ones) == case.not_graded, told
    assert case.points is None or sum(v.points for v in verdicts) == case.points, told
    assert sum(v.points for v in verdicts) >= case.keeps, told
    for verdict in verdicts:  # whatever was handed in, a person reads why
        assert verdict.reason.strip() and safe(verdict.reason) == verdict.reason, told
    assert any(case.says in each for each in told), told


@pytest.mark.parametrize("case", [c for c in CASES if c.kind != "unreadable"], ids=named)
def test_each_is_judged_within_the_limits(case: Hostile, worker: Worker, tmp_path: Path) -> None:
    submitted, copied = tmp_path / "submitted", tmp_path / "autograded"
    case.write(submitted)
    copy(submitted, copied)
    judged = worker.judge(copied, case.lab)
    assert isinstance(judged, Judgement), judged
    holds(case, judged.verdicts)
    assert not judged.log


@contextmanager
def not_as_root() -> Iterator[None]:
    """Without the rights of root, who may read everything."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.parametrize("case", [c for c in CASES if c.kind == "unreadable"], ids=named)
def test_what_may_not_be_read_is_not_graded(case: Hostile) -> None:
    # pytest's own folders may be entered by their owner only.
    with tempfile.TemporaryDirectory() as top:
        Path(top).chmod(0o755)
        folder = Path(top) / case.lab
        case.write(folder)
        if os.geteuid() == 0:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
        try:
            with not_as_root():
                verdicts = tuple(check_folder(folder, case.lab))
            holds(case, verdicts)
            assert all(v.points == 0 for v in verdicts if v.outcome is Outcome.NOT_GRADED)
        finally:
            for name in (".", "recordings", "figures.json"):
                (folder / name).chmod(0o755)


def test_a_closed_folder_is_named_by_the_command(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "closed"
        folder.mkdir()
        folder.chmod(0)
        with not_as_root(), pytest.raises(NotALab, match=r"not graded: .* may not be read"):
            lab_folder(folder, None)
        folder.chmod(0o755)
