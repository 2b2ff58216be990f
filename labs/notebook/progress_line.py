"""A line in the output of a cell that says how far a run is, while it lasts."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from labs.common import messages
from labs.common.html import inline
from labs.languages.words import of_reader
from labs.run.measure import Progress

#: A run that is over sooner, in seconds, shows no line.
AFTER_S = 0.7
#: The line changes at most so often, in seconds: what prints each change would fill a page.
EVERY_S = 2.0


class ProgressLine:
    """The line of the run that is called `name`; outside a notebook it shows nothing.

    `heard` may be called from any thread, `show` only from the thread that runs the cell: the
    output of another thread may end in another cell.
    """

    def __init__(self, name: str, *, narrower: bool = False) -> None:
        """`narrower` says that added processes are to narrow an interval.

        Otherwise they take the place of those that shared their core.
        """
        self._name = name
        self._narrower = narrower
        self._at: Progress | None = None
        self._planned = 0  # the samples that were to be taken at first
        self._begin = time.monotonic()
        self._next_s = AFTER_S
        self._handle: Any = None

    def __enter__(self) -> ProgressLine:
        return self

    def heard(self, at: Progress) -> None:
        """Remember how far the run is."""
        self._planned = self._planned or at.total
        self._at = at

    def show(self) -> None:
        """Show how far the run is, once it has lasted for a while."""
        seconds = time.monotonic() - self._begin
        if seconds < self._next_s or not messages.in_notebook():
            return
        self._next_s = seconds + EVERY_S
        self._display(of_reader().heading(self.words(seconds)))

    def words(self, seconds: float) -> str:
        """The line after so many seconds."""
        if self._at is None:
            return f"{self._name}: building, {seconds:.0f} s"
        if self._at.done == 0:
            return f"{self._name}: running, no sample yet, {seconds:.0f} s"
        if self._at.total > self._planned:  # a share of what grows would stay near 100 %
            if self._narrower:
                return (
                    f"{self._name}: {self._at.done:,} samples with the warm-up, adding processes "
                    f"for a narrower interval, {seconds:.0f} s"
                )
            return (
                f"{self._name}: {self._at.done:,} samples with the warm-up, adding processes, "
                f"because the core was shared, {seconds:.0f} s"
            )
        share = self._at.done / max(self._at.total, 1)
        return (
            f"{self._name}: {share:.0%}, {self._at.done:,} of {self._at.total:,} samples "
            f"with the warm-up, {seconds:.0f} s"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the words: the result follows."""
        if self._handle is not None:
            self._display("")

    def _display(self, words: str) -> None:
        from IPython.display import display

        bundle = {"text/plain": words}
        if words:
            bundle["text/html"] = str(inline('<p role="status">{{ words }}</p>', words=words))
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)
