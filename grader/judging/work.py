"""The program of a worker process: it judges one submission after the other.

:mod:`grader.judging.worker` starts it with limits. It reads one job per line from standard input,
as JSON, and answers each with the length of the judgement, a line end, and the judgement as JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import math
import os
import resource
import select
import sys
from pathlib import Path
from typing import Any

from grader.judging.worker import NO_MEMORY, Judgement, NotGraded, Shown, answer, as_json, shown
from labs.limits import MOST_JUDGEMENT_BYTES, MOST_LOG
from labs.recording.file import keeping_recordings

#: A worker without a job ends after so many seconds; its user starts another one when needed.
IDLE_S = 120.0

_PRELOADED = (
    "grader.judging.lab_folder",
    "grader.judging.presentation",
    "labs.plots.drawing",
)


def main() -> int:
    """Serve jobs until standard input ends, or until a job leaves this process in doubt."""
    for name in _PRELOADED:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    # A stray print or warning must not reach the protocol, nor the terminal of an instructor.
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    _limit_memory(int(sys.argv[1]))
    answer(answers, b"ready")
    jobs = os.fdopen(os.dup(0), "rb", buffering=0)
    while select.select([jobs], [], [], IDLE_S)[0] and (line := jobs.readline()):
        job = json.loads(line)
        _limit_time(job["cpu_s"])
        judged = _judged(job)
        answer(answers, _bounded(judged))
        if isinstance(judged, NotGraded) and judged.reason == NO_MEMORY:
            return 1  # what was allocated may not come back
    return 0


def _judged(job: dict[str, Any]) -> Judgement | NotGraded:
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        return _judgement(job, heard)
    except MemoryError:
        return NotGraded(NO_MEMORY, heard.getvalue()[-MOST_LOG:])
    except Exception as error:  # a fault of ours, and the submission must not suffer for it
        logging.getLogger(__name__).exception("the check of %s failed", job["folder"])
        reason = f"our own check failed ({type(error).__name__}); this is not your fault"
        return NotGraded(reason, heard.getvalue()[-MOST_LOG:])
    finally:
        logging.getLogger().removeHandler(handler)


def _judgement(job: dict[str, Any], heard: io.StringIO) -> Judgement:
    folder = Path(job["folder"])
    sys.path[:] = job["path"]
    with keeping_recordings():  # the check, the plots and the evidence read the same files
        return _judgement_on(folder, job, heard)


def _judgement_on(folder: Path, job: dict[str, Any], heard: io.StringIO) -> Judgement:
    verdicts = tuple(_named(job["check"])(folder, job["lab"]))
    if not job["presenter"]:
        return Judgement(verdicts, log=heard.getvalue()[-MOST_LOG:])
    presenter = importlib.import_module(job["presenter"])
    views: dict[str, Shown] = {}
    for verdict in verdicts:
        try:
            views[verdict.figure] = shown(verdict, presenter, folder)
        except Exception:
            log = logging.getLogger(__name__)
            log.exception("The verdict on %s could not be presented in full", verdict.figure)
            views[verdict.figure] = shown(verdict, None)
    evidence = ""
    try:
        evidence = _named(job["evidence"])(verdicts, folder) if job["evidence"] else ""
    except Exception:
        log = logging.getLogger(__name__)
        log.exception("The evidence could not be shown below the free texts")
    return Judgement(verdicts, views, evidence, heard.getvalue()[-MOST_LOG:])


def _named(name: str) -> Any:
    """The function with the dotted `name`."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)


def _bounded(judged: Judgement | NotGraded) -> bytes:
    """`judged` as JSON within the limit: first without its plots, then without everything."""
    content = as_json(judged)
    if len(content) > MOST_JUDGEMENT_BYTES and isinstance(judged, Judgement):
        plain = {name: Shown(each.text, each.page) for name, each in judged.shown.items()}
        content = as_json(Judgement(judged.verdicts, plain, "", judged.log))
    if len(content) > MOST_JUDGEMENT_BYTES:
        content = as_json(NotGraded("the verdicts are too long to be stored"))
    return content


def _limit_memory(allowed: int) -> None:
    """From now on, this process may use `allowed` more bytes of address space.

    The limit is relative, because libraries reserve address space that they never touch. macOS
    knows no such limit.
    """
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + allowed
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """The OS ends this process when it has used `seconds` more of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


if __name__ == "__main__":
    sys.exit(main())
