"""C kernels as programs: built alone, called, read by what they print, do and consist of."""

from __future__ import annotations

import collections
import csv
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.paths import REPOSITORY
from support.programs import Done

FOLDER = REPOSITORY / "kernels_c"
SOURCES = sorted(FOLDER.glob("*.c"))
KERNELS = [source.stem for source in SOURCES]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
TWO_CPUS = pytest.mark.skipif(len(CPUS) < 2, reason="this process may use one CPU only")

#: What the tests compiled, for all of their runs; `make clean` removes it.
BUILT = REPOSITORY / "build" / "tests"

Program = Path


def compile_c(
    into: Path,
    *flags: str,
    compiler: Sequence[str] = ("gcc",),
    source: Path = FOLDER / "timer_overhead.c",
    env: Mapping[str, str] | None = None,
) -> Program:
    """Build one C kernel by itself, every warning an error.

    What a compiler makes of the project's C is kept for all workers and later runs of the tests.
    """
    program = into / source.stem
    words = [*compiler, *flags, "-Wall", "-Wextra", "-Werror", "-pthread"]
    if source.parent == FOLDER and len(compiler) == 1:
        source = _kept([*(word for word in words if word != "-static"), "-c"], source)
    elif source.parent == FOLDER:  # zig refuses options of the linker where it only compiles
        shutil.copy(_kept([*words, "-lm"], source, env), program)
        return program
    _built([*words, str(source), "-o", str(program), "-lm"], env)
    return program


def _kept(words: list[str], source: Path, env: Mapping[str, str] | None = None) -> Path:
    """What this command makes of the source: its name is a hash of all that goes in."""
    texts = [path.read_bytes() for path in (source, *sorted(FOLDER.glob("*.h")))]
    told = "\0".join((*words, _version(words[0]), source.name)).encode()
    built = BUILT / f"{hashlib.sha256(b''.join([told, *texts])).hexdigest()}.o"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        own = built.with_suffix(f".{os.getpid()}")
        _built([*words, str(source), "-o", str(own)], env)
        own.rename(built)
    return built


@functools.cache
def _version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout


