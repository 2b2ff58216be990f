"""Views of what other tools print: machine code, system calls and bindings of a C kernel."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs import messages, paths
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import Binary, optimisation_level
from labs.html import Table
from labs.machine.surroundings import place_options
from labs.messages import Message, Refused, refused
from labs.notebook import run_errors
from labs.recording.file import BadRecording, read
from labs.units import rounded, times

#: The instructions that leave a function: calls and traps, on x86-64, aarch64 and riscv64.
_LEAVES = re.compile(r"\b(?:syscall|svc|ecall|callq?|blr?|jalr?)\b")
_NONE_LEAVES = "(this function contains no call and no trap)"


@dataclass(frozen=True, repr=False)
class MachineCode:
    """One function at several levels of optimisation: for each, its title and its code."""

    pieces: tuple[tuple[str, str], ...]

    def _repr_markdown_(self) -> str:
        return "\n\n".join(f"{title}:\n\n```text\n{code}\n```" for title, code in self.pieces)

    def __repr__(self) -> str:
        return "\n\n".join(f"{title}:\n\n{code}" for title, code in self.pieces)


def machine_code(
    kernel: str, function: str, *, flags: str | Sequence[str] = "-O2", leaving: bool = False
) -> MachineCode:
    """The machine code of `function` in a C kernel, or in a `.c` file such as `recordings/own.c`.

    `flags` are the compiler's options, or a list of such options to compare. With `leaving`, only
    the instructions are shown that leave the function: calls and traps. A function that cannot be
    shown is listed with the reason. If the run of a `.c` file had another level, the title says so.
    Raises Refused if the C kernel is unknown or does not compile.
    """
    if not isinstance(function, str):
        raise refused("name one function", 'views.machine_code("procedure_call", "args12")')
    pieces = []
    for level in [flags] if isinstance(flags, str) else flags:
        try:
            source = toolchain.c_kernel_source(kernel)
            program = toolchain.build(source, tuple(level.split()))
        except run_errors.EXPECTED as error:
            raise Refused(run_errors.of_error(error)) from None
        try:
            code = _without_addresses(toolchain.disassembly(program, function))
        except LookupError as why:
            code = f"({why})"
        else:
            code = only_leaving(code) if leaving else code
        title = f"`{function}` of `{source.name}`, compiled with `{level}`"
        pieces.append((title + _of_its_run(source, level), code))
    return MachineCode(tuple(pieces))


def _of_its_run(source: Path, level: str) -> str:
    """The level of the run whose recording lies next to its C, if it is another one; else ''."""
    try:
        had = read(source.with_suffix(".csv")).conditions.get("flags")
    except (BadRecording, OSError):
        return ""
    if had is None or optimisation_level(had) == optimisation_level(level):
        return ""
    return f"; but its run was compiled with `{had}`"


def _without_addresses(code: str) -> str:
    """Each line without the tabs and the long address at its start."""
    return "\n".join(re.sub(r"^\s*([0-9a-f]+):\s*", r"\1: ", line) for line in code.splitlines())


def only_leaving(code: str) -> str:
    """The lines of `code` that leave the function, or a sentence that there is none."""
    return "\n".join(line for line in code.splitlines() if _LEAVES.search(line)) or _NONE_LEAVES


#: A row of equal additions is longer than any other code of a timed region.
_FEWEST_ADDITIONS = 9
_ADDITION = r"[^\n]*\badd\b[^\n]*\n"
_WORK = re.compile(rf"(?:{_ADDITION}){{{_FEWEST_ADDITIONS},}}")
_IN_PLACE = "    ... the additions ...\n"


def instruction(kernel: str, functions: Sequence[str], name: str) -> Message:
    """The machine code of `functions` of a C kernel, and where the instruction `name` occurs in it.

    A long row of additions is shown as one line. For each function, a sentence counts the
    instruction before that row and after it. Where the functions read a counter, the heading
    says which of them have it where it can make the second reading wait. Raises Refused for an
    unknown C kernel, or if `name` cannot be the name of an instruction.
    """
    wanted = name.strip().lower() if isinstance(name, str) else ""
    if not re.fullmatch(r"[a-z][a-z0-9.]*", wanted):
        raise refused(f"{name!r} is not the name of an instruction", 'A name is a text: "add".')
    chosen = [functions] if isinstance(functions, str) else list(functions)
    program = _built(kernel, f"there is no machine code of {kernel}", ("-O2", "-fno-inline"))
    sentences: list[str] = []
    shown: list[str] = []
    delaying: dict[str, bool] = {}
    for each in chosen:
        try:
            code = toolchain.disassembly(program, each)
        except LookupError as why:
            sentences.append(f"{each}: {why}.")
            continue
        before, work, after = parted(code)
        shown.append(f"{each}:\n{before}{_IN_PLACE if work else ''}{after.rstrip()}")
        sentences.append(_about(each, wanted, before, after))
        if (reading := _READING.search(after)) is not None:
            delaying[each] = bool(_places(wanted, after[: reading.end()]))
    several = len(delaying) > 1
    heading = _can_wait(wanted, delaying) if several else f"where {wanted} is in the machine code"
    return Message("note", heading, tuple(sentences), "\n\n".join(shown))


def parted(code: str) -> tuple[str, str, str]:
    """The lines before the row of additions, that row, and the lines after it."""
    found = _WORK.search(code if code.endswith("\n") else code + "\n")
    if found is None:
        return code, "", ""
    return code[: found.start()], found[0], code[found.end() :]


#: Reads the counter: on x86-64, on aarch64, and on RISC-V.
_READING = re.compile(r"\brdtscp?\b|\bmrs\b.*cntvct_el0|\brdtime\b|\bcsrr\b.*\btime\b")


def _about(function: str, instruction: str, before: str, after: str) -> str:
    """One sentence: how often the instruction occurs before the additions and after them."""
    early, late = (_places(instruction, code) for code in (before, after))
    reading = _READING.search(after)
    if late and reading is not None and not _places(instruction, after[: reading.end()]):
        first = f"occurs {times(early)} before the additions, and then " if early else ""
        behind = f"In {function}, {instruction} {first}comes after the second reading, {reading[0]}"
        return f"{behind}: the reading cannot wait for what comes after it."
    places = ((early, "before"), (late, "after"))
    found = [f"{times(count)} {where} the additions" for count, where in places if count]
    return f"In {function}, {instruction} occurs {' and '.join(found) or 'nowhere'}."


def _places(instruction: str, code: str) -> int:
    """How often the instruction of exactly this name occurs."""
    return len(re.findall(rf"(?<![\w.]){re.escape(instruction)}(?![\w.])", code))


def _can_wait(instruction: str, delaying: Mapping[str, bool]) -> str:
    """Which functions have the instruction from the additions to the reading: the reading of no
    other one can wait because of it."""
    where = f"has {instruction} from the additions to the second reading"
    having = [name for name, has in delaying.items() if has]
    if not having:
        return f"none {where}: no reading waits because of it"
    if len(having) == len(delaying):
        return f"each {where}: it makes no difference between them"
    return f"only {' and '.join(having)} {where}: no other reading waits because of it"


# What `strace` prints is evidence that comes neither from a clock nor from the kit.

#: Tracing makes each system call about a hundred times as slow.
_TIME_LIMIT_OF_STRACE_S = 60.0
_CREATES = re.compile(r"^(v?fork|clone3?)\((?:.*?flags=([\w|]+))?", re.MULTILINE)
_COUNTED = re.compile(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", re.MULTILINE)
_ROW = re.compile(r"^(\w[\w-]*),(?:\d+,)?\d+,(\d+),\d+$", re.MULTILINE)
#: What strace calls the system call of a variant of system_call, if it is not called like it.
_OF_VARIANTS = {"monotonic": "clock_gettime", "read0": "read", "invalid": "syscall_0x186a0"}


class NoTrace(Exception):
    """strace, or the linker, printed nothing that can be used; the message says why."""


def _of_each(
    variants: Sequence[str],
    row: Callable[[str], tuple[str, ...]],
    caption: str,
    header: tuple[str, ...],
) -> Table | None:
    """A row for each variant; where nothing can be traced, a note is shown in place of a table."""
    try:
        return Table(caption, header, tuple(map(row, variants)))
    except NoTrace as why:
        words = ("The lab goes on without this evidence.",)
        messages.show(Message("note", f"nothing can be traced here: {why}", words))
        return None


def traced_calls(call: str, kernel: str, *variants: str, samples: int = 100) -> Table | None:
    """How often each variant of a C kernel makes the system call `call`, counted by `strace`.

    Each variant takes `samples` samples, in a process of its own with all its threads. The count
    includes the calls of the start, the end, and the baseline. Shows a note and returns None where
    no program can be traced. Raises Refused for an unknown C kernel or system call.
    """
    options = ("--samples", str(samples), "--warmup", "0", "--batch", "40,60")

    def row(variant: str) -> tuple[str, ...]:
        trace, shown = traced(kernel, variant, ("-f", "-c", "-e", f"trace={call}"), options)
        calls = calls_of_summary(trace)
        done = sum(int(size) for name, size in _ROW.findall(shown) if name in ("", variant))
        return variant, f"{done:,}", f"{calls:,}", rounded(calls / done, 2) if done else ""

    header = ("variant", "operations timed", f"calls of {call}", "calls for each operation")
    return _of_each(variants, row, f"System calls of {kernel}, counted by strace", header)


def counted_calls(*variants: str) -> Table | None:
    """The rounds of the loop of each variant of system_call, next to its system calls.

    Each variant is traced for its own system call, also for a call number that does not exist,
    which `strace -c` leaves out. Shows a note and returns None where no program can be traced.
    Raises Refused for an unknown variant.
    """
    if not variants or not all(isinstance(each, str) for each in variants):
        raise refused("name variants of system_call", 'Such as "getppid", "invalid".')
    options = ("--samples", "20", "--warmup", "0", "--batch", "50")

    def row(variant: str) -> tuple[str, ...]:
        call = _OF_VARIANTS.get(variant.split("-")[0], variant.split("-")[0])
        trace, shown = traced("system_call", variant, (), options)
        rounds = sum(int(size) for name, size in _ROW.findall(shown) if name == variant)
        return variant, f"{rounds:,}", call, f"{calls_in(trace, call):,}"

    header = ("variant", "rounds of the loop", "system call", "calls counted by strace")
    return _of_each(variants, row, "System calls, counted without a clock", header)


def calls_in(trace: str, call: str) -> int:
    """How many lines of strace's output are calls of `call`."""
    return len(re.findall(rf"^{re.escape(call)}\(", trace, re.MULTILINE))


