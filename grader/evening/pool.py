"""Several processes of this machine that grade side by side.

Each thread of the pool has one process and waits for it. If the process is killed, another one does
the same submission again; if that one ends too, the submission is reported, and all others go on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from types import TracebackType

from grader.evening.graded import Job, NoResult
from grader.submissions.read_ahead import read_ahead
from labs.common import python

#: The process that judges has its own limits, of two minutes each time that it is started.
_ANSWER_S = 900.0
#: A process without a job needs no longer to end.
_END_S = 10.0
#: While one submission is judged, the OS reads the one that comes so many later. A disk that others
#: use may need seconds for a file.
_AHEAD = 16


class _Ended(Exception):
    """A process ended in the middle of a job; the message says how."""


class LocalPool:
    """`count` processes that grade; they end with this object.

    `trusted` is a folder above all submissions in which no student can write.
    """

    def __init__(self, plan: Path, count: int, trusted: Path) -> None:
        self._plan, self._trusted = str(plan), trusted
        self._threads = ThreadPoolExecutor(count)
        self._reading = ThreadPoolExecutor(1)
        self._idle: queue.SimpleQueue[_Lane] = queue.SimpleQueue()
        self._lanes = [_Lane() for _ in range(count)]
        for lane in self._lanes:
            self._idle.put(lane)

    def each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, NoResult | None]]:
        """Grades each job, and yields it when its result file is written, in the order of `jobs`.

        With it comes why there is no result file, or None.
        """
        for job in jobs[:_AHEAD]:
            self._read_ahead(job)
        futures: list[Future[NoResult | None]] = [
            self._threads.submit(self._done, job, later)
            for job, later in zip_longest(jobs, jobs[_AHEAD:])
        ]
        for job, future in zip(jobs, futures, strict=True):
            yield job, future.result()

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for lane in self._lanes:
            lane.close()
        self._threads.shutdown()
        self._reading.shutdown(cancel_futures=True)

    def _read_ahead(self, job: Job) -> None:
        self._reading.submit(read_ahead, Path(job.source), self._trusted)

    def _done(self, job: Job, later: Job | None) -> NoResult | None:
        lane = self._idle.get()
        if later is not None:
            self._read_ahead(later)
        try:
            return lane.done(self._plan, job)
        finally:
            self._idle.put(lane)


class _Lane:
    """One process, which starts with its first job, and again if it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = self._busy = False
        self._starting = threading.Lock()

    def done(self, plan: str, job: Job) -> NoResult | None:
        """Why the result file of a job is not written; None if it is."""
        line = json.dumps({"plan": plan, **dataclasses.asdict(job)}).encode("ascii") + b"\n"
        trouble = ""
        for _ in range(2):
            try:
                return self._asked(line)
            except (_Ended, OSError, ValueError) as error:
                trouble = str(error)
                self._end()
        return NoResult(f"the process that grades it ended twice ({trouble})")

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
            self._end()

    def _asked(self, line: bytes) -> NoResult | None:
        with self._starting:
            if self._closed:
                raise _Ended("the run was ended")
            if self._process is None:
                self._process = _started()
            process, self._busy = self._process, True
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line)
        process.stdin.flush()
        answer, until = b"", time.monotonic() + _ANSWER_S
        while not answer.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise _Ended(f"no answer within {_ANSWER_S:g} s")
            some = os.read(process.stdout.fileno(), 65536)
            if not some:
                raise _Ended(f"exit status {process.wait()}")
            answer += some
        self._busy = False
        stated = json.loads(answer)
        return None if stated is None else NoResult(**stated)

    def _end(self) -> None:
        process, self._process, self._busy = self._process, None, False
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        python.command("grader.evening.work"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=python.NEUTRAL,
    )
