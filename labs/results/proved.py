"""The evidence that the measured event happened, in a few words.

Counts of the OS come first: of switches, of what created tasks did, of page faults. Without a
count, the line through the samples is all the evidence.
"""

from __future__ import annotations

from labs.common.units import rounded
from labs.recording import places, proof
from labs.results.result import Result


def evidence_of(result: Result) -> str:
    """What shows that the event of this result happened; '' if there is no figure to prove."""
    if by_line(result):
        return on_a_line(off_the_line(result))
    calls = _system_calls(result)
    if calls is not None and not _switches(result) and result.estimate is not None:
        return "one trap each, result checked" if calls else "no system call"
    return of_any_c(result)


def of_any_c(result: Result) -> str:
    """The same without what only the kit's own C kernels are known to do.

    A broken C kernel may have the name of one of the kit and make no system call at all.
    """
    seen = proof.of_variant(result.recording, result.variant)
    if seen is not None:
        counts = f"{seen.counted:,} switches counted, {seen.claimed:,} claimed"
        if places.why_unbound(result.recording):
            return f"{counts}; not bound to one CPU"
        return counts if seen.accounted_for else f"{counts}: they disagree"
    if counts := _counts(result):
        return counts
    if result.line is not None and result.estimate is not None:
        return on_a_line(off_the_line(result))
    return f"first sample of {result.estimate.processes} processes" if result.estimate else ""


def by_line(result: Result) -> bool:
    """Whether the line through the samples is all the evidence there is."""
    if result.line is None or result.estimate is None:
        return False
    return not (_switches(result) or _counts(result)) and _system_calls(result) is None


def _counts(result: Result) -> str:
    """What the OS counted of created tasks, or of page faults that are the operation; '' if none.

    A C kernel that counts none in its samples shows them only in a run of this operation alone.
    """
    recording, variant = result.recording, result.variant
    made = recording.total(f"variant.{variant}.created")
    if made:
        faults = recording.total(f"variant.{variant}.children_faults")
        counted = f", {faults:,} page faults of children counted" if faults is not None else ""
        return f"{made:,} tasks created{counted}"
    touched = recording.total(f"variant.{variant}.touched")
    faults = recording.total(f"variant.{variant}.faults")
    if touched and faults is not None:
        return f"{faults:,} page faults counted, {touched:,} pages"
    faults = recording.total("task.main.minor_faults")
    if variant == "page-fault" and set(recording.variants) == {variant} and faults is not None:
        return f"{faults:,} page faults counted, {int(recording.batch.sum()):,} operations"
    return ""


def _switches(result: Result) -> bool:
    """Whether the variant claims switches, and the OS has counted them."""
    return proof.of_variant(result.recording, result.variant) is not None


def switches_agree(result: Result) -> bool:
    """Whether the OS counted as many switches as claimed, by tasks bound to one CPU."""
    if places.why_unbound(result.recording):
        return False
    seen = proof.of_variant(result.recording, result.variant)
    return seen is not None and seen.accounted_for


def off_the_line(result: Result) -> float:
    """How far the farthest point is off the line, as a share; 0 if there is no line."""
    line = result.line
    return 0.0 if line is None else float(abs(line.residual / line.location).max())


def on_a_line(off: float) -> str:
    """The evidence of a line whose points are off it by at most the share `off`."""
    return f"no point is more than {rounded(100 * off, 1)} % off the line"


def _system_calls(result: Result) -> float | None:
    """The system calls of one operation, where the kit's own C kernel makes and checks them."""
    if result.recording.kernel != "system_call":
        return None
    return result.recording.number(f"variant.{result.variant}.system_calls")
