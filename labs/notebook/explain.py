"""The message for each thing that can go wrong with a run, or that its machine lacks."""

from __future__ import annotations

import re
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common.files import CannotWrite
from labs.common.messages import Message, Refused
from labs.recording import declared, places, proof
from labs.recording.file import BadRecording, Recording
from labs.run import c_process, variants
from labs.run.plan import BadPlan, Plan

#: What gcc and clang say of an assertion in a header of the kit, whose words are for the student,
#: and of a function that begins inside another one.
_ASSERTED = re.compile(r'static[_ ]assert\w* failed[^"]*"(.+)"')
_INSIDE_A_FUNCTION = ("invalid storage class for function", "function definition is not allowed")


#: What can go wrong with a run for reasons that the student can do something about.
EXPECTED = (
    BadPlan,
    c_process.RunFailed,
    toolchain.NoCompiler,
    toolchain.CompileError,
    BadRecording,
    OSError,
    ValueError,
)


def of_error(error: BaseException, source: str | None = None, first_line: int = 1) -> Message:
    """The message for an error of EXPECTED.

    `source`, whose first line the reader counts as `first_line`, is where an excerpt comes from.
    """
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, toolchain.CompileError):
        return _of_compile_error(error, source, first_line)
    if isinstance(error, toolchain.NoCompiler):
        return Message("problem", "there is no C compiler here", (_sentence(str(error)),))
    if isinstance(error, BadPlan):
        return Message("problem", "this cannot be measured as asked", (_sentence(str(error)),))
    if isinstance(error, c_process.RunFailed):
        heading = "this machine cannot measure that" if error.impossible_here else "the run failed"
        return Message("problem", heading, (_sentence(str(error)),))
    if isinstance(error, BadRecording):
        return Message("problem", "the samples are of no use", (_sentence(str(error)),))
    if isinstance(error, CannotWrite):
        return Message("problem", "it could not be saved", (_sentence(error.strerror or ""),))
    if isinstance(error, FileNotFoundError):
        return Message("problem", "not found", (_sentence(str(error)),))
    return Message("problem", "that did not work", (_sentence(str(error)),))


def of_unknown_variants(plan: Plan) -> Message | None:
    """The message for a plan that names variants which its C kernel has not; None for another."""
    if plan.source is not None or not plan.variants:
        return None
    try:
        known = tuple(each.name for each in variants.of_kernel(plan.kernel, plan.flags))
    except EXPECTED:
        return None  # of this, the error that led here tells
    strange = [name for name in plan.variants if name not in known]
    if not strange:
        return None
    heading = f"{plan.kernel_name} has no such variant: {', '.join(strange)}"
    return Message("problem", heading, (f"It has {', '.join(known)}.",))


def of_lacks(recording: Recording) -> tuple[Message, ...]:
    """What to say of a run whose machine lacks something that such a run is about."""
    about = (of_counter(recording), of_trap(recording), of_unbound(recording))
    return tuple(told for told in about if told is not None)


def of_counter(recording: Recording) -> Message | None:
    """What to say of a run for which no counter but clock_gettime could be read; None: nothing."""
    if set(recording.condition("counter")) != {"clock_monotonic"}:
        return None
    words = ["clock_gettime(CLOCK_MONOTONIC) stands in for it: slopes are the same by either."]
    if any(declared.is_overhead(recording, name) for name in recording.variants):
        words.append("What reads the counter elsewhere, such as `fenced`, reads that clock here.")
    return Message("note", "no counter can be read here", tuple(words))


def of_trap(recording: Recording) -> Message | None:
    """What to say of system calls that the trap instruction itself did not make; None: nothing."""
    makers = recording.condition("system_calls.by")
    trapping = (declared.of_variant(recording, name).traps for name in recording.variants)
    if not makers or not any(trapping):
        return None
    words = ("It is a function that holds this machine's trap instruction and sets errno besides.",)
    return Message("note", f"system calls are made by {makers[0]} here", words)


def of_unbound(recording: Recording) -> Message | None:
    """What to say of a run of switches whose machine can bind no task to a CPU; None: nothing."""
    why = places.why_unbound(recording)
    if why is None or not any(proof.claim_of(recording, name) for name in recording.variants):
        return None
    words = (
        "The tasks of this run were wherever the OS put them, whatever its variants are called: "
        "its figures are of hand-overs, and not surely of switches on one CPU.",
        "They are graded as that, and lose no points by it.",
    )
    return Message("note", f"nothing can be pinned here: {why}", words)


def of_interrupt(kernel_name: str) -> Message:
    """The message for a run that the student stopped."""
    words = (
        "Its processes are ended, and nothing of this run is saved.",
        "Where it did not end by itself: is there a loop in the C that never ends?",
    )
    return Message("problem", f"the run of {kernel_name} was stopped", words)


def _of_compile_error(
    error: toolchain.CompileError, source: str | None, first_line: int
) -> Message:
    errors = [each for each in error.messages if each.severity != "warning"]
    if not errors:
        return Message("problem", "the C code does not build", (), error.raw.strip()[:2000])
    # A line `#error "..."` is a stub that says what is to be done; what follows from it is noise.
    stubs = [each for each in errors if each.text.startswith("#error")]
    if stubs:
        words = stubs[0].text.removeprefix("#error").strip().strip('"')
        return Message("note", f"{stubs[0].file}, line {stubs[0].line}: {words}")
    told = next((each for each in errors if _ASSERTED.search(each.text)), None)
    first = told or next((each for each in errors if not _is_of_header(each)), errors[0])
    more = len(errors) - 1
    sentences = (f"{more} more besides this one: mend this first.",) if more else ()
    if source is not None and _is_of_header(first):
        return _of_header(first, sentences)
    heading = f"{first.file}, line {first.line}: {first.text}"
    return Message("problem", heading, sentences, _excerpt(first, source, first_line))


def _is_of_header(error: toolchain.CompileMessage) -> bool:
    return error.file.endswith(".h")


def _of_header(error: toolchain.CompileMessage, sentences: tuple[str, ...]) -> Message:
    """The message where the compiler stumbles only in a header of the kit: the mistake lies in what
    stands before the header's macro."""
    asserted = _ASSERTED.search(error.text)
    if asserted:
        return Message("problem", asserted[1], sentences)
    if any(words in error.text for words in _INSIDE_A_FUNCTION):
        return Message("problem", "a { of your C has no } that closes it", sentences)
    where = f"{Path(error.file).name}, line {error.line}"
    advice = "This header goes on where your C ends: is a ; or a } missing there, or a whole body?"
    return Message("problem", f"{where}: {error.text}", (advice, *sentences))


def _excerpt(at: toolchain.CompileMessage, source: str | None, first_line: int) -> str:
    """The line of the source with the one before and after it, and a marker under the column."""
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
