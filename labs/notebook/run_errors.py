"""The messages about errors of a run, and about what the machine lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from labs import paths, terminal
from labs.c_kernels import catalogue, toolchain
from labs.files import CannotWrite
from labs.messages import Message, Refused
from labs.recording import counts, declared, run_conditions
from labs.recording.file import BadRecording, Recording
from labs.recording.run_conditions import cut_short
from labs.run import c_process, variants
from labs.run.plan import BadPlan, Plan

#: How gcc and clang report a failed assertion in a header of the kit, whose text is written for the
#: student, and a function that begins inside another one.
_ASSERTED = re.compile(r'static[_ ]assert\w* failed[^"]*"(.+)"')
_INSIDE_A_FUNCTION = ("invalid storage class for function", "function definition is not allowed")
#: How gcc and clang report a name that is already used, and where it was used first.
_USED_TWICE = re.compile(
    r"(?:types\sfor|redefinition\sof|declaration\sof)\s['‘](\w+)['’]"
    r"|^['‘](\w+)['’]\sredeclared"
)
_USED_FIRST = re.compile(
    r"^(?P<file>[^:\n]+):\d+:(?:\d+:)? (?P<kind>note: previous|(?:fatal )?error:|warning:)",
    re.MULTILINE,
)

#: The errors of a run that a student can correct.
EXPECTED = variants.CANNOT_LIST


#: What the message about each of these errors begins with.
_HEADINGS: dict[type[BaseException], str] = {
    toolchain.NoCompiler: "there is no C compiler here",
    BadPlan: "the run cannot start as asked",
    c_process.RunFailed: "this machine cannot make this measurement",
    BadRecording: "the samples cannot be used",
    CannotWrite: "the file could not be saved",
    FileNotFoundError: "not found",
}


def of_error(error: BaseException, source: str | None = None, first_line: int = 1) -> Message:
    """The message for an error of EXPECTED.

    The message quotes an excerpt of `source`, whose first line has the number `first_line`.
    """
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, toolchain.CompileError):
        return _of_compile_error(error, source, first_line)
    if isinstance(error, c_process.RunFailed) and not error.impossible_here:
        more = _of_clobbers(source) if error.hung else ()
        return Message("problem", "the run failed", (_sentence(str(error)), *more))
    said = error.strerror or "" if isinstance(error, CannotWrite) else str(error)
    known = (heading for kind, heading in _HEADINGS.items() if isinstance(error, kind))
    return Message("problem", next(known, "this did not work"), (_sentence(said),))


def of_unknown_variants(plan: Plan) -> Message | None:
    """The message for a plan that names variants which its C kernel lacks; None otherwise."""
    if plan.source is not None or not plan.variants:
        return None
    try:
        known = tuple(each.name for each in variants.of_kernel(plan.kernel, plan.flags))
    except EXPECTED:
        return None  # the caller reports its own error
    unknown = [name for name in plan.variants if name not in known]
    if not unknown:
        return None
    heading = f"{plan.kernel_name} has no such variant: {', '.join(unknown)}"
    close = [name for each in unknown if (name := _meant(each, known))]
    meant = (f"Did you mean {', '.join(close)}?",) if close else ()
    return Message("problem", heading, (*meant, f"It has {', '.join(catalogue.short(known))}."))


def _meant(word: str, known: Sequence[str]) -> str:
    """The variant that a misspelt word stands for; '' if several begin with this word."""
    several = sum(name.startswith(word) for name in known) > 1
    return "" if several else terminal.meant(word, known)


def of_lacks(recording: Recording) -> tuple[Message, ...]:
    """The messages about what the machine lacks for this run."""
    messages = (of_counter(recording), of_trap(recording), of_unbound(recording))
    return tuple(message for message in messages if message is not None)


def of_counter(recording: Recording) -> Message | None:
    """A message if the run could read only clock_gettime and no counter; else None."""
    if set(recording.condition("counter")) != {"clock_monotonic"}:
        return None
    words = ["C kernels read clock_gettime(CLOCK_MONOTONIC) instead: it gives the same slopes."]
    if any(declared.is_overhead(recording, name) for name in recording.variants):
        words.append("Variants that usually read the counter, such as `fenced`, read that clock.")
    return Message("note", "no counter can be read here", tuple(words))


def of_trap(recording: Recording) -> Message | None:
    """A message if a function made the system calls, and not a trap instruction; else None."""
    makers = recording.condition("system_calls.by")
    trapping = (declared.of_variant(recording, name).traps for name in recording.variants)
    if not makers or not any(trapping):
        return None
    words = ("This function contains the machine's trap instruction, and it also sets errno.",)
    return Message("note", f"system calls are made by {makers[0]} here", words)


def of_unbound(recording: Recording) -> Message | None:
    """A message if the run makes switches and its machine can bind no task to a CPU; else None."""
    why = run_conditions.why_unbound(recording)
    if why is None or not any(counts.claim_of(recording, name) for name in recording.variants):
        return None
    words = (
        "The OS chose the CPUs of the tasks, whatever the names of the variants say. So the "
        "figures are about handoffs, which need not be switches on one CPU.",
        "The grader judges them as handoffs, and they lose no points.",
    )
    return Message("note", f"nothing can be pinned here: {why}", words)


def of_pages(recording: Recording, source: str) -> Message | None:
    """A message if the student's get_ready() called the code or left its page; else None.

    The run calls it once more with the address of other memory. This says nothing about C that
    reaches the code by its name: such a `source` gets no message.
    """
    if recording.number("variant.own.watched_called"):
        words = [
            "That was the first call of each process, so `own` holds only later ones.",
            "Touch the page without running its code.",
        ]
        return Message("note", "get_ready() called the code", tuple(words))
    touched, others = (
        recording.number(f"variant.own.watched_{each}") for each in ("page", "other_pages")
    )
    if touched != 0 or "procedure" in source:
        return None
    which = "only other pages" if others else "no page"
    words = [f"The run called it once more at its end: it touched {which}."]
    if others:
        words += [
            "The OS may bring pages around a touched one, so the figure alone does not show this."
        ]
    return Message(
        "note", "get_ready() did not touch the page that `code` points into", tuple(words)
    )


def of_registers(recording: Recording, source: str) -> Message | None:
    """A message if assembly in `source` overwrites registers in silence, and yet the run ended."""
    missing = toolchain.missing_clobbers(source)
    if not missing or "x86_64" not in " ".join(recording.condition("os")):
        return None
    names = " and ".join(missing)
    words = (
        "This run ended. With another compiler or other options, the same C may give a wrong "
        "result or never end.",
        f"Name {names} in the last list of the assembly, after its third colon.",
    )
    return Message("note", f"your assembly does not say that `syscall` overwrites {names}", words)


def of_interrupt(kernel_name: str, source: str | None = None) -> Message:
    """The message for a run that the student stopped; `source` is its C if it came from a cell."""
    why = _of_clobbers(source) or (
        "If the run did not end by itself, look for a loop or a wait in the C that never ends.",
    )
    words = ("Ticklab ended its processes, and nothing of this run is saved.", *why)
    return Message("problem", f"the run of {kernel_name} was stopped", words)


def of_kept(recording: Recording, names: Sequence[str], sentences: Sequence[str]) -> Message:
    """The message for a run that the student stopped after some of its processes.

    These are kept under `names`, and `sentences` are their results.
    """
    cut, heading = cut_short(recording), f"the run of {recording.kernel} was stopped"
    if cut is not None:
        heading += f" after {cut.whole} of {cut.planned} processes"
    listed = " and ".join(f'`lab.runs["{name}"]`' for name in dict.fromkeys(names))
    return Message("note", heading, (f"What had finished is saved, as {listed}.", *sentences))


def _of_clobbers(source: str | None) -> tuple[str, ...]:
    """A sentence on registers that the C overwrites behind the compiler's back, if it does."""
    missing = toolchain.missing_clobbers(source or "")
    if not missing:
        return ()
    names = " and ".join(missing)
    return (
        f"Your assembly does not say that `syscall` overwrites {names}. If the compiler keeps "
        f"the loop's counter in such a register, the loop never ends. Name {names} in the last "
        "list of the assembly, after its third colon.",
    )


