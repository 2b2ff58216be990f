"""Judge each submission in a process with limits of its own, so that none can harm another one.

Every function that reads a student's files has limits too. The limits here catch what those miss.
If the check of a submission takes too long, needs too much memory or crashes, this submission is
not graded, for a stated reason. A new process judges the next one.

    with Worker() as worker:
        judged = worker.judge(folder, "01-timer-overhead")

A worker judges one submission at a time. Several workers can run side by side.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from grader.cases.verdict import Finding, Level, Outcome, Verdict
from labs import paths
from labs.html import inline
from labs.limits import MOST_JUDGEMENT_BYTES, MOST_SHOWN

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
_ONE_THREAD = {
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
            if status == -signal.SIGKILL:
                raise _Killed(self._why(status))
            raise (
                Ended(self._why(status)) if status else _Idle(f"{self.what} ended without a result")
            )
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
        super().__init__("grader.judging.work", memory, **_ONE_THREAD, **_KEEPS_MEMORY)

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
