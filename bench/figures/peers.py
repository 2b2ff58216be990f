"""Against other tools on the same CPU in the same minutes: perf bench, and loops timed by hand.

Ours and the peer's take turns, peer first and last; each of ours is held against the mean of the
peer's before and after it, so that a clock speed that drifts meets both alike. A peer takes the
time of everything, also of other programs that had its CPU meanwhile, where ours leaves such
intervals out. A loop timed by hand is held by the median of its parts of a hundred calls, or of a
hundred page faults. A peer that shared its CPU is held by its CPU time, less what a loop timed by
hand directly before and after it loses to interrupts and to the hypervisor. What they read with all
of that is said too.

perf bench syscall calls getppid() of the C library. Ours is held against it twice: by a function of
our own that traps and returns, and by the library as well. The trap in the loop itself is something
else, for it leaves out a return whose call was before the trap. On an AMD EPYC (family 26, virtual)
a function that traps and returns took 6 to 12 ns more than the trap in line, 5 to 11 %, and the
library's function as much; one that leaves by a jump to its return address instead took 0 to 6 ns
more; a call and return with no trap between them at most 1 ns. Mispredictions cannot be counted in
that machine, but so it would be if the OS kernel, on its way, overwrites the predictions of returns
("RSB filling" in /sys/devices/system/cpu/vulnerabilities/spectre_v2). What a return costs on the
machine at hand is measured and printed too.
"""

from __future__ import annotations

import re
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import command, machine
from bench.command import UNDISTURBED, CannotRun
from bench.report import median_and_range, must_hold, percent_off, say, skipped, verdict
from labs.c_kernels import toolchain

Value = Callable[[], float]


@dataclass(frozen=True)
class Peer:
    """What a peer says an operation takes, in ns, and the share of that which is its own.

    `own` is as printed; `corrected` without other programs and interrupts, as far as that is known.
    """

    own: float
    corrected: float
    share: float


def run(quick: bool) -> bool:
    """Every peer that there is."""
    held = [_perf(quick), _by_hand(quick), _faults_by_hand(quick)]
    return all(held)


def _perf(quick: bool) -> bool:
    allowed = machine.cpus()
    if not allowed:
        return skipped("no pinning here: perf and ours would not be on the same CPU")
    if shutil.which("perf") is None:
        return skipped("perf is not installed (Debian: apt install linux-perf)")
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = _build(Path(folder))
        except (CannotRun, toolchain.NoCompiler) as error:
            return skipped(f"what interruptions take cannot be seen: {error}")
        return _held_against_perf(program, allowed[-1], quick)


def _held_against_perf(program: Path, cpu: int, quick: bool) -> bool:
    rounds = 3 if quick else 9
    calls, trips = (2_000_000, 100_000) if quick else (5_000_000, 300_000)
    held = []
    must_hold("getppid within 3 % of perf bench syscall basic")
    for variant, what in (
        ("getppid", "by a function that traps, where perf calls the C library"),
        ("getppid-libc", "by the C library, as perf does"),
    ):

        def ours(variant: str = variant) -> float:
            return _ours("system_call", variant, cpu, "value")

        say(f"   {variant}: {what}")
        held.append(
            _alternating(
                variant,
                ours,
                lambda: _perf_bench(program, cpu, calls, "syscall", "basic"),
                rounds,
                0.03,
            )
        )
    must_hold("pipe round trip within 10 % of perf bench sched pipe, pinned")
    held.append(
        _alternating(
            "round trip",
            lambda: _ours("process_switch", "pipe-pinned", cpu, "round_trip"),
            lambda: _perf_bench(program, cpu, trips, "sched", "pipe"),
            rounds,
            0.10,
        )
    )
    return all(held)


