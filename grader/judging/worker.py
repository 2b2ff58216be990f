"""Judge each submission in a process with limits of its own, so that none can harm another one.

Every function that reads a student's files has limits too. The limits here catch what those miss.
If the check of a submission takes too long, needs too much memory or crashes, this submission is
not graded, for a stated reason. A new process judges the next one.

    with Worker() as worker:
        judged = worker.judge(folder, "01-timer-overhead")

A worker judges one submission at a time. Several workers can run side by side. A pool of processes
does other jobs of a class in the same way.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import math
import os
import queue
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from grader.figures.verdict import Finding, Level, Outcome, Verdict
from labs import paths
from labs.html import inline
from labs.limits import MOST_JUDGEMENT_BYTES, MOST_LOG, MOST_SHOWN
from labs.terminal import keep_logs_safe

# A judgement passes between processes as JSON. It is never pickled: reading it runs nothing.

#: The reason of a submission whose check reached the limit of memory.
NO_MEMORY = "the check needed more memory than it may use; a person must look at this submission"


class Presenter(Protocol):
    """The functions that present a verdict: :mod:`grader.judging.presentation`."""

    def as_text(self, verdict: Verdict) -> str: ...

    def as_html(self, verdict: Verdict) -> str: ...

    def plot_svg(self, verdict: Verdict, folder: Path) -> str: ...


@dataclass(frozen=True)
class Shown:
    """A verdict as text, as HTML, and the plot of its recording as SVG, or "" if there is none."""

    text: str
    page: str
    plot: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdicts on one submission. `shown` has an entry for each figure if it was asked for.

    `evidence` is the page that a person sees below free texts. `log` tells an instructor what went
    wrong in our own code.
    """

    verdicts: tuple[Verdict, ...]
    shown: dict[str, Shown] = field(default_factory=dict)
    evidence: str = ""
    log: str = ""


@dataclass(frozen=True)
class NotGraded:
    """Why a submission as a whole could not be judged; never a zero."""

    reason: str
    log: str = ""


def shown(verdict: Verdict, presenter: Presenter | None, folder: Path | None = None) -> Shown:
    """`verdict` as `presenter` shows it, with a plot if `folder` is given; else one plain sentence.

    The plain sentence also replaces a text that is too long. Raises what the presenter raises.
    """
    plain = f"{verdict.figure}: {verdict.in_words}. {verdict.reason}"[:MOST_SHOWN]
    text, page = plain, inline("<p>{{ words }}</p>", words=plain)
    if presenter is None:
        return Shown(text, page)
    styled = presenter.as_text(verdict), presenter.as_html(verdict)
    if max(map(len, styled)) <= MOST_SHOWN:
        text, page = styled
    plot = presenter.plot_svg(verdict, folder) if folder is not None else ""
    return Shown(text, page, plot if len(plot) <= MOST_SHOWN else "")


def as_json(judged: Judgement | NotGraded) -> bytes:
    """`judged` as JSON; :func:`from_json` is its inverse."""
    stated = dict(vars(judged))
    if isinstance(judged, Judgement):
        stated["verdicts"] = [each.plain() for each in judged.verdicts]
        stated["shown"] = {name: vars(each) for name, each in judged.shown.items()}
    return json.dumps(stated).encode("ascii")


def from_json(content: bytes) -> Judgement | NotGraded:
    """The judgement in `content`. Raises ValueError if it holds none."""
    try:
        stated = json.loads(content)
        if "reason" in stated:
            return NotGraded(str(stated["reason"]), str(stated["log"]))
        return Judgement(
            tuple(verdict_from(each) for each in stated["verdicts"]),
            {name: Shown(**each) for name, each in stated["shown"].items()},
            str(stated["evidence"]),
            str(stated["log"]),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"this is no judgement: {error!r}") from error


def verdict_from(stated: dict[str, Any]) -> Verdict:
    """The verdict whose plain form went through JSON. Raises KeyError, TypeError or ValueError."""
    levels = {Level(name): (pair[0], pair[1]) for name, pair in stated["levels"].items()}
    findings = tuple(
        Finding(**{**each, "level": Level(each["level"])}) for each in stated["findings"]
    )
    return Verdict(
        **{
            **stated,
            "outcome": Outcome(stated["outcome"]),
            "levels": levels,
            "findings": findings,
            "flags": tuple(stated["flags"]),
            "fingerprints": tuple(stated["fingerprints"]),
        }
    )


#: Libraries for numbers start a thread for each CPU, and each thread reserves memory.
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "BLIS")
}
#: With glibc, the process keeps memory that it no longer needs, up to a limit. The next submission
#: needs as much, and the OS would clear it each time. Other C libraries ignore this.
_KEEPS_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "16777216", "MALLOC_TRIM_THRESHOLD_": "67108864"}

_A_PERSON = "a person must look at this submission"


@dataclass(frozen=True)
class Limits:
    """What the check of one submission may use; `memory` in bytes, beyond an idle worker's 100 MB.

    The memory limit holds on Linux only.
    """

    cpu_s: float = 10.0
    memory: int = 800_000_000


@dataclass(frozen=True)
class Ways:
    """The functions that judge and present, by dotted name. Without a presenter, only verdicts."""

    check: str = "grader.judging.lab_folder.check_folder"
    presenter: str = ""
    evidence: str = ""


class Ended(Exception):
    """The process has ended or must be ended; the message says why."""


class _Idle(Ended):
    """The process ended by itself, without a failure."""


class _Killed(Ended):
    """Somebody killed the process; none of our limits does this."""


