"""strace counts the system calls that a recording claims; the vDSO variants make none.

A new variant of system_call has its call in `CALLS`, and what it returns in `RESULTS` if it is
named after that. Its name ends in `-libc` where the C library makes the call. Its function is in
`RAW` or `LIBC` of `test_disassembly.py`. The number of a new call is in kernels_c/trap.h.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labs.notebook import run_errors
from labs.run import variants
from support.c_programs import FOLDER, LINUX, Program, compile_c, conditions_of, system_calls
from support.programs import call
from support.submitted_figures import FENCED, recording

pytestmark = LINUX

SAMPLES = 12
BATCH = 40
OPERATIONS = SAMPLES * BATCH
#: The harness itself and the C library make a few calls of some kinds.
A_FEW = 60

#: By variant: the system call of its operations; None where there must be none.
CALLS = {
    "getppid": "getppid",
    "getppid-libc": "getppid",
    "getppid-inline": "getppid",
    "getpid": "getpid",
    "getpid-libc": "getpid",
    "read0": "read",
    "read0-libc": "read",
    "setuid": "setuid",
    "setuid-refused": "setuid",
    "gettimeofday-trap": "gettimeofday",
    "monotonic-trap": "clock_gettime",
    "invalid": "syscall_0x186a0",
    "gettimeofday-vdso": None,
    "monotonic-vdso": None,
    "loop": None,
}
#: Not a system call, and yet net of the loop.
FREE = ("gettimeofday-vdso", "monotonic-vdso")
CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
NO_VDSO = not CLOCK.exists() or CLOCK.read_text().strip() not in ("tsc", "arch_sys_counter")

ProgramOf = Callable[[str], Program]


@pytest.fixture(scope="module", params=["trap instruction", "C library"])
def program(
    request: pytest.FixtureRequest,
    program_of: ProgramOf,
    tmp_path_factory: pytest.TempPathFactory,
) -> Program:
    """The C kernel as it is here, and as it is where no trap instruction is known."""
    if request.param == "trap instruction":
        return program_of("system_call")
    source = FOLDER / "system_call.c"
    return compile_c(tmp_path_factory.mktemp("calls"), "-O2", "-DTICKLAB_NO_TRAP", source=source)


def options(variant: str, samples: int = SAMPLES, batch: int = BATCH) -> list[str]:
    return [
        "--variant", variant, "--samples", str(samples), "--batch", str(batch), "--warmup", "0",
    ]  # fmt: skip


#: What the variants are named after.
RESULTS = {"invalid": "-1 ENOSYS", "setuid-refused": "-1 E", "read0": "0", "setuid": "0"}


@pytest.mark.parametrize("variant", CALLS)
def test_system_calls_are_made_as_often_as_claimed_and_with_their_result(
    program: Program, variant: str, tmp_path: Path
) -> None:
    run = system_calls(program, tmp_path / "calls", *options(variant))
    expected_calls = OPERATIONS if CALLS[variant] else 0
    results = [result for _, name, result in run.calls if name == CALLS[variant]]
    if variant not in RESULTS:  # where a call fails, the variant is named after that
        assert sum(result.startswith("-1 ") for result in results) <= A_FEW
    else:
        like_it = [result for result in results if result.startswith(RESULTS[variant])]
        assert len(like_it) >= expected_calls
        assert len(results) - len(like_it) <= A_FEW
    if NO_VDSO:
        pytest.skip("the clock of this system is read by system calls, the harness's own too")
    stated = conditions_of(run.output)
    # What else a sample does, such as its loop, is no part of a call.
    assert bool(CALLS[variant]) == (f"variant.{variant}.baseline" in stated) or variant in FREE
    claimed = int(stated["claimed.system_calls"])
    assert expected_calls <= claimed <= expected_calls + run.retakes * BATCH
    for name in sorted({name for name in CALLS.values() if name}):
        made = run.made()[name]
        expected = claimed if name == CALLS[variant] else 0
        assert expected <= made <= expected + A_FEW, name
    if CALLS[variant] is None:  # the harness reads the reference clock by system calls
        assert run.made()["gettimeofday"] == 0 and run.made()["clock_gettime"] < SAMPLES * 2


def test_every_variant_is_looked_at() -> None:
    assert CALLS.keys() == {each.name for each in variants.of_kernel("system_call")}


def test_what_declares_a_trap_makes_the_call_itself() -> None:
    trapping = {each.name for each in variants.of_kernel("system_call") if each.declared.traps}
    assert trapping == {name for name in CALLS if CALLS[name] and not name.endswith("-libc")}


def test_a_run_says_where_the_c_library_makes_its_calls(
    program: Program, program_of: ProgramOf
) -> None:
    stated = conditions_of(call(program, *options("getppid")).stdout)
    by_the_library = program != program_of("system_call")
    assert stated.get("system_calls.by", "") == (
        "syscall() of the C library" if by_the_library else ""
    )


def test_a_notebook_notes_who_made_the_calls() -> None:
    library = "syscall() of the C library"
    for kernel, makers, is_noted in (
        ("system_call", library, True),
        ("own_call", library, True),
        ("system_call", None, False),
        ("thread_switch", library, False),  # its calls are not the point
    ):
        made = {"system_calls.by": makers} if makers else {}
        noted = run_errors.of_trap(recording({"getppid": FENCED}, kernel=kernel, extra=made))
        assert (noted is not None and "C library" in noted.heading) == is_noted, kernel


@pytest.mark.parametrize(
    ("kernel", "variant", "tasks"),
    [
        ("process_switch", "pipe-pinned", 2),
        ("process_switch", "self-pipe", 1),
        ("process_switch", "socketpair-pinned", 2),
        ("process_switch", "eventfd-pinned", 2),
        ("process_switch", "pipe-carried-back", 2),
        ("thread_switch", "pipe", 2),
        ("switch_footprint", "processes-4-0", 4),
        ("switch_footprint", "threads-4-0", 4),
    ],
)
def test_a_message_is_written_and_read_once_by_every_task(
    program_of: ProgramOf, kernel: str, variant: str, tasks: int, tmp_path: Path
) -> None:
    run = system_calls(program_of(kernel), tmp_path / "calls", *options(variant))
    claimed = int(conditions_of(run.output)["claimed.system_calls"])
    # A write and a read by this task for each operation, those of the baseline among them.
    for name in ("write", "read"):
        assert claimed / 2 <= run.made(by_main=True)[name] <= claimed / 2 + A_FEW
        others = run.made(by_main=False)[name]
        least = OPERATIONS * (tasks - 1)
        assert least <= others <= least + run.retakes * BATCH * (tasks - 1) + A_FEW


MAKE = {"clone", "clone3", "fork", "vfork"}
WAIT = {"wait4", "waitid"}


@pytest.mark.parametrize(
    "variant",
    ["fork", "fork-wait", "vfork-wait", "clone-vm-wait", "posix-spawn-wait", "pthread-wait"],
)
def test_a_task_is_made_and_waited_for_once_an_operation(
    program_of: ProgramOf, variant: str, tmp_path: Path
) -> None:
    run = system_calls(program_of("task_creation"), tmp_path / "calls", *options(variant, 10, 4))
    made = run.made(by_main=True)
    # clone-vm is tried once before, to see whether it is allowed at all.
    most = 41 + 4 * run.retakes
    assert 40 <= sum(made[name] for name in MAKE) <= most
    if variant != "pthread-wait":
        assert 40 <= sum(made[name] for name in WAIT) <= most
    if variant == "posix-spawn-wait":
        assert 40 <= run.made(by_main=False)["execve"] <= most
