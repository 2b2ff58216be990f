"""What `labs measure FILE.c` finds out about the operations in a process that times nothing.

Each mistake has a repaired twin, which is not warned of. Both are C as docs/own-function.md shows
it: a function, what it works on, and two readings of the counter.
"""

from __future__ import annotations

import asyncio
import json
import math
import platform
import re
from pathlib import Path

import pytest

from labs.commands import cli
from labs.recording.counts import Trials
from labs.results import run_warnings
from labs.run import c_process, measure
from labs.run.measure import Plan, measure_now
from support.paths import REPOSITORY

pytestmark = pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="only there can a process follow another one by its instructions",
)

FRAME = """#define _GNU_SOURCE
#include "harness.h"
#include <unistd.h>
#define INTERVAL(name, operation) \\
    static uint64_t name(long batch) {{ \\
        const uint64_t begin = counter_begin(); \\
        for (register long left = batch; left > 0; left--) {{ \\
            const long result = (operation); \\
            __asm__ volatile("" : "+r"(left) : "r"(result)); \\
        }} \\
        return counter_end() - begin; }}
INTERVAL(loop, 0)
{own}
static const struct variant variants[] = {{
    {variants}
    {{.name = "loop", .about = "the empty loop", .interval = loop}}}};
static const long batches[] = {{8, 16, 32, 64}};
MEASURE(.name = "own", .about = "own", LISTED_VARIANTS(variants), LISTED_BATCHES(batches))
"""

SORT = """
static int given[{sets}][200], work[200], at;
static int by_size(const void *a, const void *b)
{{ const int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }}
static void fill(struct run *run) {{
    for (int i = 0; i < {sets} * 200; i++) given[0][i] = (int)(next_random(&run->random) >> 33);
    memcpy(work, given, sizeof work); }}
static long sorted(void)
{{ {before} qsort(work, 200, sizeof work[0], by_size); return work[0]; }}
INTERVAL(own, sorted())
"""
COPY = "at = (at + 1) % {sets}; memcpy(work, given[at], sizeof work);"

SUM = """
static unsigned char given[{sets}][200]; static unsigned at;
static void fill(struct run *run) {{
    for (int i = 0; i < {sets} * 200; i++)
        given[0][i] = (unsigned char)(next_random(&run->random) >> 33); }}
static long sum(const unsigned char *byte) {{
    long all = 0;
    for (int i = 0; i < 200; i++) if (byte[i] & 1) all += byte[i] * all ^ i; else all ^= byte[i];
    return all; }}
INTERVAL(own, sum(given[at++ % {sets}]))
"""

WALK = """
enum {{ NODES = 1 << 16 }};
static struct node {{ struct node *next; long rest[7]; }} *nodes, *volatile at;
static void fill(struct run *run) {{
    nodes = calloc(NODES, sizeof *nodes);
    for (long i = 0; i < NODES; i++) nodes[i].next = &nodes[i];
    for (long i = NODES - 1; i > 0; i--) {{
        struct node *const other = &nodes[next_random(&run->random) % (uint64_t)(i {one_cycle})];
        struct node *const swap = nodes[i].next;
        nodes[i].next = other->next; other->next = swap; }}
    {draw}
    at = nodes; }}
static uint64_t own(long batch) {{
    struct node *node = {begin};
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) node = node->next;
    __asm__ volatile("" : : "r"(node));
    const uint64_t end = counter_end();
    at = node; return end - begin; }}
"""
DRAWN = """for (long i = 0; i < NODES; i++)
        nodes[i].next = &nodes[next_random(&run->random) % NODES];"""

COUNTER = """
static volatile long sum;
static void fill(struct run *run) {{ (void)run; }}
static uint64_t own(long batch) {{
    const {kind} begin = ({kind}){read};
    for (long left = batch; left > 0; left--) sum = sum * 3 + 1;
    const {kind} ticks = ({kind}){read} - begin;
    return (uint64_t)ticks; }}
"""
EAX = '({uint32_t low; __asm__ volatile("rdtsc" : "=a"(low) : : "rdx", "memory"); low;})'
A64 = '({uint64_t all; __asm__ volatile("rdtsc" : "=A"(all) : : "memory"); all;})'

