"""The program of a process that grades: :mod:`grader.evening.pool` starts it.

It reads one job per line from standard input, as JSON, and answers each with one line when its
result file is written. It ends when its standard input ends: at once if it has a job then, because
the process that asked was killed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import signal
import sys
import threading

from grader.evening.compute import grade, no_result
from grader.evening.graded import Job
from labs.common.terminal import keep_logs_safe


def main() -> int:
    """Serve jobs until standard input ends."""
    # Ctrl-C reaches every process of the terminal. The main process ends this one; the one that
    # judges inherits this, and is not cut off in the middle of a submission that then counts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_logs_safe()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # a stray print must not reach the answers
    jobs = _Jobs()
    while line := jobs.next():
        job = json.loads(line)
        answer = None
        try:
            grade(job.pop("plan"), Job(**job))
        except OSError as error:
            answer = dataclasses.asdict(no_result(error))
        jobs.busy = False
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
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


if __name__ == "__main__":
    sys.exit(main())
