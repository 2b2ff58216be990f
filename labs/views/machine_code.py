"""The view of machine code: what the compiler made of one function of a C kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labs.c_kernels import toolchain
from labs.c_kernels.optimisation import level_of
from labs.common.messages import Refused
from labs.notebook import explain
from labs.recording.file import BadRecording, read
from labs.views.gather import refused

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
        except explain.EXPECTED as error:
            raise Refused(explain.of_error(error)) from None
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
    if had is None or level_of(had) == level_of(level):
        return ""
    return f"; but its run was compiled with `{had}`"


def _without_addresses(code: str) -> str:
    """Each line without the tabs and the long address at its start."""
    return "\n".join(re.sub(r"^\s*([0-9a-f]+):\s*", r"\1: ", line) for line in code.splitlines())


def only_leaving(code: str) -> str:
    """The lines of `code` that leave the function, or a sentence that there is none."""
    return "\n".join(line for line in code.splitlines() if _LEAVES.search(line)) or _NONE_LEAVES
