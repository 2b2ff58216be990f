"""What one input may cost, measured in a process of its own: CPU time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

MOST_SECONDS, MOST_MEGABYTES = 2.0, 300
#: A process that has taken this much is ended; it has failed anyway.
_ENDED_AFTER_S, _ENDED_AT_MB = 3, 3_000


@dataclass(frozen=True)
class Cost:
    """What a check took. `read` is what it returned; `wrong` is why it failed, or empty."""

    seconds: float
    megabytes: float
    read: bool = False
    wrong: str = ""

    @property
    def too_much(self) -> str:
        """What is wrong with this cost or with the result, as one sentence; empty if nothing is."""
        if self.seconds > MOST_SECONDS:
            return f"takes {self.seconds:.1f} s of CPU time or more"
        if self.megabytes > MOST_MEGABYTES:
            return f"takes {self.megabytes:.0f} MB or more"
        return self.wrong


def megabytes() -> float:
    """The most memory that this process has had."""
    # In KB on Linux, in bytes on macOS.
    per_unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_unit


def cost_of(target: str, content: bytes) -> Cost:
    """The cost of one input, in a process that has only imported everything and read the seeds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bench.fuzz.preloaded"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_examine, args=(theirs, target, content))
    process.start()
    theirs.close()
    try:
        cost: Cost = ours.recv()
    except EOFError:
        process.join()
        return Cost(_ENDED_AFTER_S, _ENDED_AT_MB, wrong=f"ended with status {process.exitcode}")
    process.join()
    return cost


def _examine(pipe: Connection, target: str, content: bytes) -> None:
    """Sends the cost. The OS ends this process where it takes far too much."""
    from bench.fuzz.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_CPU, (_ENDED_AFTER_S, _ENDED_AFTER_S + 1))
    if sys.platform == "linux":  # macOS does not keep this limit
        resource.setrlimit(resource.RLIMIT_AS, (_ENDED_AT_MB << 20, _ENDED_AT_MB << 20))
    begin = time.process_time()
    read, wrong = False, ""
    try:
        read = TARGETS[target].check(content)
    except Exception as error:  # whatever it is: that is what we look for
        wrong = f"{type(error).__name__}: {error!s:.300}"
    pipe.send(Cost(time.process_time() - begin, megabytes(), read, wrong))
