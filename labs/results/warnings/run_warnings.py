"""Warnings that a run gives before anybody grades it: symptom, likely cause, what to try.

This module takes them from the conditions of the run. The modules beside it take them from its line
(line_warnings), the samples that were set aside (lost_samples), the CPUs where it ran
(placement_warnings), what it inherited (inherited_warnings) and how it ended (ended_too_soon).
"""

from __future__ import annotations

from dataclasses import replace

from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.common.advice import Option, advice
from labs.common.units import rounded
from labs.recording import declared, places, proof, traced
from labs.recording.distinct import distinct
from labs.recording.file import Recording
from labs.recording.load import busy_cpus, stolen
from labs.recording.memo import memoized
from labs.results.warnings.ended_too_soon import of_cut_short
from labs.results.warnings.inherited_warnings import of_inherited
from labs.results.warnings.line_warnings import of_line
from labs.results.warnings.placement_warnings import of_placement, of_unbound
from labs.results.warnings.warning import RunWarning

__all__ = ["RunWarning", "of_recording", "of_run"]

#: Fewer samples per batch size give a warning, and so does a larger change of the core's clock.
FEWEST_PER_BATCH = 30
SPEED_CHANGE = 0.02
#: Up to this change of the core's clock a time is still worth handing in.
MUCH_SPEED_CHANGE = 0.10

#: About a baseline in which the operation of a student's own question happens.
BASELINE_TOO = "baseline-does-it-too"
_BASELINE_TOO = "the baseline does what you ask about, and it is subtracted"
_ONLY_AROUND = "leave only what surrounds the operation in the baseline"


def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """All warnings of this run, the most serious first.

    `figure` is the estimate made from `line`; None means its intercept or slope itself.
    """
    conditions = of_recording(recording, line.variant)
    found = of_line(recording, line, figure)
    if any(each.code == BASELINE_TOO for each in conditions):
        # What is subtracted from itself leaves nothing, however long the run is.
        found = tuple(
            replace(each, likely_cause=_BASELINE_TOO, advice=_ONLY_AROUND)
            if each.code in ("not-believable", "wide-interval", "negative")
            else each
            for each in found
        )
    return (*found, *conditions)