def _built(command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr


def on_one_cpu() -> None:
    """For `preexec_fn`: a process that may use the first CPU only."""
    os.sched_setaffinity(0, {CPUS[0]})


def rows_of(output: str) -> list[tuple[str, int, int, int]]:
    """Variant, sample, batch and ticks of every row."""
    body = output.partition("variant,sample,batch,ticks\n")[2]
    rows = [line.split(",") for line in body.splitlines()]
    return [(name, int(number), int(batch), int(ticks)) for name, number, batch, ticks in rows]


def conditions_of(output: str) -> dict[str, str]:
    """What stands before the rows as '# key: value'."""
    head = output.partition("variant,sample,batch,ticks\n")[0]
    pairs = [line.removeprefix("# ").partition(": ") for line in head.splitlines()]
    return {key: value for key, _, value in pairs}


def errors_of(done: Done) -> list[str]:
    """What it said on standard error, progress left out."""
    return [line for line in done.stderr.splitlines() if not line.startswith("progress ")]


def listed(program: Program) -> dict[str, tuple[str, str]]:
    """What --list says of each variant: what it is, and why it is missing here."""
    return listed_by([str(program)])


def listed_by(command: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The same, of a program that is run by a command, such as an emulator's."""
    done = subprocess.run([*command, "--list"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("variant,about,missing,") :]
    rows = csv.DictReader(table.splitlines())
    return {row["variant"]: (row["about"], row["missing"]) for row in rows}


# Machine code


@dataclass(frozen=True)
class Instruction:
    """One instruction: where it stands, and its text with single blanks."""

    address: int
    text: str

    @property
    def name(self) -> str:
        return self.text.split()[0]

    @property
    def target(self) -> int | None:
        """Where a jump goes; None of all other instructions."""
        found = re.match(r"(?:j\w+|b|b\.\w+|cbn?z \w+,|tbn?z \w+, #\w+,) ([0-9a-f]+) <", self.text)
        return int(found[1], 16) if found else None


class Code:
    """The disassembly of a program, function by function."""

    def __init__(self, program: Program, objdump: str = "objdump") -> None:
        if shutil.which(objdump) is None:
            pytest.skip(f"{objdump} is not installed")
        done = subprocess.run(
            [objdump, "-d", "-t", "--no-show-raw-insn", str(program)],
            capture_output=True,
            text=True,
            check=True,
        )
        # Functions that the compiler found to be alike stand once and have several names.
        symbols = re.findall(
            r"^([0-9a-f]+) .* F \.text\t[0-9a-f]+ +(?:\.\w+ )?(\S+)$", done.stdout, re.M
        )
        self._address = {name: int(address, 16) for address, name in symbols}
        self._at: dict[int, list[Instruction]] = {}
        for address, body in re.findall(
            r"^([0-9a-f]+) <[^>]+>:\n(.*?)(?:\n\n|\Z)", done.stdout, re.M | re.S
        ):
            self._at[int(address, 16)] = [
                Instruction(int(place, 16), " ".join(text.split()))
                for place, text in re.findall(r"^ *([0-9a-f]+):\t(.+)$", body, re.M)
            ]

    def __contains__(self, name: str) -> bool:
        return name in self._address

    def names(self) -> list[str]:
        """The functions of the program."""
        return list(self._address)

    def function(self, name: str) -> list[Instruction]:
        """All instructions of a function."""
        assert name in self._address, f"{name} is not in the program"
        return self._at[self._address[name]]

    def region(self, name: str) -> list[Instruction]:
        """What can run after the first reading of the counter in a function, until the next."""
        code = self.function(name)
        assert any(map(_reads_counter, code)), f"{name} does not read the counter"
        begin = next(place for place, each in enumerate(code) if _reads_counter(each))
        place_of = {each.address: place for place, each in enumerate(code)}
        return [code[place] for place in sorted(_reached(code, place_of, begin))]

    def loop(self, name: str) -> list[Instruction]:
        """What of the region can run more than once."""
        inside = self.region(name)
        place_of = {each.address: place for place, each in enumerate(inside)}
        around = [
            each for place, each in enumerate(inside) if place in _reached(inside, place_of, place)
        ]
        assert around, f"{name} has no loop between the readings"
        return around


def _reads_counter(each: Instruction) -> bool:
    return each.name in ("rdtsc", "rdtscp", "rdtime") or "cntvct_el0" in each.text


#: After these nothing follows.
_NO_RETURN = re.compile(r"(jmp|b|ret|hlt|ud2|brk)\b(?!\.)|(call|bl) .*<(_exit@plt|stop)")


def _reached(code: list[Instruction], place_of: dict[int, int], start: int) -> set[int]:
    """The places that control can come to from `start` on, readings of the counter not passed."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        at = waiting.pop()
        each = code[at]
        after = [] if _NO_RETURN.match(each.text) else [at + 1]
        if each.target in place_of:
            after.append(place_of[each.target])
        for place in after:
            if place < len(code) and place not in found and not _reads_counter(code[place]):
                # In a list of some instructions the next need not be what comes next.
                found.add(place)
                waiting.append(place)
    return found


def needs(architecture: str) -> pytest.MarkDecorator:
    """Skip where the processor is another one."""
    here = os.uname().machine
    return pytest.mark.skipif(here != architecture, reason=f"needs {architecture}, this is {here}")


# System calls


@dataclass(frozen=True)
class Traced:
    """A run seen by strace: what it printed, and of every call who made it, its name and result."""

    output: str
    calls: tuple[tuple[int, str, str], ...]
    retakes: int  # samples taken anew after a line of progress

    def made(self, *, by_main: bool | None = None) -> collections.Counter[str]:
        """How often each system call was made: by all, by the first process, or by the others."""
        main = self.calls[0][0]
        return collections.Counter(
            name for task, name, _ in self.calls if by_main is None or (task == main) == by_main
        )


def system_calls(program: Program, log: Path, *options: str) -> Traced:
    """The system calls of a run and of its children. Skips where strace is not there or allowed."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    done = subprocess.run(
        [strace, "-f", "-o", str(log), str(program), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"strace is not allowed here: {done.stderr.strip()[-200:]}")
    text = log.read_text()
    calls = re.findall(r"^(\d+) +(\w+)\(.*?(?: = (.*))?$", text, re.M)
    return Traced(
        done.stdout,
        tuple((int(task), name, result) for task, name, result in calls),
        len(re.findall(r'write\(2, "progress', text)),
    )
