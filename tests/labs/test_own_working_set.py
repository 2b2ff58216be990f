"""Lab 07's own C is judged by the cache lines that it uses: half of the set is not the set."""

from __future__ import annotations

import pytest

from grader.figures.verdict import Outcome
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail

LINES = 4096
#: The lines are tried after the last sample, however few there are.
SHORT = ("--samples", "6", "--warmup", "0")
EACH_64 = "for (size_t at = 0; at < bytes; at += 64)"


def use(loop: str) -> str:
    return (
        "static void use@(const unsigned char *set, size_t bytes)\n"
        f"{{\n    unsigned sum = 0;\n    {loop}\n}}"
    )


RIGHT = {
    "sum": f"{EACH_64} {{ sum += set[at]; }} keep(sum);",
    "combined": "for (size_t at = 63; at < bytes; at += 64) { sum ^= set[at]; } keep(sum);",
    "backwards": "for (size_t at = bytes; at >= 64; at -= 64) { sum = 31 * sum + set[at - 7]; } "
    "keep(sum);",
    "each": f"{EACH_64} {{ keep(set[at] + sum); }}",
    "words": "for (size_t at = 0; at < bytes; at += 8) { sum += *(const unsigned *)(set + at); } "
    "keep(sum);",
    "pairs": "for (size_t at = 0; at < bytes; at += 128) { sum += set[at] + set[at + 64]; } "
    "keep(sum);",
    "accumulated": f"static unsigned all; {EACH_64} {{ all += set[at]; }} keep(all + sum);",
    "written": f"{EACH_64} {{ ((unsigned char *)set)[at] = 1 + sum; }}",
}
#: Each with the share of the lines that it uses.
WRONG = {
    "half": (
        "for (size_t at = 0; at < bytes / 2; at += 64) { sum += set[at]; } keep(sum);",
        0.5,
    ),
    "second": (
        "for (size_t at = 0; at < bytes; at += 128) { sum += set[at]; } keep(sum);",
        0.5,
    ),
    "pages": (
        "for (size_t at = 0; at < bytes; at += 4096) { sum += set[at]; } keep(sum);",
        1 / 64,
    ),
    # Only the last value is needed, so the compiler reads no other.
    "last only": (f"{EACH_64} {{ sum = set[at]; }} keep(sum);", 1 / LINES),
    # The first use remembers the sum for all later ones.
    "remembered": (
        f"static unsigned once; if (once == 0) {{ {EACH_64} {{ once += set[at]; }} }} "
        "keep(once + sum);",
        0.0,
    ),
    "dropped": (f"{EACH_64} {{ sum += set[at]; }} sum = 0; keep(sum);", 0.0),
    "random": (f"{EACH_64} {{ sum += set[at]; }} keep(sum + (unsigned)rand());", 0.0),
    "not kept": (f"{EACH_64} {{ sum += set[at]; }}", 0.0),
}
OTHER_MEMORY = (
    f"static unsigned char more[OWN_SET]; {EACH_64} {{ sum += set[at] + ++more[at]; }} keep(sum);"
)
ALL_BUT_ONE = "for (size_t at = 0; at < bytes - 64; at += 64) { sum += set[at]; } keep(sum);"

EXERCISE = Exercise(
    figure="footprint-own",
    variant="own-256k",
    begin='#include "own_footprint.h"',
    answers={
        **{name: use(loop) for name, loop in RIGHT.items()},
        **{name: use(loop) for name, (loop, _) in WRONG.items()},
        "all but one": use(ALL_BUT_ONE),
        "other memory": use(OTHER_MEMORY),
    },
    dispatchers={
        "static void use(const unsigned char *set, size_t bytes) { CASES }": "use@(set, bytes)"
    },
    end="MEASURE_OWN_FOOTPRINT(use)",
)

pytestmark = LINUX


def counts_of_lines(name: str) -> dict[str, str]:
    """What a short run counts of the lines. Its switches are the kit's, and a busy CPU adds some:
    in so short a run they may be a third, and each saved process would repeat them."""
    counts = EXERCISE.counts(name, *SHORT)
    return {key: value for key, value in counts.items() if "line" in key or key.endswith("keeps")}


@pytest.mark.parametrize("name", RIGHT)
def test_a_use_of_every_line_passes_and_is_praised_for_it(name: str) -> None:
    verdict = EXERCISE.verdict(name, counts_of_lines(name))
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "saw your C use each of them" in verdict.praise


@pytest.mark.parametrize("name", WRONG)
def test_a_use_of_fewer_lines_is_told_and_not_praised(name: str) -> None:
    counts = counts_of_lines(name)
    tried, used = (int(counts[f"variant.own-256k.lines_{key}"]) for key in ("tried", "used"))
    assert used / tried == pytest.approx(WRONG[name][1], abs=0.1)
    verdict = EXERCISE.verdict(name, counts)
    must_fail(verdict, "working-set-in-part")
    [finding] = verdict.findings
    # The evidence says what is true of this answer, and of no other.
    assert ("behind line 2,048 of 4,096" in finding.evidence) == (name == "half")
    assert ("nothing to keep()" in finding.evidence) == (name == "not kept")
    assert name == "not kept" or f"with {10 * used:,} of them" in finding.evidence


def test_one_line_left_out_passes_and_the_praise_says_so() -> None:
    counts = counts_of_lines("all but one")
    verdict = EXERCISE.verdict("all but one", counts)
    assert verdict.outcome is Outcome.PASSED
    tried, used = (int(counts[f"variant.own-256k.lines_{key}"]) for key in ("tried", "used"))
    # A slow machine has no time to try all lines, and may not meet this one.
    assert used == tried - 1 or tried < LINES
    use = "each of them" if used == tried else "nearly all of them"
    assert f"saw your C use {use}" in verdict.praise


def test_memory_beside_the_set_is_told_by_its_page_faults() -> None:
    for name in ("sum", "other memory"):
        counts = EXERCISE.counts(name, *SHORT)
        faults = {key: value for key, value in counts.items() if key.endswith("first_use_faults")}
        codes = [finding.code for finding in EXERCISE.verdict(name, faults).findings]
        assert codes == (["more-than-the-operation"] if name == "other memory" else [])