def _of_counts(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if a student's own count found operations in baselines, or where none was made."""
    idle, of_baseline, tried = (
        recording.total(f"variant.{variant}.{name}")
        for name in ("counted_idle", "counted_of_baseline", "tried")
    )
    if idle:
        return [
            RunWarning(
                "counts-nothing",
                f"where nothing was done, your function counted {idle:,} operations",
                "it returns something else than what happened since its last call",
                "let it return only what is new",
            )
        ]
    if not of_baseline or tried is None:
        return []
    return [
        RunWarning(
            BASELINE_TOO,
            f"in {tried:,} baselines, your function counted {of_baseline:,} operations",
            _BASELINE_TOO,
            _ONLY_AROUND,
        )
    ]


def _of_switches(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the switches that `variant` claims are more or fewer than the OS counted."""
    seen = proof.of_variant(recording, variant)
    if seen is None or seen.accounted_for:
        return []
    claimed, counted = seen.claimed, seen.counted
    if places.why_unbound(recording) and counted > claimed / 2:
        return []  # tasks with a CPU each may sleep at a lock more or less often
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    symptom = f"{claimed:,} switches are claimed, and the OS counted {counted:,}"
    if len(claiming) > 1 and proof.has_own_count(recording, variant):
        symptom = f"{claimed:,} switches are claimed for {variant}, and the OS counted {counted:,}"
    if counted >= claimed:
        return [
            RunWarning(
                "switches-unaccounted",
                symptom,
                "each exchange takes more switches than it seems: a task wakes up before it has "
                "its turn, or blocks on a lock that the other task still holds, and switches again",
                "signal after you release the lock, and wait without a time-out",
            )
        ]
    where = places.of_variant(recording, variant)
    together = bool(where) and all(each.bound_together for each in where)
    return [
        RunWarning(
            "switches-unaccounted",
            symptom,
            "the other task did not have to run: the exchange makes no handoff"
            if together
            else "the other task did not have to run: the exchange makes no handoff, or the task "
            "had its own CPU",
            "make each task wait for the other"
            if together
            else "put both tasks on one CPU, and make each wait for the other",
        )
    ]


def _of_clock_speed(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the clock of the core changed during the run.

    Memory does not follow this clock, so core cycles are no way out for an operation on it.
    """
    speeds = core_clock.speeds_ghz(recording)
    if not speeds or speeds[1] <= (1 + SPEED_CHANGE) * speeds[0]:
        return []
    low, high = map(rounded, speeds)
    if declared.of_variant(recording, variant).memory:
        return [
            RunWarning(
                "clock-speed",
                f"the core's clock changed during the run, from {low} to {high} GHz",
                "turbo or power saving; this operation also waits for memory, which has a clock of "
                "its own",
                "state both speeds in your report, or measure again when the speed is steady",
                quiet=True,  # there is nothing to do about the figure
            )
        ]
    return [
        RunWarning(
            "clock-speed",
            f"the core's clock changed during the run, from {low} to {high} GHz",
            "turbo or power saving; a time in ns depends on the clock speed",
            advice(
                "use the unit core cycles ({unit}), which does not depend on it",
                unit=Option("unit", "cycles"),
            ),
            quiet=speeds[1] <= (1 + MUCH_SPEED_CHANGE) * speeds[0],
        )
    ]


def _of_tracer(recording: Recording) -> list[RunWarning]:
    """A warning if a tracer followed the run."""
    tracer = traced.tracer_of(recording)
    if not tracer:
        return []
    return [
        RunWarning(
            "traced",
            f"{tracer} followed the run",
            "a tracer stops the program at each system call, and these stops are in the samples",
            "measure without it; count the calls in a run of its own",
        )
    ]


def _of_one_process(recording: Recording, steady: int) -> list[RunWarning]:
    """A warning if all `steady` samples come from one process; if it has one sample, about that."""
    if len(recording.processes) != 1:
        return []
    if steady == len(recording.variants):
        return [
            RunWarning(
                "one-process",
                "there is only one sample, so there is only one process",
                "each process takes one sample of a variant or more",
                advice(
                    "{option_1} and {option_2}",
                    option_1=Option("samples", 10_000),
                    option_2=Option("processes", 10),
                ),
            )
        ]
    return [
        RunWarning(
            "one-process",
            "all samples come from one process",
            "the layout in memory differs between processes, and one process cannot show this",
            advice("{processes}", processes=Option("processes", 10)),
        )
    ]


def _few_samples(steady: int, sizes: int, variants: int) -> str:
    """How few samples there are."""
    if variants == 1:
        return (
            f"{steady} sample{'s' if steady != 1 else ''} over {sizes} batch "
            f"size{'s' if sizes != 1 else ''}"
        )
    return (
        f"{steady} sample{'s' if steady != 1 else ''} over {variants} variants with {sizes} batch "
        f"size{'s' if sizes != 1 else ''} each"
    )


@memoized
def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings from the conditions alone: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, if the C kernel counted them for it alone.
    """
    found = _of_tracer(recording) + of_cut_short(recording) + of_inherited(recording, variant)
    found += of_unbound(recording, variant) or of_placement(recording, variant)
    found += _of_clock_speed(recording, variant)
    found += _of_switches(recording, variant)
    found += _of_counts(recording, variant)
    sizes, variants = max(len(distinct(recording.batch)), 1), max(len(recording.variants), 1)
    steady = int((recording.sample >= 0).sum())
    found += _of_one_process(recording, steady)
    if steady / (sizes * variants) < FEWEST_PER_BATCH:
        found.append(
            RunWarning(
                "few-samples",
                _few_samples(steady, sizes, variants),
                "an interval from so few samples is itself uncertain",
                advice("{samples}", samples=Option("samples", FEWEST_PER_BATCH * sizes * 10)),
            )
        )
    steal = stolen(recording)
    if steal:
        found.append(
            RunWarning(
                "steal",
                f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time during the run",
                "other virtual machines share this computer",
                "measure again later, or use more processes, which spread the run over time",
                quiet=True,
            )
        )
    busy = busy_cpus(recording)
    if busy:
        found.append(
            RunWarning(
                "busy-machine",
                f"{rounded(busy, 2)} of {recording.number('cpus.online'):.0f} CPUs were busy "
                "during the run",
                "other programs were running",
                "close them and measure again",
                quiet=True,
            )
        )
    return tuple(found)
