"""Mistakes with system calls: what their C shows, and what honest odd machines must not."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from grader.evidence import traps
from grader.evidence.sources import released_sources
from grader.figures import figure_named
from grader.figures.case import Case, make_case
from grader.judging.lab_folder import check_folder
from grader.pitfalls import findings_of, pitfall_named
from grader.pitfalls.samples_and_intervals import wraps_at
from labs.recording.file import Recording
from support.paths import FIXTURES, REPOSITORY
from support.submitted_figures import Clocked, figure, recording

#: In ticks of a counter of 2.6 GHz.
GETPPID, INVALID, LOOP = Clocked(110.0, 290.0), Clocked(110.0, 175.0), Clocked(110.0, 0.75)
NOT_RELEASED = "0" * 64

KERNELS_C = REPOSITORY / "kernels_c"


def calls(
    getppid: Clocked = GETPPID,
    invalid: Clocked | None = INVALID,
    *,
    kernel: str = "system_call",
    name: str = "getppid",
    loop: Clocked = LOOP,
    stated: dict[str, str] | None = None,
    noise: float = 1.5,
) -> Recording:
    """A run of one system call, its loop, and the floor beside it."""
    variants = {name: getppid, "loop": loop} | ({"invalid": invalid} if invalid else {})
    claims = {"variant.loop.system_calls": "0", "counter": "tsc", "counter.step": "2"}
    for each in variants:
        if each != "loop":
            claims[f"variant.{each}.system_calls"] = "1"
            claims[f"variant.{each}.baseline"] = "loop"
    return recording(variants, kernel=kernel, extra=claims | (stated or {}), noise=noise)


def case(
    run: Recording,
    value: float | None = None,
    unit: str = "ns",
    source: str | None = None,
    asked: str = "system-call-getppid",
) -> Case:
    """The figure taken off `run`, or `value` in its place."""
    first = make_case(figure_named(asked), figure(asked, 1.0, unit), run, source)
    if value is None:
        assert first.expected is not None
        value = first.expected.value
    return make_case(figure_named(asked), figure(asked, value, unit), run, source)


def codes(judged: Case) -> list[str]:
    return [finding.code for finding in findings_of(judged)]


def test_an_honest_run_shows_nothing() -> None:
    assert codes(case(calls())) == []
    assert codes(case(calls(invalid=None))) == []


# --------------------------------------------------------------- too cheap to be a system call


#: What the trials of an operation say that keeps the first answer: it takes another way once.
REMEMBERS = {
    f"variant.getppid.trial.{key}": value
    for key, value in (("steps", "40"), ("put_back", "1"), ("fresh_steps", "45"))
}


def test_an_answer_from_a_cache_is_named_with_and_without_the_floor() -> None:
    for invalid in (None, INVALID):
        run = calls(Clocked(110.0, 9.0), invalid, stated=REMEMBERS)
        assert codes(case(run)) == ["library-call-not-system-call"], invalid


def test_core_cycles_that_hold_the_loop_are_not_said_to_be_those_of_the_net_cost() -> None:
    # 9 ticks net are 3.46 ns; with the loop of 8 ticks the samples grow by 17 ticks a call.
    run = calls(Clocked(110.0, 17.0), None, loop=Clocked(110.0, 8.0))
    evidence = findings_of(case(run))[0].evidence
    stated = re.search(r"costs ([\d.]+) ns\. With its loop, .* ([\d.]+) core", evidence)
    assert stated is not None, evidence
    net, whole = float(stated[1]), float(stated[2])
    assert run.clock("getppid").convert(whole, "cycles", "ns") == pytest.approx(
        net * 17 / 9, rel=0.05
    )


def test_a_dear_operation_that_takes_another_way_once_eats_its_input() -> None:
    assert codes(case(calls(stated=REMEMBERS))) == ["input-eaten"]


def test_a_floor_that_bends_is_still_a_floor() -> None:
    examples = case(bent_at_the_floor(calls(Clocked(110.0, 60.0))))
    assert traps.floor(examples) is None
    assert codes(examples) == ["library-call-not-system-call"]
    assert "does not exist costs about 67" in findings_of(examples)[0].evidence
    assert codes(case(bent_at_the_floor(calls()))) == []


def test_a_library_s_answer_whose_line_bends_is_still_no_system_call() -> None:
    kept = bent_at_the_floor(calls(Clocked(110.0, 9.0), stated=REMEMBERS), "getppid")
    found = case(kept, 3.0)
    assert found.result.net is None
    assert "library-call-not-system-call" in codes(found)
    a_call = case(bent_at_the_floor(calls(), "getppid"), 112.0)
    assert a_call.result.net is None
    assert "library-call-not-system-call" not in codes(a_call)


def bent_at_the_floor(run: Recording, variant: str = "invalid") -> Recording:
    """The same run, its longest samples of `variant`, calls that do not exist, a fifth longer."""
    longer = run.rows_of(variant) & (run.batch == run.batch.max())
    stated = {key: words for key, words in run.conditions.items() if key != "samples.sha256"}
    ticks = np.where(longer, run.ticks * 6 // 5, run.ticks)
    return replace(run, ticks=ticks, conditions=stated)


def test_a_line_that_bends_with_the_kit_s_own_c_is_laid_to_no_c() -> None:
    of_the_kit = next(iter(released_sources()))
    for source, said in ((of_the_kit, True), (NOT_RELEASED, False)):
        run = bent_at_the_floor(calls(stated={"source.sha256": source}), "getppid")
        (found,) = findings_of(case(run, 110.0))
        assert found.code == "not-on-a-line"
        assert found.evidence.endswith("The C is the kit's: measure again.") is said


def test_what_is_cheaper_than_half_the_floor_never_entered_the_os_kernel() -> None:
    assert codes(case(calls(Clocked(110.0, 60.0)))) == ["library-call-not-system-call"]
    assert codes(case(calls(Clocked(110.0, 60.0), None))) == []  # a very fast trap, for all we know


def test_a_dear_floor_is_no_proof_where_everything_is_slow() -> None:
    """An emulator may make an event of a call that does not exist."""
    assert codes(case(calls(Clocked(110.0, 700.0), Clocked(110.0, 9_000.0)))) == []


def test_a_clock_of_the_library_is_told_from_a_cache_by_the_source() -> None:
    run = calls(Clocked(110.0, 55.0), stated={"source.sha256": NOT_RELEASED})
    assert codes(case(run, source="{ gettimeofday(&now, NULL); }")) == ["vdso-not-system-call"]
    assert codes(case(run, source="{ trap(SYS_getppid, 0, 0, 0); }")) == [
        "library-call-not-system-call"
    ]


def test_a_clock_that_does_enter_the_os_kernel_is_a_system_call() -> None:
    """Where the OS has no clock that can be read without it, the library has to ask."""
    run = calls(Clocked(110.0, 290.0), stated={"source.sha256": NOT_RELEASED})
    assert codes(case(run, source="failed |= gettimeofday(&now, NULL) != 0;")) == []


def test_a_run_that_claims_no_system_call_is_taken_at_its_word() -> None:
    run = calls(stated={"variant.getppid.system_calls": "0"})
    assert codes(case(run)) == ["vdso-not-system-call"]


# ------------------------------------------------------------------------- what the C shows


def own(source: str, cost: float = 290.0, os: str = "Linux 6.1 x86_64") -> list[str]:
    run = calls(
        Clocked(110.0, cost),
        kernel="own_call",
        name="read0",
        stated={"source.sha256": NOT_RELEASED, "os": os},
    )
    return codes(case(run, source=source, asked="system-call-read0"))


RIGHT = '__asm__ volatile("syscall" : "=a"(r) : "a"(0), "D"(fd), "S"(0), "d"(0) : "rcx", "r11");'
BOUND = 'register long first __asm__("rdi") = fd; asm("syscall" : "=a"(r) : "a"(0), "r"(first));'
AS_IN_C = '__asm__ volatile("syscall" : "=a"(r), "+c"(p) : "a"(0), "b"(fd), "d"(0) : "r11");'
BY_MOVES = 'asm volatile("mov %1, %%rbx\\n\\tmov %2, %%rcx\\n\\tsyscall" : "=a"(r) : "r"(fd));'
OLD_ABI = 'asm volatile("int $0x80" : "=a"(r) : "a"(3), "b"(fd), "c"(0), "d"(0) : "memory");'
ARM = 'register long n __asm__("x8") = 63, a __asm__("{}") = fd, b __asm__("{}") = 0;'
ARM_CALL = 'asm volatile("svc 0" : "{}"(a) : "r"(n), "r"(b));'


def test_registers_of_the_old_interface_are_named() -> None:
    for source in (AS_IN_C, BY_MOVES):
        assert own(source) == ["wrong-registers"], source


def test_right_registers_are_left_alone() -> None:
    for source in (RIGHT, BOUND, OLD_ABI, f"/* not: {AS_IN_C} */ {RIGHT}"):
        assert own(source) == [], source


def test_on_aarch64_everything_may_lie_one_register_too_far() -> None:
    one_too_far = ARM.format("x1", "x2") + ARM_CALL.format("=r").replace('"r"(n)', '"r"(n), "r"(a)')
    assert own(one_too_far, os="Linux 6.1 aarch64") == ["wrong-registers"]
    assert own(one_too_far) == []  # that branch was not run here
    assert own(ARM.format("x0", "x1") + ARM_CALL.format("+r"), os="Linux 6.1 aarch64") == []


def test_a_missing_argument_is_seen_in_every_way_of_writing_it() -> None:
    for source in ("{ setuid(); }", "failed |= setuid() != 0;", "{ syscall(SYS_setuid); }"):
        assert own(source) == ["call-without-its-argument"], source
    for source in ("{ syscall(SYS_getppid); }", "{ r = setuid(me); }", "/* setuid() */ { ; }"):
        assert own(source) == [], source


def test_a_call_at_the_floor_is_suspect_where_nobody_looks() -> None:
    for source, cost, found in (
        ("{ trap(SYS_read, fd, 0, 0); return 1; }", 180.0, ["failing-call-timed"]),
        ("for (;;)\n    read(fd, NULL, 0);", 180.0, ["failing-call-timed"]),
        ("{ trap(SYS_read, fd, 0, 0); return 1; }", 290.0, []),
        ("{ return trap(SYS_read, fd, 0, 0) == 0; }", 180.0, []),
        ("{ failed |= !(read(fd, NULL, 0) == 0); }", 180.0, []),
        ("{ r = (int)read(fd, NULL, 0); return r == 0; }", 180.0, []),
        ("{ trap(SYS_getppid, 0, 0, 0); }", 180.0, []),
    ):
        assert own(source, cost) == found, (source, cost)


# ------------------------------------------------------------------------- made by hand, or not

READ = "return read(fd, NULL, 0) == 0;"
X86 = '("syscall" : "=a"(r) : "a"(0), "D"(fd), "S"(0), "d"(0) : "rcx", "r11", "memory");'
MACHINES = {name: f"Linux 6.1 {name}" for name in ("x86_64", "aarch64", "riscv64", "s390x")}


def exercise(body: str, before: str = "") -> str:
    """The exercise of lab 03 with this body of its function."""
    return f"""#include "own_call.h"
{before}
TICKLAB_INLINE int own_read(long fd)
{{
    {body}
}}
MEASURE_OWN_CALL("read0", own_read)
"""


def test_a_call_that_the_library_makes_is_named() -> None:
    for body, before in (
        (READ, ""),
        ("long result = -1;\n    result = read((int)fd, 0, 0);\n    return result == 0;", ""),
        (READ, f"static long tried(long fd) {{ long r; asm volatile{X86} return r; }}"),
        (f"/* asm volatile{X86} */ {READ}", "/* trap(SYS_read, fd, 0, 0) */"),
        (f'asm volatile("" : : : "memory"); {READ}', ""),
        ("return mine(fd) == 0;", "static long mine(long fd) { return read(fd, NULL, 0); }"),
        ("return MINE(fd) == 0;", "#define MINE(fd) \\\n    read(fd, NULL, 0)"),
        (f'fprintf(stderr, "trap(%ld)", fd); {READ}', ""),
        (f'#if defined(__aarch64__)\n asm volatile("svc 0");\n#else\n {READ}\n#endif', ""),
        ("return getppid() > 0;", ""),
        ("return syscall(SYS_read, fd, NULL, 0) == 0;", "#include <unistd.h>"),
    ):
        assert own(exercise(body, before)) == ["call-not-by-hand"], (body, before)


def test_a_call_made_by_hand_is_left_alone_however_it_is_written() -> None:
    for body, before in (
        (f"long r; asm volatile{X86} return r == 0;", ""),
        (f"long r; __asm__ __volatile__ {X86} return r == 0;", ""),
        (f"long r; __asm {X86} return r == 0;", ""),
        (f"long r; CALL{X86} return r == 0;", "#define CALL asm volatile"),
        ("return CALL(fd) == 0;", f"#define CALL(fd) ({{ long r; \\\n asm volatile{X86} r; }})"),
        ("long r; asm(TRAP : ...); return r == read0;", '#define TRAP "syscall"'),
        ('long r; asm volatile("int $0x80" : ...); return r == 0;', ""),
        ('long r; asm volatile(".byte 0x0f, 0x05" : ...); return r == 0;', ""),
        ("return mine(fd) == 0;", f"static long mine(long fd) {{ long r; asm{X86} return r; }}"),
        ("return trap(SYS_read, fd, 0, 0) == 0;", ""),
        (f"#if HAVE_TRAP\n return trap(SYS_read, fd, 0, 0) == 0;\n#else\n {READ}\n#endif", ""),
        ("return by_name(fd) == 0;", '__asm__("by_name: mov $0, %eax; syscall; ret");'),
        ("return elsewhere(fd) == 0;", '#include "mine.h"'),
        ("return read(fd) == 0;", f"#define read(fd) ({{ long r; asm{X86} r; }})"),
    ):
        assert own(exercise(body, before)) == [], (body, before)


def test_the_trap_instruction_is_that_of_the_machine() -> None:
    asms = {"x86_64": "syscall", "aarch64": "svc #0", "riscv64": "ecall"}
    for machine, os in MACHINES.items():
        for of, instruction in asms.items():
            source = exercise(f'#if HERE\n asm("{instruction}");\n#else\n {READ}\n#endif')
            right = machine in (of, "s390x")  # of which nobody here knows its instruction
            assert own(source, os=os) == ([] if right else ["call-not-by-hand"]), (machine, of)


def test_a_function_defined_for_each_machine_is_read_in_every_branch() -> None:
    branches = (
        f"#if defined(__x86_64__)\nstatic long mine(long fd) {{ long r; asm{X86} return r; }}\n"
        "#else\nstatic long mine(long fd) { return read(fd, NULL, 0); }\n#endif"
    )
    assert own(exercise("return mine(fd) == 0;", branches)) == []


def test_of_the_library_s_call_the_graver_mistake_is_told() -> None:
    ignored = exercise("read(fd, NULL, 0);\n    return 1;")
    assert own(ignored, cost=180.0) == ["failing-call-timed"]
    assert own(exercise("return getpid() > 0;"), cost=9.0) == ["library-call-not-system-call"]
    assert own(exercise("return gettimeofday(&now, NULL) == 0;"), 55.0) == ["vdso-not-system-call"]


def test_only_of_an_exercise_it_is_asked_that_the_call_is_made_by_hand() -> None:
    run = calls(stated={"source.sha256": NOT_RELEASED})
    assert codes(case(run, source=exercise(READ))) == []


# ------------------------------------------------------------------- loop and divisor


def test_a_slope_with_its_loop_is_named() -> None:
    run = calls(loop=Clocked(110.0, 30.0), noise=0.5)
    found = findings_of(case(run, 290.0 / 2.6))
    assert [finding.code for finding in found] == ["loop-counted-along"]
    assert "the loop costs 11.5 ns of it" in found[0].evidence
    assert codes(case(run, 260.0 / 2.6)) == []


def test_a_loop_that_is_lost_in_the_sample_is_no_mistake() -> None:
    assert codes(case(calls(), 290.0 / 2.6)) == []


def test_the_time_of_a_sample_is_not_that_of_one_call() -> None:
    for k in (64, 128, 256, 512):
        whole = case(calls(), (110.0 + k * 290.0) / 2.6)
        net = case(calls(), k * (290.0 - 0.75) / 2.6)
        assert codes(whole) == codes(net) == ["cost-of-many-for-one"], k


def test_twice_the_cost_is_another_slip() -> None:
    assert codes(case(calls(), 2 * 289.25 / 2.6)) == ["half-or-double"]


def test_an_honest_part_of_an_unrolled_round_is_no_mistake() -> None:
    unrolled = {"variant.getppid.system_calls": "4"}
    assert codes(case(calls(stated=unrolled))) == ["cost-of-many-for-one"]
    assert codes(case(calls(stated=unrolled | {"variant.getppid.parts": "4"}))) == []


def test_their_levels_are_those_that_a_mistake_costs() -> None:
    validity = ("library-call-not-system-call", "vdso-not-system-call", "wrong-registers")
    assert {pitfall_named(code).level.value for code in validity} == {"validity"}


def test_a_loop_that_counts_in_one_byte_is_told_where_its_count_wraps_around() -> None:
    folder = FIXTURES / "pitfalls" / "not-on-a-line" / "wrong"
    verdicts = {each.figure: each for each in check_folder(folder, "03-system-call")}
    evidence = verdicts["system-call-getppid"].findings[0].evidence
    assert evidence.startswith("At k = 300, getppid takes as long as 44 operations: ")
    assert evidence.endswith("the count of the loop wraps around at 256.")


#: Batch sizes, how many operations a sample with each of them holds, and where the count wraps.
COUNTS = {
    "one byte": ((100, 200, 300, 400), (100, 200, 44, 144), 256),
    "two bytes": ((30_000, 60_000, 90_000, 120_000), (30_000, 60_000, 24_464, 54_464), 65_536),
    "all": ((100, 200, 300, 400), (100, 200, 300, 400), None),
    "a loop that ends early": ((100, 200, 300, 400), (100, 200, 250, 250), None),
    "one more in each": ((300, 350, 400, 450), (301, 351, 401, 460), None),
    "none": ((100, 200, 300, 400), (0, 0, 0, 0), None),
}


@pytest.mark.parametrize(("sizes", "held", "limit"), COUNTS.values(), ids=COUNTS)
def test_a_count_wraps_around_where_the_means_show_it(
    sizes: tuple[int, ...], held: tuple[int, ...], limit: int | None
) -> None:
    location = 60.0 + 200.0 * np.array(held)
    location[0] += 0.5  # no line is exact
    assert wraps_at(np.array(sizes, dtype=float), location) == limit


def test_a_first_call_that_costs_little_more_is_not_an_answer_of_the_library() -> None:
    found = case(calls(stated=REMEMBERS))
    one = found.results["getppid"]
    assert one.estimate is not None
    small = replace(one, net=None, estimate=replace(one.estimate, value=1.0, low=0.5, high=1.5))
    extra = replace(found, results={**found.results, "getppid": small})
    assert [name for name, _, _ in traps.claiming(found)] == ["getppid"]
    assert list(traps.claiming(extra)) == []
