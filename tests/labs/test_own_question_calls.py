"""Lab 11's count is put to the test: what does it see if the operation's calls do nothing?

All answers are one program. A short run states what it saw of them, and that is laid into the
honest recording.
"""

from __future__ import annotations

import numpy as np
import pytest

from grader.figures import figure_named
from grader.figures.verdict import Outcome
from support.c_programs import LINUX
from support.own_work import Exercise
from support.submission import honest_submission

SHORT = ("--samples", "8", "--warmup", "0")

BEGIN = """#include "own_question.h"
#include <fcntl.h>
#include <sys/time.h>
#include "trap.h"
static volatile long made, plain;
static long seen, counts[2];
static int ends[2], nothing;
static char bytes[8192];
static int list[8], as_given[8];
static void *blocks[256];
static void set_up(void)
{
    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
        stop(STATUS_FAILED, "pipe");
    nothing = open("/dev/null", O_WRONLY);
}
static int order_only(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int order_counting(const void *a, const void *b) { made++; return order_only(a, b); }
__attribute__((noinline, unused)) static void add(void) { made++; }
__attribute__((noinline, unused)) static void add_and_call(void) { made++; (void)getppid(); }
"""
DIFFERENCE = "const long before = seen; seen = made; return seen - before;"
ARRIVED = "const ssize_t got = read(ends[0], bytes, sizeof bytes); return got > 0 ? got : 0;"
FIRST = "const long before = seen; seen = counts[0]; return seen - before;"
COPY = "memcpy(list, as_given, sizeof list);"


def question(operation: str, counted: str = DIFFERENCE, baseline: str = "return 1;") -> str:
    return (
        f"TICKLAB_INLINE int operation@(void) {{ {operation} }}\n"
        f"TICKLAB_INLINE int baseline@(void) {{ {baseline} }}\n"
        f"static long counted@(void) {{ {counted} }}"
    )


RIGHT = {
    "the increment": question("made++; return 1;"),
    "atomic": question("return __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST) > 0;"),
    "a function that adds": question("add(); return 1;"),
    "by the result of the call": question("made += write(nothing, bytes, 1) == 1; return 1;"),
    "what arrived": question('made++; return write(ends[1], "x", 1) == 1;', ARRIVED),
    "memory": question(
        "blocks[made++ & 255] = malloc(64); return 1;",
        "long n = 0; for (int i = 0; i < 256; i++) { n += blocks[i] != NULL; free(blocks[i]); "
        "blocks[i] = NULL; } made = 0; return n;",
    ),
    "counted where it is called": question(
        f"{COPY} list[0] = 9; qsort(list, 2, sizeof list[0], order_counting); return 1;",
        baseline=f"{COPY} return 1;",
    ),
    "a pause in a spin": question(
        "while (__atomic_exchange_n(&plain, 1, __ATOMIC_ACQUIRE)) { counter_unfenced(); } made++; "
        "__atomic_store_n(&plain, 0, __ATOMIC_RELEASE); return 1;"
    ),
    "memory got once": question(
        "static long *once; if (once == NULL) { once = malloc(8); } *once = ++made; return 1;"
    ),
}
ITSELF, TWICE = "counts-itself", "baseline-does-it-too"
#: Each with its finding, and words of the evidence.
WRONG = {
    "beside a call": (question("made++; return getppid() > 0;"), ITSELF, "got 8 system calls"),
    "before a sleep": (question("made += 1; return usleep(1) == 0;"), ITSELF, "left out the calls"),
    "beside a trap": (
        question("made++; return trap(SYS_getppid, 0, 0, 0) > 0;"),
        ITSELF,
        "your count saw 8.",
    ),
    "in an array": (
        question("counts[0] += 1; return getppid() > 0;", FIRST),
        ITSELF,
        "got 8 system calls",
    ),
    "in a function": (question("add_and_call(); return 1;"), ITSELF, "left out the calls"),
    "beside the vDSO": (
        question("struct timeval now; made++; return gettimeofday(&now, NULL) == 0;"),
        ITSELF,
        "got 0 system calls",
    ),
    "of a cached call": (
        question(
            "static pid_t known; if (known == 0) { known = getpid(); } counts[0] += known > 0; "
            "return known > 0;",
            FIRST,
        ),
        ITSELF,
        "Your count saw operations that call getpid(). From 8 whole ones the OS kernel got 0 "
        "system calls.",
    ),
    "beside a sort": (
        question(
            f"{COPY} made++; qsort(list, 8, sizeof list[0], order_only); return 1;",
            baseline=f"{COPY} return 1;",
        ),
        ITSELF,
        "left out the calls",
    ),
    "the same call": (
        question(
            'return write(ends[1], "x", 1) == 1;',
            ARRIVED,
            'return write(nothing, "x", 1) == 1;',
        ),
        TWICE,
        "got 8 system calls, and from 8 baselines 8",
    ),
    "other calls": (
        question(
            'return write(ends[1], "x", 1) == 1;', ARRIVED, "return getppid() + getuid() > 0;"
        ),
        TWICE,
        "and from 8 baselines 16",
    ),
}

