"""Arguments of a system call in registers where the OS kernel does not look."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import traps
from grader.facts.c import parts
from grader.facts.c.assembly import TrapInstruction, trap_instructions
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall

#: By trap instruction: the register of the first argument, and the machine it is an instruction of.
FIRST_ARGUMENT = {"syscall": ("rdi", "x86_64"), "svc": ("x0", "aarch64")}

OF_THE_NUMBER = {"rax", "x8"}


def detect(case: Case) -> str | None:
    source = own_source(case) if case.spec.kernel in traps.KERNELS else None
    for trap in trap_instructions(parts.whole(source)):
        if trap.first_argument_missing and _was_run(case, trap):
            first, _ = FIRST_ARGUMENT[trap.instruction]
            loaded = ", ".join(sorted(trap.loaded - OF_THE_NUMBER))
            return (
                f"Your C loads {loaded} for `{trap.instruction}`; the first argument belongs in "
                f"{first}. Your variant {traps.with_floor(case, case.spec.variant)}."
            )
    return None


def _was_run(case: Case, trap: TrapInstruction) -> bool:
    """Whether the machine is one that has this instruction; a source may hold several."""
    stated = " ".join(case.recording.condition("os"))
    _, machine = FIRST_ARGUMENT[trap.instruction]
    others = (each for _, each in FIRST_ARGUMENT.values() if each != machine)
    return not any(other in stated for other in others)


PITFALL = Pitfall(
    code="wrong-registers",
    level=Level.VALIDITY,
    symptom="The OS kernel does not get the arguments that you meant.",
    misconception="x86-64 Linux takes arguments in rdi, rsi, rdx; rbx, rcx, rdx belong to the "
    "32-bit int 0x80. You time a failing call.",
    experiment="Run your program under strace: which arguments does it print, and which result?",
    seen_in="report C: read by rbx, rcx and rdx, and the result is not checked",
    detect=detect,
    broken=(Live("wrong_registers", "system-call-read0"),),
)