def _of_compile_error(
    error: toolchain.CompileError, source: str | None, first_line: int
) -> Message:
    errors = [each for each in error.messages if each.severity != "warning"]
    if not errors:
        return Message("problem", "the C code does not compile", (), error.raw.strip()[:2000])
    # A line `#error "..."` is a stub that says what to do; it causes the errors that follow.
    stubs = [each for each in errors if each.text.startswith("#error")]
    if stubs:
        words = stubs[0].text.removeprefix("#error").strip().strip('"')
        return Message("open", f"{stubs[0].file}, line {stubs[0].line}: {words}")
    asserted = next((each for each in errors if _ASSERTED.search(each.text)), None)
    first = asserted or next((each for each in errors if not _is_in_header(each)), errors[0])
    more = len(errors) - 1
    others = f"{more} more error{'s' if more != 1 else ''}"
    sentences = (f"The compiler reports {others}; correct this one first.",) if more else ()
    if source is not None and _is_in_header(first):
        return _of_header(first, sentences)
    heading = f"{first.file}, line {first.line}: {first.text}"
    sentences = (*_of_taken_name(first, error.raw), *sentences)
    return Message("problem", heading, sentences, _excerpt(first, source, first_line))


def _of_taken_name(error: toolchain.CompileMessage, raw: str) -> tuple[str, ...]:
    """A sentence if a header that the C includes has used the name of the `error` before."""
    name = _USED_TWICE.search(error.text)
    before = _USED_FIRST.search(raw, raw.find(error.text) + len(error.text))
    if name is None or before is None or not before["kind"].startswith("note"):
        return ()
    header, taken = Path(before["file"]).name, name[1] or name[2]
    if not header.endswith(".h"):
        return ()
    kits = (paths.kernels_c() / header).is_file()
    whose = "a header of the kit" if kits else "which your C includes"
    return (f"The name {taken} is used in {header}, {whose}: choose another.",)


