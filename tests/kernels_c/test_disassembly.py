"""What the compiler has made of every measured region: the operation, as often as it is claimed."""

from __future__ import annotations

import collections
import itertools
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from labs.c_kernels import catalogue
from labs.run import variants
from support.c_programs import FOLDER, Code, Instruction, compile_c

TARGETS = {
    "x86_64": ("gcc", "objdump", "syscall"),
    "aarch64": ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "svc"),
}


@pytest.fixture(
    scope="module",
    params=[(target, level) for target in TARGETS for level in ("-O0", "-O2")],
    ids=lambda param: "".join(param),
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every C kernel for one processor at one level of optimization, built when it is needed."""
    target, level = request.param
    compiler, objdump, _ = TARGETS[target]
    if target == "x86_64" and (machine := os.uname().machine) != target:
        compiler, objdump = f"{target}-linux-gnu-gcc", f"{target}-linux-gnu-objdump"
        if shutil.which(compiler) is None:
            pytest.skip(f"this is {machine}, and {compiler} is not installed")
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if shutil.which(objdump) is None:
        pytest.skip(f"{objdump} is not installed")
    return Built(target, level, tmp_path_factory.mktemp("built"))


class Built:
    """The disassembly of the C kernels for one processor at one level of optimization."""

    def __init__(self, target: str, level: str, folder: Path) -> None:
        self.target, self.level, self.folder = target, level, folder
        self.trap = TARGETS[target][2]
        self._code: dict[str, Code] = {}

    def code(self, kernel: str) -> Code:
        """The disassembly of one C kernel."""
        if kernel not in self._code:
            compiler, objdump, _ = TARGETS[self.target]
            source = FOLDER / f"{kernel}.c"
            program = compile_c(self.folder, self.level, compiler=(compiler,), source=source)
            self._code[kernel] = Code(program, objdump)
        return self._code[kernel]

    def loop(self, kernel: str, function: str) -> list[Instruction]:
        """The loop of a measured region."""
        return self.code(kernel).loop(function)


def traps(code: list[Instruction]) -> int:
    """How many system calls are made by the trap instruction."""
    return sum(each.name in ("syscall", "svc") for each in code)


def calls(code: list[Instruction]) -> collections.Counter[str]:
    """Which functions are called; '*' through a pointer."""
    found: collections.Counter[str] = collections.Counter()
    for each in code:
        if each.name in ("call", "bl", "blr", "callq"):
            named = re.search(r"<([\w.]+)(?:@plt)?>$", each.text)
            found[named[1] if named else "*"] += 1
    return found


# System calls

RAW = (
    "getppid_raw", "getpid_raw", "read0_raw", "setuid_own", "setuid_refused",
    "gettimeofday_trap", "monotonic_trap", "invalid",
)  # fmt: skip
LIBC = {
    "getppid_libc": "getppid",
    "getpid_libc": "getpid",
    "read0_libc": "read",
    "gettimeofday_vdso": "gettimeofday",
    "monotonic_vdso": "clock_gettime",
}


def test_what_declares_a_trap_is_looked_at_here() -> None:
    trapping = [each.name for each in variants.of_kernel("system_call") if each.declared.traps]
    # The one in line has a test of its own.
    assert len(trapping) == len([*RAW, "getppid_inline"]), "add its function to RAW"


def test_a_raw_system_call_is_one_call_of_the_trap_an_operation(built: Built) -> None:
    whole = built.code("system_call")
    for function in RAW:
        for code in (built.loop("system_call", function), whole.region(function)):
            assert (calls(code), traps(code)) == ({"raw_call": 1}, 0), function


def test_the_function_of_the_raw_calls_traps_once_and_returns(built: Built) -> None:
    code = built.code("system_call").function("raw_call")
    assert traps(code) == 1 and not calls(code)
    assert [each.name for each in code].count("ret") == 1
    assert not [each for each in code if each.target is not None]
    if built.level == "-O2":
        assert len([each for each in code if each.name not in ("nop", "xchg", "nopw")]) <= 8


def test_the_raw_call_in_line_is_one_trap_an_operation_and_no_call(built: Built) -> None:
    for code in (
        built.loop("system_call", "getppid_inline"),
        built.code("system_call").region("getppid_inline"),
    ):
        assert traps(code) == 1
        assert not calls(code)


def test_a_call_of_the_library_is_one_call_an_operation(built: Built) -> None:
    for function, called in LIBC.items():
        loop = built.loop("system_call", function)
        assert (calls(loop), traps(loop)) == ({called: 1}, 0), function


def test_the_result_of_every_system_call_is_looked_at(built: Built) -> None:
    for function in ("getppid_inline", *RAW, *LIBC):
        names = [each.name for each in built.loop("system_call", function)]
        made = next(i for i, name in enumerate(names) if name in ("syscall", "svc", "call", "bl"))
        # Compared, tested or taken apart before the loop's own test: two tests at least.
        looked = [n for n in names[made:] if re.match(r"(cmp|cmn|test|tst|cbn?z|cset|shr|lsr)", n)]
        assert len(looked) >= 2, function


def test_the_empty_loop_counts_and_does_nothing_else(built: Built) -> None:
    for kernel in ("system_call", "procedure_call"):
        loop = built.loop(kernel, "loop")
        assert traps(loop) == 0 and not calls(loop)
        assert len(loop) <= 10
        counting = [each for each in loop if re.match(r"(sub|dec|lea) ", each.text)]
        assert len(counting) == 1
        memory = [each for each in loop if re.search(r"\((?!%rip)|\[", each.text)]
        assert len(memory) == (1 if counting[0].name == "lea" else 0)


# Procedure calls


def arguments_set(loop: list[Instruction], count: int) -> list[int]:
    """The numbers that are handed over as arguments, in a register's name or as a pushed value.

    Argument n is the number n, so that none can be merged with another.
    """
    values: dict[str, int] = {}
    found = []
    for each in loop:
        number = re.match(r"mov [wx](\d+), #0x([0-9a-f]+)", each.text)
        if number:
            values[number[1]] = int(number[2], 16)
            if int(number[1]) < 8 and not _stored_next(loop, each):
                found.append(int(number[2], 16))
        immediate = re.match(r"movq? \$0x([0-9a-f]+),%(e[ds]i|e[dc]x|r[89]d|r[ds]i)$", each.text)
        pushed = re.match(r"pushq? \$0x([0-9a-f]+)", each.text)
        for match in (immediate, pushed):
            if match:
                found.append(int(match[1], 16))
        if each.name in ("stp", "str") and "[sp" in each.text:
            stored = re.findall(r"\b[wx](\d+)(?=,)", each.text)
            found += [values.get(register, -1) for register in stored]
    return sorted(found)


def _stored_next(loop: list[Instruction], each: Instruction) -> bool:
    """Whether a number is only on its way to the stack."""
    register = each.text.split()[1].rstrip(",")
    after = loop[loop.index(each) + 1 :]
    for later in after:
        if later.name in ("str", "stp") and "[sp" in later.text and f"{register}," in later.text:
            return True
        if re.match(rf"mov {register},", later.text) or later.name == "bl":
            return False
    return False


#: The numbers of arguments that there are variants for.
COUNTS = sorted(
    int(name.removeprefix("args"))
    for name in json.loads(catalogue.FILE.read_text())["procedure_call"]
    if re.fullmatch(r"args\d+", name)
)


def test_there_are_calls_with_all_numbers_of_arguments() -> None:
    assert len(COUNTS) >= 13 and list(range(len(COUNTS))) == COUNTS


def test_a_procedure_is_called_once_with_all_its_arguments(built: Built) -> None:
    for count in COUNTS:
        region = built.code("procedure_call").region(f"call{count}")
        loop = built.loop("procedure_call", f"call{count}")
        assert calls(loop) == calls(region) == {f"args{count}": 1}
        if built.target == "aarch64" and built.level == "-O2" and count > 8:
            # The numbers for the stack are made once, before the loop; they are stored every time.
            stored = " ".join(each.text for each in loop if each.name in ("stp", "str"))
            assert len(re.findall(r"\b[wx]\d+(?=,)", stored)) == count - 8
            moves = [each for each in loop if each.name == "mov"]
            assert arguments_set(moves, 8) == list(range(1, 9)), count
        else:
            assert arguments_set(loop, count) == list(range(1, count + 1)), count


STORES_OF_ARGUMENTS = r"mov %\w+,-?0x[0-9a-f]+\(%rbp\)|str x\d, \[sp"
NOTHING = r"(ret|endbr64|nop|xchg|data16|cs|bti)"


def test_a_procedure_does_nothing_but_receive_its_arguments(built: Built) -> None:
    for count in COUNTS:
        code = built.code("procedure_call").function(f"args{count}")
        assert [each.name for each in code].count("ret") == 1
        assert not calls(code)
        if built.level == "-O0":
            in_registers = min(count, 6 if built.target == "x86_64" else 8)
            assert len(matching(code, STORES_OF_ARGUMENTS)) == in_registers
        else:
            assert len(matching(code, NOTHING)) == len(code), count


def test_a_call_through_a_pointer_or_the_linkage_table_stays_one(built: Built) -> None:
    for function, called in {"indirect": "*", "by_name": "*", "by_table": "toupper"}.items():
        assert calls(built.loop("procedure_call", function)) == {called: 1}, function


def test_the_inlined_procedure_is_not_called(built: Built) -> None:
    assert not calls(built.code("procedure_call").region("call_inlined"))


# The timer


def test_between_two_readings_stand_the_additions(built: Built) -> None:
    compiler, objdump, _ = TARGETS[built.target]
    # A program whose sizes are functions of their own.
    program = compile_c(built.folder, built.level, "-fno-inline", compiler=(compiler,))
    code = Code(program, objdump)
    for clock, size in itertools.product(("fenced", "unfenced"), (0, 64, 128, 256, 512)):
        region = code.region(f"{clock}_{size}")
        adds = matching(region, r"add %(\w+),%\1$|add (\w+), \2, \2$")
        assert len(adds) == size
        assert len(set(adds)) <= 1
        assert not calls(region) and traps(region) == 0
        assert not [each for each in region if each.target is not None]


# Switches and creation

ROUND_TRIPS = ["pinned", "in_turn", "apart", "anywhere", "events", "sockets",
               "self_pipe", "self_event", "self_socket"]  # fmt: skip


def test_a_round_trip_is_one_write_and_one_read(built: Built) -> None:
    for channel in ROUND_TRIPS:
        found = calls(built.loop("process_switch", f"trips_{channel}"))
        assert found == {"write": 1, "read": 1}, channel


THREADS = {
    "by_pipes": {"write": 1, "read": 1},
    "to_pipe_alone": {"write": 1, "read": 1},
    "by_yield": {"sched_yield": 1},
    "by_bare_mutex": {"pthread_mutex_lock": 1, "pthread_mutex_unlock": 1},
    "by_futex": {"syscall": 2},
    "to_futex_alone": {"syscall": 2},
}


#: Written once for both orders: the signal stands before and after the unlocking.
CONDVAR = {
    "pthread_mutex_lock": 2,
    "pthread_mutex_unlock": 2,
    "pthread_cond_signal": 2,
    "pthread_cond_wait": 1,
}
THREADS |= dict.fromkeys(("by_condvar", "by_condvar_inside", "to_condvar_alone"), CONDVAR)


def test_threads_make_the_calls_that_they_are_named_after(built: Built) -> None:
    for function, made in THREADS.items():
        found = calls(built.loop("thread_switch", function))
        found.pop("__errno_location", None)
        assert found == made, function


CREATED = {
    "fork": {"fork": 1},
    "vfork": {"vforked": 1},
    "clone": {"clone": 1},
    "thread": {"pthread_create": 1},
    "spawn": {"posix_spawn": 1},
    "fork_exec": {"fork": 1},
    "vfork_exec": {"vforked_to_execute": 1},
}


def test_a_task_is_made_once_an_operation(built: Built) -> None:
    for task, created in CREATED.items():
        found = calls(built.code("task_creation").region(f"make_{task}"))
        for name in ("_exit", "execve"):
            found.pop(name, None)
        assert found == created, task
        whole = calls(built.loop("task_creation", f"wait_{task}"))
        made = {name: times for name, times in whole.items() if name in created}
        assert made == created, task
        assert whole.keys() & {"waitpid", "pthread_join", "ended", "joined"}, task


# First times

LOADS = r"mov \(%\w+\),%\w+$|ldr x\d+, \[x\d+\]$"
LOADS_OF_A_BYTE = r"movzbl |ldrb w"
STORES = r"movb \$0x1,|strb w"


#: By C kernel and instruction, the functions that do it once an operation.
ONCE = {
    ("first_iteration", STORES): ("touch_absent", "touch_present"),
    ("first_iteration", LOADS): ("load_flushed", "load_cached"),
    ("page_fault", STORES): ("anonymous", "copied", "touched", "prefaulted"),
    ("page_fault", LOADS_OF_A_BYTE): ("zero_page", "file_apart", "file_touched"),
}


def test_a_page_is_touched_and_a_line_is_loaded_once_an_operation(built: Built) -> None:
    for (kernel, form), functions in ONCE.items():
        for function in functions:
            loop = built.loop(kernel, function)
            assert len(matching(loop, form)) == 1, function
            assert form != LOADS_OF_A_BYTE or not matching(loop, STORES), function


def test_one_call_brings_all_pages_of_a_sample(built: Built) -> None:
    assert calls(built.code("page_fault").region("populate")) == {"mmap": 1}


def test_a_procedure_of_the_many_is_called_once_an_operation(built: Built) -> None:
    for function in ("call_flushed", "call_cached"):
        assert calls(built.loop("first_iteration", function)) == {"*": 1}, function


def test_an_operation_has_two_branches_beside_the_loops_own(built: Built) -> None:
    for function in ("branch_random", "branch_constant"):
        loop = built.loop("first_iteration", function)
        branches = [e for e in loop if e.target is not None and not re.match(r"(jmp|b) ", e.text)]
        assert len(branches) == 3, function


def test_what_is_cold_once_is_done_once(built: Built) -> None:
    assert calls(built.loop("first_iteration", "first_call")) == {"remote_procedure": 1}
    assert traps(built.loop("first_iteration", "first_trap")) == 1
    assert list(calls(built.loop("first_iteration", "first_of_libc")).values()) == [1]


def matching(code: list[Instruction], form: str) -> list[str]:
    """The instructions of a form."""
    return [each.text for each in code if re.match(form, each.text)]


def test_a_round_of_the_core_warms_what_it_times(built: Built) -> None:
    # A copy for each call would be cold in each call.
    twice = r"add ([^,]+),(\s*\1,)?\s*\1$"
    code = built.code("process_switch")
    additions = {name: len(matching(code.function(name), twice)) for name in code.names()}
    many = {name: count for name, count in additions.items() if count > 200}
    assert many == {"chain_ticks": 1024, "wide_ticks_once": 256}


# Readings of the counter


def test_a_reading_waits_for_what_was_before_and_holds_back_what_comes_after(built: Built) -> None:
    code = built.code("timer_overhead")
    fence = "lfence" if built.target == "x86_64" else "isb"
    seen = set()
    for name in code.names():
        if "unfenced" in name:
            continue
        # On aarch64 the same instruction tells how often the counter counts.
        inside = ["", *(e.name for e in code.function(name) if "cntfrq" not in e.text), ""]
        for before, reading, after in zip(inside, inside[1:], inside[2:], strict=False):
            if reading not in ("rdtsc", "rdtscp", "mrs"):
                continue
            seen.add(reading)
            assert after == fence, (name, reading)
            assert before == fence or reading == "rdtscp", (name, reading)  # it waits by itself
    assert seen == ({"rdtsc", "rdtscp"} if built.target == "x86_64" else {"mrs"})


# Rings


def test_a_round_of_a_ring_is_one_write_one_read_and_the_set_read(built: Built) -> None:
    code = built.code("switch_footprint")
    timed = {
        name
        for name in code.names()
        if any(each.name in ("rdtsc", "mrs") for each in code.function(name))
    }
    for ring in ("processes_2_0", "threads_8_64k", "alone_4m"):
        name = next(name for name in (f"rounds_{ring}", "rounds") if name in timed)
        assert calls(code.loop(name)) == {"write": 1, "read": 1}, ring
