"""The page faults that the OS counted in the samples of a variant, and in later writes.

The C kernels with `kernels_c/faults.h` count them around each timed region, so each variant has its
own count. They are sums over all processes of the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

from labs.recording.file import Recording

#: From so many page faults for each page on, the pages were missing; below, they were not.
MOST, FEW = 0.9, 0.05
#: The OS makes a page fault of its own in one sample of fifty. If so many samples have one, it is
#: the same page each time, however many pages there are.
IN_SAMPLES = 0.5


@dataclass(frozen=True)
class Counted:
    """The counts of one variant: `touched` pages, page faults in the samples, and `later` ones.

    The later ones come from writes to the same pages after each sample. `there` is the pages that
    were in the page table before these writes; None if the run did not ask.
    """

    variant: str
    touched: int
    faults: int
    later: int
    samples: int
    there: int | None = None

    @property
    def each(self) -> float:
        """Page faults for each page that a sample touched."""
        return self.faults / self.touched

    @property
    def later_each(self) -> float:
        """Page faults of the later write to each of these pages."""
        return self.later / self.touched

    @property
    def has_faults(self) -> bool:
        """Whether the samples made page faults; a few that the OS makes by itself are none."""
        return self._is_more_than_few(self.faults)

    @property
    def only_read(self) -> bool:
        """Whether all pages are there, and some of them have no memory of their own."""
        if self.there is None:
            return min(self.each, self.later_each) >= MOST
        missing = self.touched - self.there
        return not self._is_more_than_few(missing) and self._is_more_than_few(self.later)

    def is_each(self, expected: float) -> bool:
        """Whether each page had `expected` page faults; a few that the OS makes make no change."""
        return not self._is_more_than_few(abs(self.faults - expected * self.touched))

    def _is_more_than_few(self, number: float) -> bool:
        return number >= FEW * self.touched or number >= max(IN_SAMPLES * self.samples, 1)


def counted(recording: Recording, variant: str) -> Counted | None:
    """The counts of a variant; None if the recording states none."""
    keys = ("touched", "faults", "later_faults")
    touched, faults, later = (recording.total(f"variant.{variant}.{key}") for key in keys)
    if not touched or faults is None or later is None:
        return None
    samples = int((recording.rows_of(variant) & (recording.batch > 0)).sum())
    there = recording.total(f"variant.{variant}.there")
    return Counted(variant, touched, faults, later, samples, there)