def _is_in_header(error: toolchain.CompileMessage) -> bool:
    return error.file.endswith(".h")


def _of_header(error: toolchain.CompileMessage, sentences: tuple[str, ...]) -> Message:
    """The message for an error inside a header of the kit.

    The mistake is in the student's C before the header's macro.
    """
    asserted = _ASSERTED.search(error.text)
    if asserted:
        return Message("problem", asserted[1], sentences)
    if any(words in error.text for words in _INSIDE_A_FUNCTION):
        return Message("problem", "a { of your C has no } that closes it", sentences)
    where = f"{Path(error.file).name}, line {error.line}"
    advice = (
        "This header continues after the end of your C: look there for a missing ; or } or body."
    )
    return Message("problem", f"{where}: {error.text}", (advice, *sentences))


def _excerpt(at: toolchain.CompileMessage, source: str | None, first_line: int) -> str:
    """The line of the error with the lines before and after it, and a marker under the column."""
    lines = (source or "").split("\n")
    index = at.line - first_line
    if not 0 <= index < len(lines):
        return ""
    shown = []
    for i in range(max(index - 1, 0), min(index + 2, len(lines))):
        text = lines[i].expandtabs(4)
        shown.append(f"{'>' if i == index else ' '} {first_line + i:>4} | {text}")
        if i == index and at.column is not None:
            # The compiler counts a tab as one column; the marker stands under the expanded line.
            before = lines[i][: at.column - 1].expandtabs(4)
            shown.append(f"       | {' ' * len(before)}^")
    return "\n".join(shown).rstrip()


def _sentence(text: str) -> str:
    text = text.strip()
    return text + ("" if text.endswith((".", "!", "?", "`")) else ".")
