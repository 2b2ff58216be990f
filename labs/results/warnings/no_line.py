"""The warning that the samples of a run lie on no line: its likely cause, and what to try."""

from __future__ import annotations

from labs.analysis import core_clock
from labs.analysis.line import Line
from labs.common.advice import Advice, Option, advice
from labs.common.units import rounded
from labs.recording import declared, proof
from labs.recording.file import Recording
from labs.recording.load import was_shared
from labs.results.warnings.warning import RunWarning

#: A shorter delay is no interruption.
SHORTEST_NS = 1000.0
READ_EARLY = (
    "the second reading does not wait for the work before it, and how early it comes changes from "
    "sample to sample"
)
LET_IT_WAIT = "let the second reading wait, then measure again"

#: After about this time Linux gives the CPU to another task that waits for it (3 ms on machines of
#: 8 and more CPUs, less on smaller ones).
TIME_SLICE_MS = 3.0


def warning(recording: Recording, line: Line) -> RunWarning:
    """The warning that the samples lie on no line."""
    worst, share = line.worst_point()
    cause: tuple[str, Advice | str] = (
        "the clock is read before the work is done, the work does not grow with k, or the samples "
        "are so short that the end of their loop counts",
        advice(
            "larger batch sizes ({batch}); if they do not help, look at the disassembly of the "
            "measured region",
            batch=Option("batch", ...),
        ),
    )
    if declared.is_unfenced(recording, line.variant):
        cause = (cause[0], "use a fenced variant")
    elif declared.seen_not_to_wait(recording, line.variant):
        cause = (READ_EARLY, LET_IT_WAIT)
    elif _are_too_short(recording, line):
        # Other programs make samples longer, never shorter than their work.
        cause = (
            "the clock is read before the work between the readings is done",
            "look at the disassembly of the measured region",
        )
    elif (lasts := _beyond_a_time_slice(recording, line)) is not None:
        cause = (
            f"the longest samples last {rounded(lasts)} ms, which is more than a time slice: the "
            "OS gave the CPU to the other task in the middle of a sample",
            advice("much smaller batch sizes ({batch})", batch=Option("batch", ...)),
        )
    elif was_shared(recording) and _may_hide_an_interruption(line):
        cause = (
            "other programs used the CPU during the run; they interrupt long samples more "
            "often than short ones, here so often that disturbed samples are not recognised",
            advice(
                "measure again when the machine is quieter, or with smaller batch sizes ({batch})",
                batch=Option("batch", ...),
            ),
        )
    return RunWarning(
        "not-on-a-line",
        f"at k = {line.batch[worst]:.0f} the mean lies {rounded(100 * abs(share), 2)} % off the "
        "line T(k) = overhead + k * cost, so there is no figure",
        *cause,
    )


def _are_too_short(recording: Recording, line: Line) -> bool:
    """Whether samples take less time than the operations in them, as far as their length is known.

    Example: 64 additions that wait for each other, and a sample of 40 core cycles.
    """
    cycle = core_clock.shortest_cycle(recording, line.clock)
    work = line.batch * (declared.operation_cycles(recording, line.variant) * cycle)
    return bool((line.location < work).any())


def _may_hide_an_interruption(line: Line) -> bool:
    """Whether the longest samples last at least as long as the shortest interruption.

    An interruption makes a sample of 50 ns many times as long, so it is always recognised there.
    """
    return float(line.location.max()) >= SHORTEST_NS * line.clock.ticks_in("ns")


def _beyond_a_time_slice(recording: Recording, line: Line) -> float | None:
    """How many ms the longest samples last, if that is more than a time slice; else None.

    It is None too if the tasks hand over as claimed, because then none keeps the CPU so long.
    """
    lasts = float(line.location.max()) / line.clock.ticks_in("ms")
    seen = proof.of_variant(recording, line.variant)
    keeps = seen is not None and 0 < seen.counted < seen.claimed / 2
    return lasts if keeps and lasts > TIME_SLICE_MS else None
