"""Lab 10's own C is judged by its pages: all of them there, written to, and nothing else done."""

from __future__ import annotations

import numpy as np
import pytest

from grader.figures import figure_named
from grader.figures.verdict import Level, Outcome
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail
from support.submission import honest_submission

SHORT = ("--samples", "60", "--warmup", "2")
EACH = "for (long i = 0; i < count; i++)"
WRITE = "pages[(size_t)i * page] = 1;"
READ = "(void)pages[(size_t)i * page];"
ALL = "(void *)(uintptr_t)pages, (size_t)count * page"
MAP = "PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_POPULATE"


def get_ready(body: str) -> str:
    return (
        "static void get_ready@(volatile unsigned char *pages, long count, size_t page)\n"
        f"{{\n    (void)pages; (void)count; (void)page;\n    {body}\n}}"
    )


RIGHT = {
    "a write to each": f"{EACH} {{ {WRITE} }}",
    "from the last": "for (long i = count - 1; i >= 0; i--) { pages[(size_t)i * page] = 1; }",
    "filled once": "(void)memset((void *)(uintptr_t)pages, 1, (size_t)count * page);",
    "in the middle": f"{EACH} {{ pages[(size_t)i * page + page / 2] = 1; }}",
    "each page twice": f"{EACH} {{ {WRITE} {WRITE} }}",
    "a new mapping": f"(void)mmap({ALL}, {MAP} | MAP_FIXED, -1, 0);",
    "one page too many": f"for (long i = 0; i <= count; i++) {{ {WRITE} }}",
}
#: What it takes to fill a page that is there, in ticks: 95 to 113 in six runs on a quiet machine.
FILLED_IN_QUIET = "100"
#: Each with the finding.
WRONG = {
    "nothing": ("", "page-not-brought"),
    "bytes": (f"{EACH} {{ pages[i] = 1; }}", "page-not-brought"),
    "every second page": (
        f"for (long i = 0; i < count; i += 2) {{ {WRITE} }}",
        "page-not-brought",
    ),
    "not the last page": (
        f"for (long i = 0; i < count - 1; i++) {{ {WRITE} }}",
        "page-not-brought",
    ),
    "advice": (f"(void)madvise({ALL}, MADV_WILLNEED);", "page-not-brought"),
    "given back": (
        f"{EACH} {{ {WRITE} }} (void)madvise({ALL}, MADV_DONTNEED);",
        "page-not-brought",
    ),
    "other pages": (
        f"void *all = mmap(NULL, (size_t)count * page, {MAP}, -1, 0);"
        " if (all != MAP_FAILED) (void)munmap(all, (size_t)count * page);",
        "page-not-brought",
    ),
    "half read, half gone": (
        f"for (long i = 0; i < count / 2; i++) {{ {READ} }}",
        "page-not-brought",
    ),
    "a read of each": (f"{EACH} {{ {READ} }}", "read-not-written"),
    "half written, half read": (
        f"{EACH} {{ if (i % 2) {{ {WRITE} }} else {{ {READ} }} }}",
        "read-not-written",
    ),
    "a read before": (f"{EACH} {{ {READ} {WRITE} }}", "more-than-the-operation"),
    "filled thirty times": (
        f"{EACH} {{ for (int fill = 0; fill < 30; fill++) "
        "{ memset((void *)(uintptr_t)(pages + (size_t)i * page), fill, page); } }",
        "more-than-the-operation",
    ),
    "readings beside it": (
        f"{EACH} {{ {WRITE} for (int i = 0; i < 30; i++) {{ (void)counter_end(); }} }}",
        "more-than-the-operation",
    ),
    "brought twice": (
        f"{EACH} {{ {WRITE} }} (void)madvise({ALL}, MADV_DONTNEED); {EACH} {{ {WRITE} }}",
        "more-than-the-operation",
    ),
}

EXERCISE = Exercise(
    figure="page-fault-bring",
    variant="bring",
    begin='#include "own_page_fault.h"',
    answers={
        name: get_ready(body)
        for name, body in (*RIGHT.items(), *((name, body) for name, (body, _) in WRONG.items()))
    },
    dispatchers={
        "static void get_ready(volatile unsigned char *pages, long count, size_t page) { CASES }": (
            "get_ready@(pages, count, page)"
        )
    },
    end="MEASURE_OWN_PAGE_FAULT(get_ready)",
    beside=("own", "unprepared"),
)

pytestmark = LINUX


def counts_of(name: str) -> dict[str, str]:
    counts = EXERCISE.counts(name, *SHORT)
    if "variant.bring.there" not in counts:
        pytest.skip("this OS does not say which pages are there")
    return counts


@pytest.mark.parametrize("name", RIGHT)
def test_pages_that_are_all_brought_pass_and_are_praised(name: str) -> None:
    counts = counts_of(name)
    if name == "filled once":
        # The figure is a saved one, and this time is of now: other programs can make it longer.
        counts = {**counts, "variant.bring.beside_own": FILLED_IN_QUIET}
    verdict = EXERCISE.verdict(name, counts)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "no page fault in the first writes" in verdict.praise


def test_each_write_without_a_preparation_makes_one_page_fault() -> None:
    counts = counts_of("a write to each")
    faults, touched = (int(counts[f"variant.unprepared.{key}"]) for key in ("faults", "touched"))
    assert faults == pytest.approx(touched, rel=0.02)


@pytest.mark.parametrize("name", WRONG)
def test_the_finding_says_what_the_pages_lack(name: str) -> None:
    must_fail(EXERCISE.verdict(name, counts_of(name)), WRONG[name][1])


def test_where_the_os_does_not_say_what_is_there_nothing_is_said_of_reads() -> None:
    """The page faults of these three are the same, so the finding must be true of each of them."""
    for name in ("a read of each", "given back", "other pages"):
        counts = counts_of(name)
        bare = {key: value for key, value in counts.items() if not key.endswith(".there")}
        verdict = EXERCISE.verdict(name, bare)
        assert [finding.code for finding in verdict.findings] == ["page-not-brought"], name


def test_only_what_takes_far_longer_than_a_page_fault_is_more() -> None:
    """One call for all pages costs less, and the loop of another student a little more."""
    for times, said in ((0.7, False), (1.2, False), (2.5, True)):
        found = honest_submission(figure_named("page-fault-bring"))
        recording = found.recording
        assert recording is not None, times
        longer = (recording.ticks * times).astype(np.int64)
        slow = found.lasting(np.where(recording.rows_of("bring"), longer, recording.ticks))
        codes = [finding.code for finding in slow.verdict().findings]
        assert codes == (["more-than-the-operation"] if said else [])


def test_no_compiler_is_blamed_for_c_that_brings_nothing() -> None:
    """Samples that do not grow have a cause that the counts know, or none that they know."""
    for there, code in (("0", "page-not-brought"), (None, "work-optimised-away")):
        found = honest_submission(figure_named("page-fault-bring"))
        if there is not None:
            nothing = {"@.faults": "0", "@.later_faults": "5000", "@.there": there}
            found = found.states({**nothing, "variant.own.faults": "5000"})
        recording = found.recording
        assert recording is not None, there
        flat = np.where(recording.rows_of("bring"), 200 + recording.sample % 3, recording.ticks)
        below_0 = found.lasting(flat.astype(np.int64)).gives(-0.13)
        assert "less-than-nothing" not in [each.code for each in below_0.verdict().findings], there
        verdict = found.lasting(flat.astype(np.int64)).verdict()
        assert code in [finding.code for finding in verdict.findings]
        assert len([each for each in verdict.findings if each.level is Level.VALIDITY]) == 1, there
