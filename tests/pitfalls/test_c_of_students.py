"""What the grader finds in C: calls, assembly, the timed part; and that no text keeps it busy."""

from __future__ import annotations

import time
from collections.abc import Callable

from grader.evidence import c_calls, c_tree
from grader.evidence.c_calls import has_loop, reads_in_loop, subtracted_constant
from grader.evidence.c_tree import Code, parsed, text_of, trap_instructions
from grader.evidence.sources import broken_sources, released_sources
from labs.run import broken
from support.paths import REPOSITORY

KERNELS_C = REPOSITORY / "kernels_c"


def names(code: Code) -> list[str]:
    return [each.name for each in c_calls.calls(code)]


# ------------------------------------------------------------------------- what is timed


def test_what_is_timed_is_the_region_and_what_it_calls() -> None:
    source = """
static void pins(void) { sched_setaffinity(0, 0, 0); }
static void inner(void) { work(); }
static void outer(void) { if (1) { inner(); } /* pins(); */ }
static uint64_t interval(long batch)
{
    /* measured region begins */
    outer();
    /* measured region ends */
    pins();
}
"""
    timed = names(c_tree.timed(source))
    assert "work" in timed and "sched_setaffinity" not in timed
    assert names(c_tree.timed("static void own(void) { sched_setaffinity(); }"))


def test_a_macro_is_read_to_its_end_whatever_comments_it_holds() -> None:
    source = """#define TIMED(what) /* between the marks */ \\
    static void name(void) {                    \\
        before();                               \\
        /* measured region begins */            \\
        first(); /* and */ what();              \\
        /* measured region ends */              \\
        after();                                \\
    }
static void elsewhere(void) { other(); }
"""
    assert names(c_tree.measured_region(source)) == ["first", "what"]
    whole = names(c_tree.whole(source))
    assert sorted(whole) == ["after", "before", "first", "other", "what"]  # each of them once


def test_every_c_kernel_of_the_kit_is_readable_has_its_region_and_pins_outside_it() -> None:
    for text in [*released_sources().values(), *broken_sources().values()]:
        assert parsed(text).readable, text[:200]
        assert bool(c_tree.measured_region(text).nodes) == c_tree.has_region(text), text[:200]
        pins = "sched_setaffinity" in names(c_tree.timed(text))
        assert pins == ("binds itself to a CPU while the clock runs" in text), text[:200]


# ------------------------------------------------------------------------- calls


def test_a_result_that_nothing_uses_is_seen() -> None:
    for statement, ignored in (
        ("read(fd, 0, 0);", True),
        ("(void)read(fd, 0, 0);", True),
        ("(void)!read(fd, 0, 0);", True),
        ("return read(fd, 0, 0), 1;", True),
        ("if (fd)\n    read(fd, 0, 0);", True),
        ("for (;; read(fd, 0, 0), fd++) ;", True),
        ("r = read(fd, 0, 0);", False),
        ("return read(fd, 0, 0) == 0;", False),
        ("if (read(fd, 0, 0)) stop();", False),
        ('/* read(fd, 0, 0); */ note("read(fd, 0, 0);");', False),
        ("ssize_t read(int fd, void *to, size_t bytes);", False),
    ):
        code = c_tree.whole(f"static int own(long fd)\n{{\n    {statement}\n}}\n")
        assert bool(c_calls.results_ignored(code)) == ignored, (statement, ignored)


def test_the_released_c_shows_no_mistake_of_a_call() -> None:
    for path in [*KERNELS_C.glob("*.c"), KERNELS_C / "trap.h"]:
        code = c_tree.whole(path.read_text(encoding="utf-8"))
        assert c_calls.calls_without_argument(code) == [], path.name
        traps = trap_instructions(code)
        assert not any(trap.first_argument_missing for trap in traps), path.name


def test_a_broken_c_kernel_is_told_by_its_own_mistake_only() -> None:
    examples: dict[str, Callable[[Code], object]] = {
        "wrong_registers": trap_instructions,
        "setuid_without_argument": c_calls.calls_without_argument,
    }
    for name, look in examples.items():
        assert look(c_tree.whole(broken.find(name).source))
        for other in examples.keys() - {name}:
            assert not look(c_tree.whole(broken.find(other).source))


# ------------------------------------------------------------------------- whatever is handed in

REGION = "// measured region begins\n{};\n// measured region ends\n"
DEEP = "".join(f"f{number}() {{ " for number in range(2_000)) + "} " * 2_000

LOOKS: tuple[Callable[[str], object], ...] = (
    subtracted_constant,
    lambda text: trap_instructions(c_tree.whole(text)),
    lambda text: c_calls.results_ignored(c_tree.whole(text)),
    lambda text: c_calls.calls_without_argument(c_tree.whole(text)),
    lambda text: c_calls.calls_an_address(c_tree.whole(text)),
    lambda text: c_calls.enters_by_hand(c_tree.whole(text), "x86_64"),
    lambda text: c_calls.functions_of_library(c_tree.measured_by(text, "trap")),
    lambda text: reads_in_loop(c_tree.measured_region(text)),
    lambda text: has_loop(c_tree.whole(text)),
    lambda text: c_tree.timed(text).words,
)


def test_whatever_is_handed_in_as_c_is_looked_through_at_once() -> None:
    for text in (
        *('\\"' * 60_000, "/* " * 40_000, "asm(" * 30_000, "a= " + "a " * 60_000, "-a" * 60_000),
        *("(" * 120_000 + ")", "(*" * 60_000, "; (void) " * 14_000, "#define f(x) x\n" * 8_000),
        *("f(" * 60_000, "#if A\n" * 20_000, "x" * 120_000, "f()," * 30_000, "{" * 120_000),
        *("f(" * 60_000 + ")" * 60_000 + ";", "a=" * 60_000 + "b;", "a-(" * 30_000 + ")" * 30_000),
        REGION.format("f()") + "f(){" * 30_000,
        REGION.format("f0()") + "".join(f"f{n}() {{ f{n + 1}(); }}\n" for n in range(5_000)),
        REGION.format(" ".join(f"f{number}" for number in range(2_000))) + DEEP,
    ):
        for look in LOOKS:
            begin = time.process_time()
            look(text)
            seconds = (
                time.process_time() - begin
            )  # minutes, where it tries every end of every begin
            assert seconds < 5, text[:60]


def test_c_that_takes_the_parser_too_many_steps_shows_nothing() -> None:
    text = "static void own(void) { read(1, 2, 3); }" + "; (void) " * 14_000
    assert not parsed(text).readable
    assert all(look(text) in ([], (), None, False, frozenset()) for look in LOOKS)


def test_half_a_text_is_read_as_far_as_it_goes() -> None:
    for text in ("", '"', "/*", 'asm("syscall', "syscall(" * 500, "trap(" + "(" * 5_000):
        assert c_calls.clocks_of_library(c_tree.whole(text)) == []
    code = c_tree.whole("static int own(long fd) { read(fd, 0, 0); return 1")
    assert c_calls.results_ignored(code) == ["read(fd, 0, 0)"]


def test_what_is_reached_is_reached_once() -> None:
    """Nested functions are parts of each other: none of them may be counted again for each name."""
    named = " ".join(f"f{number}" for number in range(2_000))
    text = f"{DEEP}\n{REGION.format(named)}"
    nodes = c_tree.timed(text).nodes
    assert sum(len(text_of(each)) for each in nodes) < 3 * len(text)