def traced_creation(*variants: str) -> Table | None:
    """The system call by which each variant of task_creation creates its first task.

    `strace` prints it with its flags. They say whether the task shares its parent's memory, and
    whether it belongs to its parent's process. Shows a note and returns None where no program can
    be traced. Raises Refused for an unknown variant.
    """
    if not variants:
        raise refused("name the variants to trace", 'Such as "fork-wait", "pthread-wait".')
    options = ("--samples", "8", "--warmup", "0")

    def row(variant: str) -> tuple[str, ...]:
        trace, _ = traced("task_creation", variant, ("-e", "trace=process"), options)
        first = _CREATES.search(trace)
        call, flags = (first[1], first[2] or "none printed") if first else ("none", "")
        return variant, call, flags.replace("|", " | "), *_shared(call, flags)

    header = ("variant", "system call", "flags", "parent's memory", "parent's process")
    return _of_each(variants, row, "How a task is created", header)


def _shared(call: str, flags: str) -> tuple[str, str]:
    """Whether a task shares its parent's memory, and whether it belongs to its parent's process."""
    if call == "none":
        return "", ""
    named = flags.split("|")
    memory = call == "vfork" or "CLONE_VM" in named
    return (
        "shared" if memory else "not shared: it has its own",
        "the same" if "CLONE_THREAD" in named else "another process",
    )


