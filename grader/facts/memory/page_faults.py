"""The page faults that the OS counted in the samples of a variant, and in later writes.

The C kernels with `kernels_c/faults.h` count them around each timed region, so each variant has its
own count. They are sums over all processes of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cases.case import Case
from labs.recording.file import Recording

KERNELS = frozenset({"page_fault", "own_page_fault"})

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

    def _is_more_than_few(self, number: int) -> bool:
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


def of_case(case: Case) -> Iterator[Counted]:
    """The counts of each variant that the figure is about, if the recording has them."""
    if case.spec.kernel not in KERNELS:
        return
    for name in case.spec.variants:
        found = counted(case.recording, name)
        if found is not None:
            yield found


def one_fault_a_page(case: Case) -> bool:
    """Whether the OS counted one page fault for each page that the samples touched."""
    found = list(of_case(case))
    return bool(found) and all(each.each >= MOST for each in found)


def no_fault_left(case: Case) -> bool:
    """Whether the OS counted no page fault in the writes after a student's preparation."""
    found = counted(case.recording, "own")
    return found is not None and not found.has_faults