AGAIN = """
static volatile long sum;
static void fill(struct run *run) {{ (void)run; }}
static uint64_t taken(long batch) {{
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--) sum = sum * 3 + 1;
    return counter_end() - begin; }}
static uint64_t own(long batch) {{
    uint64_t ticks = taken(batch);
    for (int again = 0; again < {times} && ticks > 1000; again++) ticks = taken(batch);
    return ticks; }}
"""

MESSAGE = """
static int there[2], back[2]; static char message[64];
static void fill(struct run *run) {{
    (void)run;
    if (pipe(there) != 0 || pipe(back) != 0) stop(STATUS_FAILED, "no pipe");
    const pid_t parent = getpid();
    if (fork() != 0) {{ (void)(close(there[0]) + close(back[1])); return; }}
    end_with_parent(parent); (void)(close(there[1]) + close(back[0]));
    while (read(there[0], message, 64) > 0 && write(back[1], message, {bytes}) == {bytes}) ;
    _exit(0); }}
static long exchange(void)
{{ return write(there[1], message, {bytes}) + read(back[0], message, {bytes}); }}
INTERVAL(own, exchange())
"""

UNREAD = """
static int ends[2];
static void fill(struct run *run) {{
    (void)run;
    if (pipe(ends) != 0) stop(STATUS_FAILED, "no pipe"); }}
INTERVAL(own, write(ends[1], "", 0))
"""

X86 = platform.machine() == "x86_64"
TWINS = {
    "sorts what is sorted": (run_warnings.INPUT_EATEN, SORT.format(sets=1, before="(void)at;")),
    "sorts a copy": ("", SORT.format(sets=64, before=COPY.format(sets=64))),
    "the same bytes": (run_warnings.INPUT_LEARNT, SUM.format(sets=1)),
    "other bytes each time": ("", SUM.format(sets=4096)),
    "each node is drawn": (
        run_warnings.SHORT_WALK,
        WALK.format(one_cycle="", draw=DRAWN, begin="at"),
    ),
    "each sample begins at the same node": (
        run_warnings.SHORT_WALK,
        WALK.format(one_cycle="", draw="", begin="nodes"),
    ),
    "goes on in one cycle": ("", WALK.format(one_cycle="", draw="", begin="at")),
    "difference in an int": (
        run_warnings.HALF_OF_COUNTER,
        COUNTER.format(kind="int", read="counter_end()"),
    ),
    "the whole counter": ("", COUNTER.format(kind="uint64_t", read="counter_end()")),
    "long samples are taken again": (run_warnings.SAMPLES_DROPPED, AGAIN.format(times=9)),
    "long samples are kept": ("", AGAIN.format(times=0)),
    "messages of 0 bytes": (run_warnings.NOTHING_SENT, MESSAGE.format(bytes=0)),
    "messages of 1 byte": ("", MESSAGE.format(bytes=1)),
    "0 bytes that no other task waits for": ("", UNREAD.format()),
}
#: Elsewhere no process can step through itself, and the counter is one register.
ONLY_X86 = {run_warnings.SHORT_WALK, run_warnings.HALF_OF_COUNTER}
OURS = {code for code, _ in TWINS.values()} - {""}
if X86:
    TWINS["EAX alone"] = run_warnings.HALF_OF_COUNTER, COUNTER.format(kind="uint32_t", read=EAX)
    TWINS["=A"] = run_warnings.HALF_OF_COUNTER, COUNTER.format(kind="uint64_t", read=A64)

#: What each of them calls its own.
NAMES = (
    *("given", "work", "at", "by_size", "fill", "sorted", "sum", "NODES", "node", "nodes", "own"),
    *("taken", "there", "back", "message", "exchange", "ends"),
)


