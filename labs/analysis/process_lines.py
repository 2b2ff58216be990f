"""One line for each process of a variant, through the samples that count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.analysis import core_clock, selection, shared_core
from labs.analysis.arrays import Bools
from labs.analysis.estimate import CannotEstimate
from labs.analysis.fits import Fits, fits
from labs.analysis.selection import FEWEST, Cells
from labs.analysis.shared_core import Shared
from labs.common.advice import Option
from labs.recording import declared
from labs.recording.file import Integers, Recording, Samples
from labs.recording.memo import memoized

#: Parts in time, where a single process has to stand for several.
PARTS = 20
#: A process that kept a smaller share of samples than this, of what the others kept, is left out.
LEAST_KEPT = 0.1


@dataclass(frozen=True, eq=False)
class ProcessLines:
    """The lines of all processes of a variant; `usable` ones have a line of their own.

    `parts` stand for processes where there is one process only. Of the `samples`, those that are
    `chosen` make the lines. Those that were interrupted (`hit`) and those taken on a core that was
    `shared` do not.
    """

    samples: Samples
    parts: Integers | None
    cells: Cells
    fit: Fits
    usable: Bools
    shared: Shared
    hit: Bools
    chosen: Bools


@memoized
def process_lines(recording: Recording, variant: str, one_speed: bool) -> ProcessLines:
    """The lines of `variant`, in ticks; with `one_speed`, in ticks at the run's median speed.

    Raises CannotEstimate where there are fewer than two batch sizes or too few samples, KeyError
    where the recording has no such variant.
    """
    as_read = recording.samples(variant)
    samples = core_clock.at_one_speed(as_read, recording) if one_speed else as_read
    parts = _parts(samples)
    # The clock steps as it was read: at one speed its steps are of several lengths.
    cells = selection.cells_of(samples, parts, selection.step_of(as_read))
    sizes = int((cells.batch > 0).sum())
    if sizes < 2:
        raise CannotEstimate(
            f"{variant}: a line needs two batch sizes above 0, this recording has {sizes}; "
            "measure with ",
            Option("batch", ("K1", "K2", "...")),
        )
    shared = shared_core.find(recording, samples, cells, declared.is_overhead(recording, variant))
    even, every = selection.at_one_level(cells), ~shared.while_shared
    hit = selection.interrupted(cells, even, every, samples.clock.ticks_in("ns"))
    chosen = selection.near(cells, even, every & ~hit)
    fit = fits(cells, chosen)
    enough = fit.count.sum(axis=1)
    usable = ((fit.weight > 0).sum(axis=1) >= 2) & (enough >= LEAST_KEPT * np.median(enough))
    sizes_left = fit.count[usable].sum(axis=0)[cells.batch > 0] >= FEWEST
    if usable.sum() < 2 or sizes_left.sum() < 2:
        raise CannotEstimate(
            f"{variant}: {int(chosen.sum())} samples are too few for {cells.shape[1]} batch sizes; "
            "raise ",
            Option("samples"),
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
    )


def _parts(samples: Samples) -> Integers | None:
    """Parts in time that stand for processes where there is one process only; shape (n,)."""
    if len(samples) == 0 or (samples.process != samples.process[0]).any():
        return None
    place = np.argsort(np.argsort(samples.sample, kind="stable"), kind="stable")
    return (place * PARTS // len(samples)).astype(np.int64)
