"""One line for each process of a variant, through the samples that count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis import core_clock, interruptions, outliers, shared_core
from labs.analysis.arrays import Bools
from labs.analysis.cells import Cells, cells_of, step_of
from labs.analysis.estimate import CannotEstimate
from labs.analysis.fits import Fits, fits
from labs.analysis.outliers import FEWEST_SAMPLES
from labs.analysis.shared_core import Shared
from labs.common.advice import Option
from labs.recording import declared
from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized

#: A run of a single process is divided into so many parts in time.
PARTS = 20
#: A process is left out if it has fewer samples that count than this share of the median process.
LEAST_KEPT = 0.1


@dataclass(frozen=True, eq=False)
class ProcessLines:
    """The lines of all processes of a variant, in ticks.

    `usable`, shape (processes,), marks the processes that have enough samples for a line. If the
    run has only one process, `parts`, shape (n,), numbers parts in time that stand for processes.
    The `chosen` samples make the lines. Samples that were interrupted (`hit`) or taken on a shared
    core (`shared`) do not; these masks have the shape (n,).
    """

    samples: Samples
    parts: Integers | None
    cells: Cells
    fit: Fits
    usable: Bools
    shared: Shared
    hit: Bools
    chosen: Bools
    unseen: float


@memoized
def process_lines(recording: Recording, variant: str, one_speed: bool) -> ProcessLines:
    """The lines of `variant`, in ticks; with `one_speed`, in ticks at the run's median clock speed.

    Raises CannotEstimate if there are fewer than two batch sizes or too few samples, and KeyError
    if the recording has no such variant.
    """
    as_read = recording.samples(variant)
    samples = core_clock.at_one_speed(as_read, recording) if one_speed else as_read
    parts = _parts(samples)
    # The step must come from the ticks as read: after conversion to one speed, steps differ.
    cells = cells_of(samples, parts, step_of(as_read))
    _demand_sizes(recording, variant, len(samples), int((cells.batch > 0).sum()))
    shared = shared_core.find(recording, samples, cells, declared.is_overhead(recording, variant))
    at_level, on_whole_core = outliers.at_one_level(cells), ~shared.while_shared
    beside = interruptions.counted_beside(recording)
    per_ns = samples.clock.ticks_in("ns")
    long = interruptions.lengthened(cells, at_level, on_whole_core, per_ns, beside)
    hit = long.interrupted
    rest = outliers.near_median(cells, at_level, on_whole_core & ~hit & ~long.own)
    chosen = rest | long.own
    fit = fits(cells, chosen)
    enough = fit.count.sum(axis=1)
    usable = ((fit.weight > 0).sum(axis=1) >= 2) & (enough >= LEAST_KEPT * np.median(enough))
    sizes_left = fit.count[usable].sum(axis=0)[cells.batch > 0] >= FEWEST_SAMPLES
    if usable.sum() < 2 or sizes_left.sum() < 2:
        raise CannotEstimate(
            variant,
            "{samples} samples are too few for {sizes} batch sizes; raise {option}",
            samples=str(int(chosen.sum())),
            sizes=str(cells.shape[1]),
            option=Option("samples"),
        )
    return ProcessLines(
        samples=samples,
        parts=parts,
        cells=cells,
        fit=fit,
        usable=usable,
        shared=shared,
        hit=hit,
        chosen=chosen,
        unseen=interruptions.unseen(recording, cells, fit, on_whole_core & ~chosen, per_ns),
    )


def _demand_sizes(recording: Recording, variant: str, samples: int, sizes: int) -> None:
    """Raises CannotEstimate unless the `samples` have two or more batch `sizes` above 0."""
    if sizes < 2 and samples < len(asked := _sizes_asked_for(recording)) > 1:
        raise CannotEstimate(
            variant,
            "1 sample cannot hold the {sizes} batch sizes; raise {option}"
            if samples == 1
            else "{samples} samples cannot hold the {sizes} batch sizes; raise {option}",
            samples=str(samples),
            sizes=str(len(asked)),
            option=Option("samples"),
        )
    if sizes < 2:
        raise CannotEstimate(
            variant,
            "a line needs two batch sizes above 0, this recording has {sizes}; measure with "
            "{option}",
            sizes=str(sizes),
            option=Option("batch", ("K1", "K2", "...")),
        )


def _sizes_asked_for(recording: Recording) -> set[str]:
    """The batch sizes above 0 that the recording was to have, as texts."""
    stated = {word.strip() for text in recording.condition("batch") for word in text.split(",")}
    return {size for size in stated if size.strip("0")}


def _parts(samples: Samples) -> Integers | None:
    """The part in time of each sample if there is one process only, shape (n,); else None."""
    if len(samples) == 0 or (samples.process != samples.process[0]).any():
        return None
    place = np.argsort(np.argsort(samples.sample, kind="stable"), kind="stable")
    return (place * PARTS // len(samples)).astype(np.int64)