def calls_of_summary(summary: str) -> int:
    """The sum of the calls in the table that `strace -c` prints; an empty table has none."""
    rows = _COUNTED.findall(summary.replace(",", ""))
    return sum(int(count) for count, name in rows if name != "total")


def _built(kernel: str, cannot: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> Binary:
    """A built C kernel. Raises Refused, which says what one `cannot` do without it."""
    try:
        return toolchain.build(toolchain.c_kernel_source(kernel), flags)
    except run_errors.EXPECTED as error:
        raise refused(cannot, f"{error}.") from None


def traced(
    kernel: str, variant: str, asked: Sequence[str], options: Sequence[str]
) -> tuple[str, str]:
    """What strace, and what the program printed. Raises NoTrace, and Refused for a wrong name."""
    program = _built(kernel, f"{kernel} cannot be traced").path
    with tempfile.TemporaryDirectory(prefix="ticklab-strace-") as scratch:
        trace = Path(scratch) / "trace"
        command = ["strace", "-q", *asked, "-o", str(trace), str(program), "--variant", variant]
        try:
            words = [*command, *options, *place_options()]
            done = paths.run(words, _TIME_LIMIT_OF_STRACE_S, paths.HERE)
        except FileNotFoundError:
            raise NoTrace("strace is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoTrace(str(error)) from None
        printed = trace.read_text("utf-8", "replace") if trace.is_file() else ""
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        if "strace: invalid system call" in done.stderr or "--variant" in last:
            raise refused("that cannot be traced", f"{last.removeprefix('strace: ')}.")
        raise NoTrace(last)
    return printed, done.stdout


def system_calls(
    kernel: str, variants: str | Sequence[str], call: str = "all", samples: int = 100
) -> Table | Message:
    """How many system calls one sample of each variant makes, as strace counts them.

    `call` is the name of a system call, or "all". Each variant runs twice: with `samples` samples,
    and with twice as many. What the program calls besides its samples is in both counts, so the
    difference belongs to the samples. Where strace cannot count, a note says why. Raises Refused
    for an unknown C kernel or variant.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", call) or samples < 1:
        raise refused("name one system call, and count 1 sample or more", 'Such as "getppid".')
    rows = []
    names = variants.split(",") if isinstance(variants, str) else variants
    for variant in (name.strip() for name in names):
        try:
            few, many = (_counted(kernel, variant, call, n * samples) for n in (1, 2))
        except NoTrace as why:
            return Message("note", f"strace does not count {variant} here", (f"{why}.",))
        each = rounded((many - few) / samples)
        rows.append((variant, f"{few:,}", f"{many:,}", each))
    once, twice = f"{samples:,}", f"{2 * samples:,}"
    what = "system calls" if call == "all" else f"calls of {call}"
    return Table(
        f"{kernel}: {what} counted by strace",
        ("variant", f"with {once} samples", f"with {twice}", "so one sample makes"),
        tuple(rows),
    )


def _counted(kernel: str, variant: str, call: str, samples: int) -> int:
    asked = ("-f", "-c", "-e", f"trace={call}")
    summary, _ = traced(kernel, variant, asked, ("--samples", str(samples)))
    return calls_of_summary(summary)


TIME_LIMIT_OF_LINKER_S = 30
#: What the linker prints begins with the number of its process.
_OF_LINKER = re.compile(r"\s*\d+:\t")
_SYMBOL = re.compile(r"symbol [`']([^']+)'")


def bindings(kernel: str, variant: str, other: str) -> Table | Message:
    """The functions that are looked up more often while `variant` runs than while `other` does.

    glibc's linker prints each look-up if LD_DEBUG asks for it. The C kernel takes two samples. If a
    variant cannot run, or the linker prints nothing, a note says so. Raises Refused for an unknown
    C kernel.
    """
    program = _built(kernel, f"{kernel} cannot be run").path
    found = []
    for name in (variant, other):
        try:
            found.append(looked_up(_printed(program, name), str(program)))
        except NoTrace as why:
            return Message("note", f"no look-ups of {name} can be shown here", (f"{why}.",))
    mine, others = found
    rows = [
        (name, f"{mine.count(name)}", f"{others.count(name)}")
        for name in sorted(set(mine))
        if mine.count(name) > others.count(name)
    ]
    less = sum(mine.count(name) < others.count(name) for name in set(others))
    return Table(
        f"Functions that the dynamic linker looks up while {kernel} runs: "
        f"{len(rows) or 'none'} more often for {variant} than for {other}"
        + (f"; {less} more often for {other} (not shown)" if less else ""),
        ("function", f"for {variant}", f"for {other}"),
        tuple(rows),
    )


def looked_up(printed: str, program: str) -> list[str]:
    """The functions bound for `program` itself after it began, once for each look-up.

    Raises NoTrace if `printed`, the output of the linker, does not say when it began.
    """
    _, begun, during = printed.partition("transferring control")
    if not begun:
        raise NoTrace("The dynamic linker prints none: linked statically, or not glibc's")
    mine = (line for line in during.splitlines() if f"binding file {program} " in line)
    return [match[1] for line in mine if (match := _SYMBOL.search(line))]


def _printed(program: Path, variant: str) -> str:
    """What the linker prints during a short run. Raises NoTrace if it cannot run."""
    command = [str(program), "--variant", variant, "--samples", "2", "--warmup", "0"]
    environment = {**os.environ, "LD_DEBUG": "bindings"}
    try:
        done = paths.run(command, TIME_LIMIT_OF_LINKER_S, paths.HERE, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoTrace(str(error)) from None
    if done.returncode != 0:
        # The linker may begin a line of its own in the middle of the C kernel's message.
        lines = (_OF_LINKER.split(line)[0].strip() for line in done.stderr.splitlines())
        reason = [*filter(None, lines), "The C kernel ended and printed no reason"][0]
        raise NoTrace(reason[:200].rstrip("."))
    return done.stderr
