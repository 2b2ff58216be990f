"""The time of a run, which stands still while the run itself is stopped.

Ctrl-Z stops us, and whoever pauses a container or a virtual machine stops us and the C. No limit in
seconds counts such a pause. We notice it by a tick of our own: it is due several times a second,
and it comes seconds late. A machine that is suspended stops `time.monotonic` too.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

#: So often, in seconds, a clock is looked at. More often would disturb what is timed.
TICK_S = 0.25
#: After so many seconds without a look, the run was stopped. Other load delays a tick by less.
STOPPED_S = 1.0


class RunClock:
    """The seconds of a run without its pauses; `now` must be called at every tick."""

    def __init__(self, read: Callable[[], float] = time.monotonic) -> None:
        """`read` gives seconds of any clock that never goes back."""
        self._read = read
        self._last = read()
        self._seconds = 0.0

    def now(self) -> float:
        """The seconds since the beginning of the run, without its pauses."""
        at = self._read()
        passed, self._last = at - self._last, at
        if passed < STOPPED_S:
            self._seconds += passed
        return self._seconds


@dataclass(frozen=True)
class Deadline:
    """When a run must be over: at `at_s` seconds of its clock."""

    clock: RunClock
    at_s: float

    def left_s(self) -> float:
        """The seconds until then; 0 or less if it is over."""
        return self.at_s - self.clock.now()


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[RunClock]:
    """A clock of a run that begins now, and the task that looks at it."""
    clock = RunClock()

    async def look() -> None:
        while True:
            clock.now()
            await asyncio.sleep(TICK_S)

    looking = asyncio.create_task(look())
    try:
        yield clock
    finally:
        looking.cancel()
        await asyncio.wait([looking])
