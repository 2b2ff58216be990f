"""Processes of this machine that do jobs side by side, and the program that each of them runs.

Each thread of the pool has one process and waits for it. If the process is killed, another one
does the same job again; if that one ends too, the job is lost, and all others go on.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

from grader.judging.worker import AskedProcess, Ended, answer
from labs.terminal import keep_logs_safe

#: A process without a job needs no longer to end.
_END_S = 10.0
#: A job as an object of JSON.
Stated = Mapping[str, Any]


@dataclass(frozen=True)
class Lost:
    """There is no answer to a job; `why` says what became of its processes."""

    why: str


class ProcessPool(ThreadPoolExecutor):
    """So many `processes` that run the module `program`; they end with this object."""

    def __init__(self, program: str, processes: int) -> None:
        super().__init__(processes)
        self._free: queue.SimpleQueue[Lane] = queue.SimpleQueue()
        self._lanes = [Lane(program) for _ in range(processes)]
        for lane in self._lanes:
            self._free.put(lane)

    def answers(
        self, jobs: Sequence[Stated], begun: Callable[[int], object] = lambda number: None
    ) -> Iterator[Any]:
        """Yields the answer to each job, or Lost, in the order of `jobs`.

        `begun` is called with the number of each job before it is done.
        """

        def done(job: Stated, number: int) -> Any:
            lane = self._free.get()
            try:
                begun(number)
                return lane.done(job)
            finally:
                self._free.put(lane)

        return self.map(done, jobs, count())

    def __exit__(self, *_: object) -> None:
        self.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.close()
        self.shutdown()


class Lane(AskedProcess):
    """One process, which starts with its first job, and again if it was killed."""

    def __init__(self, program: str) -> None:
        super().__init__(program)
        self._closed = self._busy = False
        self._starting = threading.Lock()

    def done(self, job: Stated) -> Any:
        """The answer to a job, or Lost."""
        trouble = ""
        for _ in range(2):
            self._busy = True
            try:
                return json.loads(self.ask(job))
            except (Ended, OSError, ValueError) as error:
                trouble = str(error)
                self.end()
            finally:
                self._busy = False
        return Lost(f"ended twice ({trouble})")

    def close(self) -> None:
        """End the process for good. One without a job ends by itself, and what it started too."""
        with self._starting:
            self._closed = True
            process = self._process
            if process is not None and not self._busy:
                assert process.stdin is not None
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    process.stdin.close()
                    process.wait(_END_S)
            self.end()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._closed:
                raise Ended("the run was ended")
            self._process = process = super()._started()
            return process


def serve(do: Callable[[dict[str, Any]], object]) -> int:
    """The program of a process of the pool: it answers each job with what `do` makes of it.

    It ends when its standard input ends: at once if it has a job then, because the process that
    asked was killed.
    """
    # Ctrl-C reaches every process of the terminal. The main process ends this one; the one that
    # judges inherits this, and is not cut off in the middle of a submission that then counts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_logs_safe()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a stray print must not reach the answers
    jobs = _Jobs()
    answer(answers, b"ready")
    while line := jobs.next():
        done = json.dumps(do(json.loads(line))).encode("ascii")
        jobs.busy = False
        answer(answers, done)
    return 0


class _Jobs:
    """The lines of standard input; its end is seen also while a job is done."""

    def __init__(self) -> None:
        self.busy = False
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self) -> str:
        """The next line, or "" at the end."""
        return self._lines.get()

    def _listen(self) -> None:
        for line in sys.stdin:
            self.busy = True
            self._lines.put(line)
        if self.busy:
            os._exit(1)
        self._lines.put("")
