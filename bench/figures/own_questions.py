"""Five questions of one's own, by C kernels as `labs new` begins them, and by other tools.

Each is measured by Ticklab, by google/benchmark and by nanobench in turns on the same CPU, and by
hyperfine as a whole command with and without the operations. The C kernels and the peers' sources
are in bench/figures/own; the tools themselves are not part of the project. TICKLAB_PEERS names a
folder with checkouts of both libraries: `benchmark`, built by cmake in its folder `build`, and
`nanobench`. hyperfine is looked for on the path.

The peers report the operation with the loop around it. So they are held against our cost before
the subtraction of the empty loop; our figure is shown beside it. Other programs and the host only
add to a time. Ticklab sets such samples aside, so its median run is taken; the peers keep them, so
of each peer the run with the lowest answer is taken. All runs are shown.

Where the loop, or a check of the result, changes the answer, the variant that does what the peers
do is held against them, and the one that `labs new` would write is shown beside it. A difference of
more than 3 % is explained if the bench sees its cause:

- The other thread of the contended increment had its CPU or not: the peer's runs differ by as much.
- The peer has one process, and so one place of code and stack. One of our processes gives the same.
- The peer's parts are milliseconds long and all hold interrupts. In such samples ours is the same.
- The peer states a spread that is as large.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import command, machine
from bench.command import CannotRun
from bench.report import must_hold, percent_off, say, skipped, verdict
from bench.table import show
from labs.recording.file import Recording
from labs.results.result import result_of

VARIABLE = "TICKLAB_PEERS"
OWN = Path(__file__).with_name("own")
WITHIN = 0.03
#: The other thread of the contended increment must have its CPU for this share of the time.
OF_OTHER = 0.9
#: The median of a process has this much chance in it, as a share.
OF_A_PLACE = 0.01
HOW = (
    f"{VARIABLE} names no folder with both libraries; in an empty folder: "
    "git clone https://github.com/google/benchmark && cmake -S benchmark -B benchmark/build "
    "-DCMAKE_BUILD_TYPE=Release -DBENCHMARK_ENABLE_TESTING=OFF && cmake --build benchmark/build; "
    f"git clone https://github.com/martinus/nanobench; then set {VARIABLE} to that folder"
)


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
            raise CannotRun(f"labs measure {question.kernel} {variant}: {result.why_unnamed}")
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

    def google(self, question: Question) -> Answer:
        """By google/benchmark: the CPU time, as the median of its repetitions, and their cv."""
        told = self._run(
            "google",
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


def run(quick: bool) -> bool:
    """All questions, in turns; skipped without the peers."""
    named = os.environ.get(VARIABLE, "")
    allowed = machine.cpus()
    if len(allowed) < 2:
        return skipped("one CPU only, or no pinning: the contended increment needs two")
    if not named or not (Path(named) / "benchmark/build/src/libbenchmark.a").is_file():
        return skipped(HOW)
    must_hold(f"each answer within {WITHIN:.0%} of google/benchmark and of nanobench")
    with tempfile.TemporaryDirectory() as folder:
        try:
            _build(Path(named), Path(folder))
        except CannotRun as error:
            return skipped(f"the peers cannot be built: {error}")
        peers = Peers(Path(folder), allowed[-1], allowed[0])
        held = [_asked(question, peers, 3 if quick else 9) for question in QUESTIONS]
        return all(held)


def _build(libraries: Path, folder: Path) -> None:
    """Build the peers' programs. Raises CannotRun."""
    compiler = os.environ.get("CXX", "g++")
    flags = ("-std=c++17", "-O2", "-pthread")
    google = libraries / "benchmark"
    of_google = (f"-I{google}/include", f"-L{google}/build/src", "-lbenchmark")
    of_nanobench = (f"-I{libraries}/nanobench/src/include",)
    for name, more in (("google", of_google), ("nanobench", of_nanobench), ("whole", ())):
        source = str(OWN / f"{name}.cpp")
        command.run(compiler, *flags, source, *more, "-o", str(folder / name))


