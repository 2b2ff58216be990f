"""Add processes to a run until it is enough: its interval is narrow, time is up, or it is full."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from labs.common import limits
from labs.recording.cut_short import FULL, PATIENCE, TIME_IS_UP, TOOK_NO_SAMPLE
from labs.recording.file import Recording
from labs.run.c_process import TimeLimitReached, TookNoSample
from labs.run.turns import Runs

#: An adaptive run looks at its interval again when it has a tenth more processes, not after each
#: one: the fewer looks there are, the less an interval is preferred that is narrow by chance.
ASKED_AGAIN_AFTER = 10

#: Why the run may stop, from its recordings so far, and from how many processes each of them can
#: have in the end; None where it is to go on.
Enough = Callable[[tuple[Recording, ...], int], str | None]


async def go_on(runs: Runs, enough: Enough) -> str:
    """Add processes until it is enough, time is up, or a recording is full. Returns which."""
    clock = runs.deadline.clock
    at_most = clock.now() + sum(plan.longer_s for plan in runs.plans)

    def in_time() -> int:
        """How many processes more of each plan will probably end in time."""
        each = runs.seconds / runs.rounds
        left = min(at_most, runs.deadline.at_s - 2 * each) - clock.now()
        return max(int(left / max(each, 1e-6)), 0)

    while True:
        recordings = await asyncio.to_thread(runs.so_far)
        most = min(runs.rounds + in_time(), max(limits.MOST_PROCESSES, runs.rounds))
        why = await asyncio.to_thread(enough, recordings, most)
        if why is not None:
            return why
        more = min(max(runs.rounds // ASKED_AGAIN_AFTER, 1), _room(recordings))
        if more <= 0:
            return FULL
        for added in range(more):
            if in_time() == 0:
                if added == 0:
                    return TIME_IS_UP
                break
            turns = [(which, plan.shares()[0]) for which, plan in enumerate(runs.plans)]
            turns = turns if runs.rounds % 2 == 0 else turns[::-1]
            runs.expect(turns)
            for which, share in turns:
                try:
                    await runs.one(which, share)
                except TimeLimitReached:  # all processes that were planned have finished
                    return TIME_IS_UP
                except TookNoSample as error:
                    runs.keep_what_is_whole(PATIENCE, error.patience_s, error.cpu_share)
                    return TOOK_NO_SAMPLE


def _room(recordings: Sequence[Recording]) -> int:
    """How many more processes each of the recordings can hold."""
    rooms = []
    for recording in recordings:
        count = len(recording.processes)
        rows = -(-len(recording) // count)
        size = len(recording.as_bytes())
        # The last process's lines may be longer, and conditions are added at the end.
        each = int(1.1 * size / count) + 1
        rooms.append(limits.MOST_PROCESSES - count)
        rooms.append((limits.MOST_RECORDING_ROWS - len(recording)) // (rows + 1))
        rooms.append((limits.MOST_RECORDING_BYTES - size - each) // each)
    return min(rooms)