def kernel(*owns: str) -> str:
    """One C kernel with a variant for each of these, named by its number: own-0, own-1 ..."""
    of_variant = (
        f'{{.name = "own-{n}", .about = "own", .interval = own_{n}, .prepare = fill_{n}, '
        '.baseline = "loop"},'
        for n in range(len(owns))
    )
    names = rf"\b({'|'.join(NAMES)})\b"
    texts = (re.sub(names, rf"\1_{n}", own) for n, own in enumerate(owns))
    return FRAME.format(own="".join(texts), variants="\n    ".join(of_variant))


def codes_of(file: Path, capsys: pytest.CaptureFixture[str], variant: str = "") -> set[str]:
    """The codes of our warnings of a short run, by `labs measure` alone."""
    words = ["measure", str(file), "--samples", "400", "--processes", "3", "--replace", "0"]
    assert cli.main([*words, "--json", *(["--variant", variant] if variant else [])]) == 0
    result = json.loads(capsys.readouterr().out)
    return {each["code"] for each in result["warnings"]} & OURS


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them are one program, of which a run prepares and tries only what it measures."""
    file = tmp_path_factory.mktemp("twins") / "own.c"
    file.write_text(kernel(*(own for _, own in TWINS.values())))
    return file


@pytest.mark.parametrize("name", TWINS)
def test_a_mistake_is_warned_of_and_its_repaired_twin_is_not(
    name: str, twins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = TWINS[name]
    if code in ONLY_X86 and not X86:
        pytest.skip("assembly of x86-64")
    assert codes_of(twins, capsys, f"own-{list(TWINS).index(name)}") == ({code} - {""})


def test_the_c_to_copy_makes_none_of_these_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (REPOSITORY / "docs" / "own-function.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "my_function.c").write_text(source)
    assert codes_of(tmp_path / "my_function.c", capsys) == set()


def test_input_is_learnt_only_if_the_cost_cannot_hold_the_misses() -> None:
    for seen, cycles, learnt in (
        (Trials(missed=100, steps=1700), 600.0, True),
        (Trials(missed=100, steps=1700), 2400.0, False),  # it may hold all of the misses
        (Trials(missed=7, steps=340), 60.0, False),  # ends of loops
        (Trials(missed=100, steps=1700), math.inf, False),  # the core's clock is not known
        (Trials(), 60.0, False),
    ):
        assert seen.is_learnt(cycles) is learnt


def test_a_walk_is_short_if_it_comes_back_to_less_than_half_of_the_lines() -> None:
    for lines, before, filled, short in (
        (66, 66, 4096, True),
        (67, 66, 4096, False),
        (3000, 3000, 4096, False),
    ):
        seen = Trials(lines=lines, lines_before=before, lines_filled=filled)
        assert seen.walk_is_short is short


def test_c_whose_operations_cannot_be_tried_is_measured_all_the_same(tmp_path: Path) -> None:
    """A process that times nothing and fails says nothing; the run stands."""
    file = tmp_path / "own.c"
    own = COUNTER.format(kind="int", read="counter_end()")
    refuses = own.replace("(void)run;", 'if (run->options.samples == 1) stop(1, "refused");')
    file.write_text(kernel(refuses))
    found = measure_now(Plan(str(file), samples=80, processes=2))
    assert len(found.processes) == 2
    assert not [key for key in found.conditions if ".trial." in key]


def test_what_a_slow_compiler_takes_is_no_time_of_the_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, build = [0.0], c_process.build
    clock = c_process.RunClock(lambda: seconds[0])

    def slowly(plan: Plan) -> object:
        while clock.now() < 2 * measure.MOST_TRIAL_S:
            seconds[0] += 0.5
        return build(plan)

    file = tmp_path / "own.c"
    file.write_text(kernel(TWINS["messages of 0 bytes"][1]))
    monkeypatch.setattr(c_process, "build", slowly)
    assert asyncio.run(measure.tried(Plan(str(file), samples=80), clock))
