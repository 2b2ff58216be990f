"""The memory ladder against lat_mem_rd of lmbench, on the same CPU in the same minutes.

First, the clock of the core: beside walks through 4 MB, the rounds that measure it must give the
same as beside walks through 16 KB alone, or core cycles are wrong where memory is used.

lmbench is not part of Ticklab. The environment variable LAT_MEM_RD names its program; without it
the benchmark is skipped. lat_mem_rd needs no other part of lmbench. In a copy of its `src`:

    cc -O -fcommon -o lat_mem_rd lat_mem_rd.c lib_mem.c lib_timing.c lib_stats.c lib_debug.c \\
        lib_sched.c getopt.c -lm

Both take turns, the peer first and last, and each of ours is compared with the mean of the peer's
before and after it. Both load one pointer from each cache line of 64 bytes, from small pages:
lat_mem_rd uses malloc(), so its huge pages are switched off by prctl(). Both measure one set after
the other, and walk in the order of lat_mem_rd -t, in which each hop goes to another page
(page_by_page.c). lat_mem_rd reads a clock on the wall, so the time of other programs on its CPU is
in what it prints. How much of the time it had the CPU is printed beside; with much less than all of
it, the comparison says nothing.

Where a virtual machine shares its last cache with others, a lap through some MB may last longer
than the lines stay. One run of lat_mem_rd then meets them all in the cache, and the next one none:
4 MB took it 17 to 145 ns within minutes. With such a set nothing can be compared, and only sets at
which the rounds of the peer agree with each other are judged.

A neighbour on the same core takes part of the second cache. lat_mem_rd prints the least of eleven
loops, so it shows the moments without a neighbour; ours shows what the samples met, and its
recordings say that the core was shared. Such a round of ours is left out.

What lab 09 gives is shown beside. It draws every hop anew, and so meets some pages again sooner:
where addresses of pages do not fit into the TLB, a load may cost less. It also measures its sets in
turns, and loads from each page of a large set before a sample. So it finds the entries of the page
table in the caches. A walk alone loses some of them to other guests of a machine: at 128 MB a load
cost 180 ns in turns in an hour in which it cost 300 alone, in both tools.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import command, machine
from bench.command import CannotRun
from bench.report import median_and_range, must_hold, percent_off, say, skipped, verdict
from labs.analysis.cpu_core import cycle_lengths
from labs.results.result import result_of

PROGRAM = "LAT_MEM_RD"
SAME_ORDER = str(Path(__file__).with_name("page_by_page.c"))

#: The working sets, in MB: inside the first cache, twice inside the second, inside the third, and
#: far beyond all of them. None is as large as a common cache, 1, 2, 8 or 32 MB, or needs as many
#: pages as a common TLB holds, 64 or 2,048: how much of such a set fits depends on little things.
SETS = {
    "16k": 16 / 1024,
    "128k": 0.125,
    "384k": 0.375,
    "3m": 3.0,
    "4m": 4.0,
    "16m": 16.0,
    "64m": 64.0,
    "128m": 128.0,
}
#: So many sets have to be judged: those at which the middle half of the peer's rounds lies within
#: so large a share, and more than half of our rounds had a core of their own.
LEAST_SETS = 5
PEER_AGREES = 0.10
#: The sets that lab 09 has too.
OF_THE_LAB = ("16k", "128k", "4m", "16m", "64m", "128m")
STRIDE = 64

#: lmbench would first measure how long a loop must last here, which takes minutes on a virtual
#: machine. These are microseconds: a loop this long, and no cost of reading the clock or looping.
CALIBRATED = ("ENOUGH=20000", "TIMING_O=0", "LOOP_O=0")

LARGEST_ERROR = 0.10
SAME_CLOCK = 0.02


class Load(NamedTuple):
    """What a load cost in one run, in ns, and whether the run shared its core from end to end."""

    cost: float
    shared: bool


def run(quick: bool) -> bool:
    """All working sets, in turns."""
    allowed = machine.cpus()
    if not allowed:
        return skipped("no pinning here: lat_mem_rd and ours would not be on the same CPU")
    clock_held = _clock_held(allowed[-1], 3 if quick else 7)
    program = os.environ.get(PROGRAM)
    if not program:
        return skipped(f"the environment variable {PROGRAM} names no lat_mem_rd") and clock_held
    must_hold(
        f"a load within {LARGEST_ERROR:.0%} of lat_mem_rd -t for every working set at which half "
        f"of its own rounds lie within {PEER_AGREES:.0%}, without our rounds on a shared core: at "
        f"least {LEAST_SETS} of {len(SETS)}"
    )
    shares = list[float]()
    try:
        peers = [_peer(program, allowed[-1], shares)]
        ours, drawn = list[dict[str, Load]](), list[dict[str, Load]]()
        for _ in range(2 if quick else 5):
            alone = (_ours(SAME_ORDER, "pages", (name,), allowed[-1]) for name in SETS)
            ours.append({name: load for each in alone for name, load in each.items()})
            peers.append(_peer(program, allowed[-1], shares))
            drawn.append(_ours("memory_ladder", "random", OF_THE_LAB, allowed[-1]))
    except CannotRun as error:
        say(f"   {error}")
        return verdict(False, "the working sets could not be measured")
    say(f"   the peer had its CPU for {median_and_range([100 * each for each in shares], 0, '%')}")
    judged = [_judged(name, ours, drawn, peers) for name in SETS]
    held = [each for each in judged if each is not None]
    enough = verdict(
        len(held) >= LEAST_SETS, f"{len(held)} of {len(SETS)} working sets can be judged"
    )
    return all(held) and enough and clock_held


def _clock_held(cpu: int, rounds: int) -> bool:
    """Whether a core cycle is as long beside memory as without, in the same minutes."""
    must_hold(f"a core cycle within {SAME_CLOCK:.0%}, beside walks through 4 MB and without")
    ratios = []
    for _ in range(rounds):
        lengths = []
        for variants in ("random-16k", "random-16k,random-4m"):
            words = ("memory_ladder", "--variant", variants, "--cpu", str(cpu))
            lengths.append(statistics.median(cycle_lengths(command.record(*words))))
        ratios.append(lengths[1] / lengths[0])
    ratio = statistics.median(ratios)
    say(f"   core cycle beside memory / without: {median_and_range(ratios, 3)}")
    return verdict(abs(ratio - 1) <= SAME_CLOCK, f"the clock of the core: {percent_off(ratio)}")


def _judged(
    name: str,
    ours: Sequence[Mapping[str, Load]],
    drawn: Sequence[Mapping[str, Load]],
    peers: Sequence[Mapping[str, float]],
) -> bool | None:
    """Whether ours is within the limit; None where the peer's rounds disagree with each other, or
    most of ours shared their core."""
    found = [each[name] for each in ours if name in each]
    if 2 * len(found) < len(ours):
        return verdict(False, f"{name}: {len(ours) - len(found)} of our runs have no figure")
    theirs = [each[name] for each in peers]
    say(f"   {name:>4}: ours {median_and_range([each.cost for each in found], 2, 'ns')}")
    say(f"         peer {median_and_range(theirs, 2, 'ns')}")
    if beside := [each[name].cost for each in drawn if name in each]:
        say(f"         lab 09 {median_and_range(beside, 2, 'ns')}")
    around = zip(ours, peers[:-1], peers[1:], strict=True)
    ratios = [
        2 * own[name].cost / (one[name] + two[name])
        for own, one, two in around
        if name in own and not own[name].shared
    ]
    if 2 * len(ratios) <= len(ours):
        say(
            f"   not judged: only {len(ratios)} of our {len(ours)} rounds have a figure and had a "
            "core of their own"
        )
        return None
    ratio = statistics.median(ratios)
    say(f"         ratio {median_and_range(ratios, 3)}, {len(ratios)} rounds")
    low, _, high = statistics.quantiles(theirs, n=4)
    if high > (1 + PEER_AGREES) * low:
        say(f"   not judged: half of the peer's rounds lie {high / low - 1:.0%} apart")
        return None
    return verdict(abs(ratio - 1) <= LARGEST_ERROR, f"{name}: {percent_off(ratio)}")


def _ours(kernel: str, order: str, sets: Collection[str], cpu: int) -> dict[str, Load]:
    """The cost of a load from each set, in ns."""
    variants = ",".join(f"{order}-{name}" for name in sets)
    recording = command.record(kernel, "--variant", variants, "--cpu", str(cpu))
    found = dict[str, Load]()
    for name in sets:
        result = result_of(recording, f"{order}-{name}", "ns")
        if result.estimate is not None:
            shared = result.line is not None and result.line.shared
            found[name] = Load(result.estimate.value, shared)
        else:
            say(f"   no figure: {order}-{name}: {result.why_unnamed}")
    return found


def _peer(program: str, cpu: int, shares: list[float]) -> dict[str, float]:
    """What lat_mem_rd prints for each set, in ns. It measures all sizes up to the largest.

    Adds to `shares` the share of its time that it had the CPU.
    """
    largest = f"{max(SETS.values()):.0f}"
    words = (program, "-t", "-N", "3", largest, str(STRIDE))
    ran = command.run("env", *CALIBRATED, *words, cpu=cpu, small_pages=True)
    shares.append(ran.share)
    printed = dict(re.findall(r"^(\d+\.\d+) (\d+\.\d+)$", ran.output, re.MULTILINE))
    try:
        return {name: float(printed[f"{megabytes:.5f}"]) for name, megabytes in SETS.items()}
    except KeyError as error:
        raise CannotRun(f"{' '.join(words)} printed no line for {error} MB") from None