def _asked(question: Question, peers: Peers, rounds: int) -> bool:
    """Ask all tools in turns, forwards and backwards, so that drift meets them alike."""
    tools: dict[str, Ask] = {
        "google/benchmark": peers.google,
        "Ticklab": peers.ours,
        "nanobench": peers.nanobench,
    }
    found: dict[str, list[Answer]]
    say(f"   {question.kernel} {question.variant}")
    if question.variant == "contended":
        other = command.run(str(peers.folder / "whole"), "alone", "200000000", cpu=peers.peer_cpu)
        if other.share < OF_OTHER:
            return skipped(f"the other thread would have its CPU for {other.share:.0%} of the time")
    for variant in question.further:
        tools[f"Ticklab: {variant}"] = functools.partial(peers.ours, variant=variant)
    found = {name: [] for name in tools}
    try:
        for turn in range(rounds):
            for name in list(tools) if turn % 2 == 0 else list(tools)[::-1]:
                found[name].append(tools[name](question))
        if shutil.which("hyperfine") is not None:
            found["hyperfine"] = [peers.hyperfine(question)]
    except CannotRun as error:
        return verdict(False, f"{question.peer}: could not be measured: {error}")
    show(
        (
            "tool",
            "ns, median",
            "lowest",
            "highest",
            "its doubt",
            "without loop",
            "others",
            "shared",
        ),
        [_row(name, answers) for name, answers in found.items()],
    )
    every = sorted(each for answer in found["Ticklab"] for each in answer.processes)
    ours = replace(_middle(found["Ticklab"]), processes=tuple(every))
    held = [
        _judged(name, ours, found[name], functools.partial(peers.in_long_samples, question))
        for name in ("google/benchmark", "nanobench")
    ]
    return all(held)


def _judged(
    name: str, ours: Answer, answers: list[Answer], in_long_samples: Callable[[float], Answer]
) -> bool:
    """Say whether the lowest of a peer's answers is ours, or what explains that it is not."""
    values = sorted(answer.value for answer in answers)
    # With another thread, the lowest answer is one in which that thread did not run.
    peer = min(answers, key=lambda answer: answer.value)
    peer = _middle(answers) if ours.others is not None else peer
    off = ours.value / peer.value - 1
    told = f"{percent_off(1 + off)} against {name}"
    if abs(off) <= WITHIN:
        return verdict(True, told)
    if ours.others is not None and values[-1] / values[0] - 1 >= abs(off):
        ends = f"{values[0]:.3g} to {values[-1]:.3g} ns"
        return _explained(f"{told}: its runs give {ends}, as the other thread had its CPU or not")
    # A process that is cheaper than others has a better place: nothing that disturbs makes it so.
    if ours.processes[0] * (1 - OF_A_PLACE) <= peer.value < ours.value:
        ends = f"{ours.processes[0]:.4g} to {ours.processes[-1]:.4g} ns"
        return _explained(f"{told}: it has one place in memory, and our processes give {ends}")
    long = _lowest_in_long_samples(in_long_samples, ours.value)
    if long is None:
        return verdict(False, f"{told}; in samples of 4 to 10 ms there is no figure of ours")
    if values[0] * (1 - WITHIN) <= long <= values[-1] * (1 + WITHIN):
        return _explained(
            f"{told}: in samples of 4 to 10 ms, with all interrupts, ours is {long:.4g}"
        )
    if peer.spread >= abs(off):
        shared = f"something else used the core for {ours.shared or 0:.0%} of our run"
        return _explained(f"{told}: its own spread in that run is {peer.spread:.1%}; {shared}")
    return verdict(False, f"{told}; in samples of 4 to 10 ms ours is {long:.4g}")


def _lowest_in_long_samples(ask: Callable[[float], Answer], ns: float) -> float | None:
    """The lowest of some answers: a program that has the CPU meanwhile only adds to them."""
    found = []
    for _ in range(5):
        with contextlib.suppress(CannotRun):
            found.append(ask(ns).value)
    return min(found, default=None)


def _explained(why: str) -> bool:
    say(f"   EXPLAINED: {why}")
    return True


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


def _middle(answers: list[Answer]) -> Answer:
    return sorted(answers, key=lambda answer: answer.value)[len(answers) // 2]


def _row(name: str, answers: list[Answer]) -> tuple[str, ...]:
    values = sorted(answer.value for answer in answers)
    middle = _middle(answers)
    return (
        name,
        f"{statistics.median(values):.4g}",
        f"{values[0]:.4g}",
        f"{values[-1]:.4g}",
        middle.doubt,
        f"{middle.net:.4g}" if middle.net is not None else "",
        f"{middle.others:.2f}" if middle.others is not None else "",
        f"{middle.shared:.0%}" if middle.shared is not None else "",
    )