EXERCISE = Exercise(
    figure="own-question-cost",
    variant="operation",
    begin=BEGIN,
    answers={**RIGHT, **{name: text for name, (text, _, _) in WRONG.items()}},
    dispatchers={
        "TICKLAB_INLINE int operation(void) { int done = 0; CASES return done; }": (
            "done = operation@()"
        ),
        "TICKLAB_INLINE int baseline(void) { int done = 0; CASES return done; }": (
            "done = baseline@()"
        ),
        "static long counted(void) { long number = 0; CASES return number; }": (
            "number = counted@()"
        ),
    },
    end="TICKLAB_INLINE int other(void) { return 1; }\n"
    "MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)",
)

#: Each with its finding, and words of the praise.
OTHERS = {
    "works": ('return write(nothing, "x", 1) == 1;', [], "The program executes"),
    "is refused, unseen": ('write(-1, "x", 1); return 1;', ["failing-call-timed"], ""),
    "is refused, and asks so": ('return write(-1, "x", 1) < 0;', [], "you compare with a refusal"),
}
COMPARED = Exercise(
    figure="own-question-other",
    variant="other",
    begin='#include "own_question.h"\n#include <fcntl.h>\n'
    "static volatile long made;\nstatic long seen;\nstatic int nothing;\n"
    'static void set_up(void) { nothing = open("/dev/null", O_WRONLY); }',
    answers={
        name: f"TICKLAB_INLINE int other@(void) {{ {body} }}"
        for name, (body, _, _) in OTHERS.items()
    },
    dispatchers={
        "TICKLAB_INLINE int other(void) { int done = 0; CASES return done; }": "done = other@()"
    },
    end="TICKLAB_INLINE int operation(void) { made++; return 1; }\n"
    "TICKLAB_INLINE int baseline(void) { return 1; }\n"
    f"static long counted(void) {{ {DIFFERENCE} }}\n"
    "MEASURE_OWN_QUESTION(set_up, operation, other, baseline, counted)",
)

pytestmark = LINUX


def seen_by_the_run(name: str, exercise: Exercise = EXERCISE) -> dict[str, str]:
    counts = exercise.counts(name, *SHORT)
    seen = {key: value for key, value in counts.items() if ".watched_" in key}
    if not seen:
        pytest.skip("this system does not let a process watch its child")
    return seen


@pytest.mark.parametrize("name", RIGHT)
def test_a_count_of_what_happened_passes(name: str) -> None:
    verdict = EXERCISE.verdict(name, seen_by_the_run(name))
    assert verdict.outcome is Outcome.PASSED, verdict


@pytest.mark.parametrize("name", WRONG)
def test_a_count_that_sees_only_itself_is_told_with_the_traps(name: str) -> None:
    _, code, evidence = WRONG[name]
    verdict = EXERCISE.verdict(name, seen_by_the_run(name))
    assert [finding.code for finding in verdict.findings] == [code]
    assert evidence in verdict.findings[0].evidence
    assert verdict.points <= verdict.max_points / 2


@pytest.mark.parametrize("name", OTHERS)
def test_a_comparison_with_a_call_that_fails_unseen_does_not_pass(name: str) -> None:
    _, codes, praise = OTHERS[name]
    verdict = COMPARED.verdict(name, seen_by_the_run(name, COMPARED))
    assert [finding.code for finding in verdict.findings] == codes
    assert praise in verdict.praise and bool(praise) == (verdict.outcome is Outcome.PASSED)


def test_a_baseline_that_takes_nearly_as_long_is_told() -> None:
    for of_baseline, said in ((0.5, False), (0.95, True)):
        found = honest_submission(figure_named(EXERCISE.figure))
        recording = found.recording
        assert recording is not None, of_baseline
        ticks = recording.ticks.astype(float)
        operation, baseline = (recording.rows_of(name) for name in ("operation", "baseline"))
        per = {
            int(k): float(np.median(ticks[operation & (recording.batch == k)]))
            for k in set(recording.batch.tolist())
        }
        like = np.array([per[int(k)] * of_baseline for k in recording.batch]) + ticks % 5
        changed = found.lasting(np.where(baseline, like, ticks).astype(np.int64)).follows()
        codes = [finding.code for finding in changed.verdict().findings]
        assert (TWICE in codes) == said, codes
