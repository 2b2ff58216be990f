"""The view of the lengths of samples: which ones occur, how often, and that of an empty sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.common.table import Table
from labs.common.units import rounded
from labs.views.gather import refused, runs_of

if TYPE_CHECKING:
    from labs.notebook.run import Run

#: So many of the most frequent lengths have a row of their own.
MOST_ROWS = 8


@dataclass(frozen=True, repr=False)
class Lengths:
    """The samples of one variant in ticks, next to an empty sample of the same run.

    `ticks` holds every sample without the warm-up; `empty` is the median of a few samples with
    nothing between their readings; `cycle` is one core cycle in ticks.
    """

    ticks: tuple[int, ...]
    empty: float
    cycle: float
    step: float

    def table(self) -> Table:
        """One row for each of the most frequent lengths, in ascending order, and the others."""
        every = Counter(self.ticks)
        chosen = sorted(every.most_common(MOST_ROWS))
        rows = [
            (f"{ticks} ticks", rounded(ticks / self.cycle), f"{times:,}") for ticks, times in chosen
        ]
        others = len(every) - len(chosen)
        if others:
            rest = len(self.ticks) - sum(times for _, times in chosen)
            name = "1 other length" if others == 1 else f"{others} other lengths"
            rows.append((name, "", f"{rest:,}"))
        caption = (
            f"The lengths of {len(self.ticks):,} samples. An empty sample takes {self.empty:.0f} "
            f"ticks; the counter moves in steps of {self.step:.0f}"
        )
        return Table(caption, ("length", "in core cycles", "samples"), tuple(rows))

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def __repr__(self) -> str:
        return self.table().as_text()


def lengths(run: Run) -> Lengths:
    """Which lengths the samples of a run have. Raises Refused if its core cycle is not known."""
    (chosen,) = runs_of([run])
    samples = chosen.recording.samples(chosen.variant)
    empty, cycle = chosen.recording.number("counter.overhead"), samples.clock.core_cycle_ticks
    if empty is None or cycle is None:
        raise refused("this run does not state an empty sample, or the length of a core cycle")
    return Lengths(tuple(samples.ticks.tolist()), empty, cycle, samples.clock.step)
