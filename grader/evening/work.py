"""The program of a process that grades: :mod:`grader.evening.pool` starts it.

It reads one job per line from standard input, as JSON, and answers each with one line when its
result file is written. It ends when its standard input ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from grader.evening.compute import grade
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
    for line in sys.stdin:
        job = json.loads(line)
        try:
            grade(job.pop("plan"), Job(**job))
            answer = ""
        except OSError as error:
            answer = error.strerror or str(error)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