class AskedProcess:
    """A process that gets jobs, one line of JSON each, and answers each one.

    It says `ready` when it has started, and :func:`answer` writes what it says. It starts with the
    first job, and again if it has ended. `what` names it in the reason of a failure.
    """

    what = "the process"
    #: Nobody waits longer for an answer, nor until the process has started.
    patience_s = 900.0

    def __init__(self, program: str, *words: str, **environment: str) -> None:
        self._command = paths.python_command(program, *words)
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, job: Mapping[str, Any]) -> bytes:
        """The answer. Raises Ended, OSError or ValueError; then :meth:`end` it."""
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps(job).encode("ascii") + b"\n")
        process.stdin.flush()
        return self._received(process)

    def end(self) -> None:
        """Ends the process at once, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = process = self._started()
            if self._received(process) != b"ready":
                raise Ended(f"{self.what} does not start")
        return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self._environment}
        pipe = subprocess.PIPE
        return paths.start(self._command, environment=environment, stdin=pipe, stdout=pipe)

    def _received(self, process: subprocess.Popen[bytes]) -> bytes:
        """The next answer: its length, a line end, and as many bytes. Raises Ended."""
        until = time.monotonic() + self.patience_s
        received = bytearray()
        length = None
        while length is None or len(received) < length:
            received += self._some(process, until)
            if length is None and b"\n" in received:
                stated, _, rest = bytes(received).partition(b"\n")
                length, received = int(stated), bytearray(rest)
            if len(received) > MOST_JUDGEMENT_BYTES:
                raise Ended(f"{self.what} answered without end")
        return bytes(received)

    def _some(self, process: subprocess.Popen[bytes], until: float) -> bytes:
        assert process.stdout is not None
        left = until - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            raise Ended(f"{self.what} gave no answer within {self.patience_s:g} s")
        some = os.read(process.stdout.fileno(), 1 << 20)
        if not some:
            status = process.wait()
            if status == 0:
                raise _Idle(f"{self.what} ended without a result")
            raise (_Killed if status == -signal.SIGKILL else Ended)(self._why(status))
        return some

    def _why(self, status: int) -> str:
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"{self.what} was ended by {signal.Signals(-status).name}"
            return f"{self.what} was ended by signal {-status}"
        return f"{self.what} ended early with status {status}"


def answer(answers: BinaryIO, content: bytes) -> None:
    """Writes one answer of an asked process."""
    answers.write(b"%d\n" % len(content) + content)
    answers.flush()


class Worker(AskedProcess):
    """One process that judges. It starts with the first submission, and again after a failure."""

    what = "the check"
    patience_s = 120.0

    def __init__(self, limits: Limits | None = None, ways: Ways | None = None) -> None:
        self._limits = limits or Limits()
        self._ways = ways or Ways()
        self._one_at_a_time = threading.Lock()
        memory = str(self._limits.memory)
        super().__init__("grader.judging.worker", memory, **ONE_THREAD, **_KEEPS_MEMORY)

    def judge(self, folder: Path, lab: str) -> Judgement | NotGraded:
        """The verdicts on the submission in `folder`, or why there are none. Never raises."""
        job = {
            "folder": str(Path(folder).absolute()),
            "lab": lab,
            "path": paths.modules_path(),
            "cpu_s": self._limits.cpu_s,
            **vars(self._ways),
        }
        with self._one_at_a_time:
            try:
                judged = from_json(self._answer(job))
            except (Ended, OSError, ValueError) as error:
                self.end()
                return NotGraded(f"{error}; {_A_PERSON}")
            if isinstance(judged, NotGraded) and judged.reason == NO_MEMORY:
                self.end()
            return judged

    def close(self) -> None:
        """End the process, if there is one."""
        with self._one_at_a_time:
            self.end()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, job: Mapping[str, Any]) -> bytes:
        try:
            return self.ask(job)
        # It had no job for long and ended just now, or was killed. If the submission is why the OS
        # kills it, it is killed again.
        except (BrokenPipeError, _Idle, _Killed):
            self.end()
            return self.ask(job)

    def _why(self, status: int) -> str:
        if status == -signal.SIGXCPU:
            return f"the check took more than {self._limits.cpu_s:g} s of processor time"
        return super()._why(status)


# Processes of this machine that do jobs side by side, and the program that each of them runs.
#
# Each thread of the pool has one process and waits for it. If the process is killed, another one
# does the same job again; if that one ends too, the job is lost, and all others go on.

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


# The program of a worker process: it judges one submission after the other.
#
# :class:`Worker` starts it with limits. It reads one job per line from standard input, as JSON, and
# answers each with the length of the judgement, a line end, and the judgement as JSON.

#: A worker without a job ends after so many seconds; its user starts another one when needed.
IDLE_S = 120.0

_PRELOADED = (
    "grader.judging.lab_folder",
    "grader.judging.presentation",
    "labs.plots.figure_svg",
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
    # Here: only the process that judges reads recordings.
    from labs.recording.file import keeping_recordings

    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        sys.path[:] = job["path"]
        with keeping_recordings():  # the check, the plots and the evidence read the same files
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
    folder, log = Path(job["folder"]), logging.getLogger(__name__)
    verdicts = tuple(_named(job["check"])(folder, job["lab"]))
    if not job["presenter"]:
        return Judgement(verdicts, log=heard.getvalue()[-MOST_LOG:])
    presenter = importlib.import_module(job["presenter"])
    views: dict[str, Shown] = {}
    for verdict in verdicts:
        try:
            views[verdict.figure] = shown(verdict, presenter, folder)
        except Exception:
            log.exception("The verdict on %s could not be presented in full", verdict.figure)
            views[verdict.figure] = shown(verdict, None)
    evidence = ""
    try:
        evidence = _named(job["evidence"])(verdicts, folder) if job["evidence"] else ""
    except Exception:
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
