"""Mistakes with memory: what the OS counted decides. If it counts nothing, nothing is said."""

from __future__ import annotations

import pytest

from grader.figures import figure_named
from testing.submission import Submission, honest_submission


def walk_with(huge_kb: str | None) -> Submission:
    """The honest walk, of whose 131,072 kB in each process so many are in huge pages."""
    return honest_submission(figure_named("ladder-memory")).states({"@.huge_kb": huge_kb})


@pytest.mark.parametrize(
    ("huge_kb", "said"), [(None, False), ("0", False), ("6144", False), ("131072", True)]
)
def test_huge_pages_matter_when_they_hold_much_of_the_set(huge_kb: str | None, said: bool) -> None:
    verdict = walk_with(huge_kb).verdict()
    codes = [finding.code for finding in verdict.findings]
    assert codes == (["huge-pages-unnoticed"] if said else [])
    if said:
        assert "gave 1,280 MB of them in huge pages" in verdict.findings[0].evidence