def _returns(program: Path, count: int, cpu: int | None, rounds: int) -> None:
    """Say what a return costs whose call lies before the trap: no claim, but why lines differ."""
    ways = {
        "getppid-trap": "the trap in line",
        "getppid-trap-return": "in a function that returns",
        "getppid-trap-jump": "in a function that leaves by a jump",
        "getppid-libc": "by the C library",
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for _ in range(rounds):
            for name in ways:
                found[name].append(_hand_timed(program, name, count, cpu).corrected)
    except CannotRun:
        say("   (getppid without the C library is timed by hand on x86-64 Linux only)")
        return
    say(
        f"   getppid timed by hand in {rounds} turns, which shows what a return after a trap costs:"
    )
    for name, way in ways.items():
        say(f"      {way:<36} {median_and_range(found[name], 1, 'ns')}")


def _by_hand(quick: bool) -> bool:
    allowed = machine.cpus()
    cpu = allowed[-1] if allowed else None
    must_hold("system calls within 2 % of a loop of 10 million, timed by hand")
    say("   in one interval, read every 100 calls: the median leaves interrupts out as ours does")
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = _build(Path(folder))
        except (CannotRun, toolchain.NoCompiler) as error:
            return skipped(f"no loop timed by hand: {error}")
        count = 2_000_000 if quick else 10_000_000
        held = []
        for name in ("getppid-libc", "getpid-libc", "read0-libc"):

            def ours(name: str = name) -> float:
                return _ours("system_call", name, cpu, "value")

            def theirs(name: str = name) -> Peer:
                return _hand_timed(program, name, count, cpu)

            held.append(_alternating(name, ours, theirs, 2 if quick else 5, 0.02))
        _returns(program, count // 5, cpu, 3 if quick else 9)
    return all(held)


def _faults_by_hand(quick: bool) -> bool:
    """Page faults, in samples of as many pages as the peer touches: the cost depends on that."""
    allowed = machine.cpus()
    cpu = allowed[-1] if allowed else None
    must_hold("a page fault within 5 % of mappings of 100 pages, timed by hand")
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = _build(Path(folder), "hand_timed_faults")
        except (CannotRun, toolchain.NoCompiler) as error:
            return skipped(f"no page faults timed by hand: {error}")
        count = 200_000 if quick else 1_000_000
        return _alternating(
            "anonymous",
            lambda: _ours("page_fault", "anonymous", cpu, "value", "--batch", "25,50,75,100"),
            lambda: _timed(program, str(count), cpu=cpu),
            2 if quick else 5,
            0.05,
        )


def _alternating(
    name: str, ours: Value, theirs: Callable[[], Peer], rounds: int, within: float
) -> bool:
    """Peer, ours, peer, ours ... peer: the median of the pairwise ratios must be within."""
    try:
        peers, values = [theirs()], []
        for _ in range(rounds):
            values.append(ours())
            peers.append(theirs())
    except CannotRun as error:
        say(f"   {error}")
        return verdict(False, f"{name}: could not be measured")
    triples = list(zip(values, peers[:-1], peers[1:], strict=True))
    ratios = [2 * value / (one.corrected + two.corrected) for value, one, two in triples]
    ratio = statistics.median(ratios)
    say(f"   {name}: ours {median_and_range(values, 1, 'ns')}")
    say(f"   {'':{len(name)}}  peer {median_and_range([p.corrected for p in peers], 1, 'ns')}")
    say(f"   {'':{len(name)}}  ratio {median_and_range(ratios, 3)}, {rounds} rounds")
    disturbed = sum(peer.share < UNDISTURBED for peer in peers)
    if disturbed:
        with_all = [2 * v / (p.own + q.own) for v, p, q in triples]
        own = median_and_range([peer.own for peer in peers], 1, "ns")
        say(
            f"   {disturbed} of {len(peers)} peers were interrupted; with that they read {own}, "
            f"ratio {statistics.median(with_all):.3f}"
        )
    return verdict(abs(ratio - 1) <= within, f"{name}: {percent_off(ratio)}")


def _ours(kernel: str, variant: str, cpu: int | None, key: str, *options: str) -> float:
    pinned = () if cpu is None else ("--cpu", str(cpu))
    value = command.measure(kernel, "--variant", variant, *pinned, *options).get(key)
    if not isinstance(value, float):
        raise CannotRun(f"labs measure {kernel} --variant {variant}: no {key}")
    return value


def _perf_bench(program: Path, cpu: int, count: int, *benchmark: str) -> Peer:
    """perf prints the time of its loop; where it shared the CPU, the CPU time of its loop counts.

    That is the CPU time of the whole program less that of the same program with a loop of one. The
    share of it that interruptions had is taken off.
    """
    before = _kept_share(program, cpu)
    start = command.run("perf", "bench", *benchmark, "--loop", "1", cpu=cpu)
    ran = command.run("perf", "bench", *benchmark, "--loop", str(count), cpu=cpu)
    found = re.search(r"(\d+\.\d+) usecs/op", ran.output)
    if found is None:
        raise CannotRun(f"perf bench {' '.join(benchmark)} printed {ran.output.strip()[:200]!r}")
    own = 1e3 * float(found[1])
    corrected = 1e9 * (ran.cpu_s - start.cpu_s) / (count - 1)
    kept = (before + _kept_share(program, cpu)) / 2
    return Peer(own, kept * (own if ran.share >= UNDISTURBED else corrected), ran.share)


def _kept_share(program: Path, cpu: int) -> float:
    """The share of its CPU time that a loop on this CPU has for itself: 1 where nothing, no
    interrupt and no hypervisor, takes any of it."""
    ran = command.run(str(program), "getppid-libc", "1000000", cpu=cpu)
    _, median, cpu_time = (float(word) for word in ran.output.split())
    return median / cpu_time


def _hand_timed(program: Path, name: str, count: int, cpu: int | None) -> Peer:
    return _timed(program, name, str(count), cpu=cpu)


def _timed(program: Path, *words: str, cpu: int | None) -> Peer:
    ran = command.run(str(program), *words, cpu=cpu)
    whole, median, _ = (float(word) for word in ran.output.split())
    return Peer(whole, median, median / whole)


def _build(folder: Path, name: str = "hand_timed") -> Path:
    program = folder / name
    source = Path(__file__).with_name(f"{name}.c")
    compiler = toolchain.find_compiler()
    command.run(*compiler.command, "-O2", "-Wall", "-Wextra", str(source), "-o", str(program))
    return program
