"""Mistakes with memory: what the OS counted decides. If it counts nothing, nothing is said."""

from __future__ import annotations

from grader.figures import figure_named
from support.submission import Submission, honest_submission


def walk_with(huge_kb: str | None) -> Submission:
    """The honest walk, of whose 131,072 kB in each process so many are in huge pages."""
    return honest_submission(figure_named("ladder-memory")).states({"@.huge_kb": huge_kb})


def test_huge_pages_matter_when_they_hold_much_of_the_set() -> None:
    for huge_kb, said in ((None, False), ("0", False), ("6144", False), ("131072", True)):
        verdict = walk_with(huge_kb).verdict()
        codes = [finding.code for finding in verdict.findings]
        assert codes == (["huge-pages-unnoticed"] if said else []), (huge_kb, said)
        if said:
            assert "put 768 MB of the " in verdict.findings[0].evidence, huge_kb


def test_a_page_fault_is_not_divided_by_its_page() -> None:
    for figure_id, by, what in (
        ("page-fault-anonymous", 4096, "one of the 4,096 bytes of a page"),
        ("page-fault-copy", 65536, "one of the 65,536 bytes of a page"),
        ("page-fault-file", 16, "one of the 16 pages that this page fault maps"),
        # New memory has no neighbours that are mapped too.
        ("page-fault-anonymous", 16, ""),
    ):
        honest = honest_submission(figure_named(figure_id))
        expected = honest.case().expected
        assert expected is not None, (figure_id, by)
        (found,) = honest.gives(expected.value / by).verdict().findings
        assert found.code == ("arithmetic-slip" if what else "figure-not-from-recording"), figure_id
        assert what in found.evidence, (figure_id, by)


def test_a_sleep_between_the_pages_is_named_by_the_c() -> None:
    honest = honest_submission(figure_named("page-fault-bring"))
    assert honest.source is not None and honest.verdict().findings == ()
    slept = honest.source.replace("= 1;", "= 1, (void)usleep(1);")
    assert slept != honest.source
    findings = {each.code: each.evidence for each in honest.of_c(slept).verdict().findings}
    assert "calls usleep(), which brings no page" in findings["more-than-the-operation"]
