"""Five questions of one's own as each tool answers them: what `own_questions` asks, and whom."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import command
from bench.command import CannotRun
from labs.recording.file import Recording
from labs.results.result import result_of

OWN = Path(__file__).with_name("own")
#: google/benchmark with a place in memory that differs from run to run.
GOOGLE_ELSEWHERE = "google_elsewhere"


@dataclass(frozen=True)
class Question:
    """A C kernel with its variant, the name that the peers give it, and how many operations take
    about a second. Of the further variants only our own answer is shown."""

    kernel: str
    variant: str
    peer: str
    operations: int
    further: tuple[str, ...] = ()


QUESTIONS = (
    Question("malloc_free", "malloc-free", "malloc_free", 30_000_000),
    Question("atomic_increment", "alone-as-peers", "alone", 100_000_000, ("alone",)),
    Question("atomic_increment", "contended", "contended", 20_000_000),
    Question("signal_self", "kill-self", "kill_self", 200_000),
    Question("memcpy_4k", "memcpy", "memcpy_4k", 5_000_000),
    Question("mutex_lock", "one-thread-as-peers", "one_thread", 40_000_000, ("one-thread",)),
    Question("mutex_lock", "with-threads-as-peers", "with_threads", 40_000_000, ("with-threads",)),
)


@dataclass(frozen=True)
class Answer:
    """What a tool says an operation takes, in ns, and how it states its doubt."""

    value: float
    doubt: str
    spread: float
    net: float | None = None
    #: For the contended increment: increments of the other thread for each own one.
    others: float | None = None
    #: The share of our samples during which something else used the same core.
    shared: float | None = None
    #: The same value for each of our processes alone, from the lowest to the highest.
    processes: tuple[float, ...] = ()


class NoFigure(CannotRun):
    """A run of ours ended, and has no figure."""


Ask = Callable[[Question], Answer]


@dataclass(frozen=True)
class Peers:
    """The programs of the peers, and the CPUs of the measuring task and of the other thread."""

    folder: Path
    cpu: int
    peer_cpu: int

    def ours(self, question: Question, variant: str = "", *more: str) -> Answer:
        """By Ticklab."""
        variant = variant or question.variant
        words = [str(OWN / f"{question.kernel}.c"), "--variant", variant]
        words += ["--cpu", str(self.cpu), "--peer-cpu", str(self.peer_cpu)]
        found = command.record(*words, *(more or ("--samples", "4000", "--processes", "20")))
        result = result_of(found, variant, "ns")
        if result.estimate is None or result.net is None:
            raise NoFigure(f"labs measure {question.kernel} {variant}: {result.why_unnamed}")
        before = result.net.unsubtracted.into("ns", result.clock).value
        others = found.total(f"variant.{variant}.operations_of_others")
        own = found.total(f"variant.{variant}.claimed_operations")
        every = result.n + sum(result.set_aside.values())
        return Answer(
            before,
            f"{result.estimate.low:.4g} to {result.estimate.high:.4g}",
            result.estimate.half_width / result.estimate.value,
            result.estimate.value,
            others / own if others is not None and own else None,
            result.set_aside.get("shared", 0) / every,
            _by_process(found, variant),
        )

    def in_long_samples(self, question: Question, ns: float) -> Answer:
        """By Ticklab, in samples of 4 to 10 ms: no sample is then free of interrupts."""
        sizes = ",".join(str(int(each * 1e6 / ns)) for each in (4, 6, 8, 10))
        few = ("--samples", "200", "--processes", "5", "--warmup", "2")
        return self.ours(question, "", "--batch", sizes, *few)

    def google(self, question: Question, program: str = "google") -> Answer:
        """By google/benchmark: the CPU time, as the median of its repetitions, and their cv."""
        told = self._run(
            program,
            f"--benchmark_filter=^{question.peer}$",
            "--benchmark_repetitions=100",
            "--benchmark_min_time=0.005s",
            "--benchmark_report_aggregates_only=true",
            "--benchmark_format=json",
        )
        begin = told.index("{")
        entries = json.loads(told[begin : told.rindex("}") + 1])["benchmarks"]
        known = {entry["aggregate_name"]: entry for entry in entries}
        median, cv = known["median"]["cpu_time"], known["cv"]["cpu_time"]
        others = known["median"].get("others")
        return Answer(float(median), f"cv {100 * cv:.1f} %", float(cv), others=others)

    def nanobench(self, question: Question) -> Answer:
        """By nanobench: the median of its epochs, and their median absolute percentage error."""
        told: dict[str, float] = {}
        for line in self._run("nanobench", question.peer, "201").splitlines():
            told |= json.loads(line)
        doubt = f"err {100 * told['error']:.1f} %"
        return Answer(1e9 * told["seconds"], doubt, told["error"], others=told.get("others"))

    def hyperfine(self, question: Question) -> Answer:
        """By hyperfine: the time of a command with the operations, less that without."""
        out = self.folder / "hyperfine.json"
        whole = str(self.folder / "whole")
        commands = [f"{whole} {question.peer} {count}" for count in (0, question.operations)]
        told = ["-N", "--warmup", "1", "--runs", "5", "--export-json", str(out), *commands]
        self._run_words("hyperfine", *told)
        without, with_all = json.loads(out.read_text(encoding="utf-8"))["results"]
        each = 1e9 / question.operations
        value = each * (with_all["mean"] - without["mean"])
        spread = each * with_all["stddev"]
        return Answer(value, f"± {spread:.2g}", spread / value)

    def _run(self, program: str, *words: str) -> str:
        return self._run_words(str(self.folder / program), *words)

    def _run_words(self, *words: str) -> str:
        os.environ["PEER_CPU"] = str(self.peer_cpu)
        return command.run(*words, cpu=self.cpu).output


def build(libraries: Path, folder: Path) -> None:
    """Build the peers' programs. Raises CannotRun."""
    compiler = os.environ.get("CXX", "g++")
    flags = ("-std=c++17", "-O2", "-pthread")
    google = libraries / "benchmark"
    of_google = (f"-I{google}/include", f"-L{google}/build/src", "-lbenchmark")
    of_nanobench = (f"-I{libraries}/nanobench/src/include",)
    programs = (
        ("google", "google", of_google),
        (GOOGLE_ELSEWHERE, "google", (*of_google, "-DRANDOM_PLACES")),
        ("nanobench", "nanobench", of_nanobench),
        ("whole", "whole", ()),
    )
    for program, name, more in programs:
        source = str(OWN / f"{name}.cpp")
        command.run(compiler, *flags, source, *more, "-o", str(folder / program))


def _by_process(found: Recording, variant: str) -> tuple[float, ...]:
    """The slope of each process in ns, through the median of each batch size."""
    samples = found.samples(variant)
    per_ns = samples.clock.ticks_in("ns")
    slopes = []
    for process in range(len(found.processes)):
        mine = samples.only(samples.process == process)
        medians = [float(np.median(mine.ticks[mine.batch == k])) for k in mine.batch_sizes]
        if len(medians) > 1:
            slopes.append(statistics.linear_regression(mine.batch_sizes, medians).slope / per_ns)
    return tuple(sorted(slopes))


def middle(answers: list[Answer]) -> Answer:
    """The answer whose value is the median one."""
    return sorted(answers, key=lambda answer: answer.value)[len(answers) // 2]
