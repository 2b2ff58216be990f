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
- google/benchmark switches randomised addresses off, so all its runs have one place. With
  random places, its runs agree.
- The peer's parts are milliseconds long and all hold interrupts. In such samples ours is the same.
- The peer states a spread that is as large.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench import command, machine
from bench.command import CannotRun
from bench.figures.own_peers import (
    GOOGLE_ELSEWHERE,
    QUESTIONS,
    Answer,
    Ask,
    NoFigure,
    Peers,
    Question,
    build,
    middle,
)
from bench.report import must_hold, percent_off, say, show, skipped, verdict

WITHIN = 0.03
#: The median of a process has this much chance in it, as a share.
OF_A_PLACE = 0.01


def judged(
    name: str,
    ours: Answer,
    answers: list[Answer],
    in_long_samples: Callable[[float], Answer],
    elsewhere: Callable[[], Answer] | None,
) -> bool:
    """Say whether the lowest of a peer's answers is ours, or what explains that it is not.

    `elsewhere` asks the peer at a place in memory that differs from run to run.
    """
    values = sorted(answer.value for answer in answers)
    # With another thread, the lowest answer is one in which that thread did not run.
    peer = min(answers, key=lambda answer: answer.value)
    peer = middle(answers) if ours.others is not None else peer
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
    if elsewhere is not None and ours.others is None:
        moved = sorted(elsewhere().value for _ in answers)
        if abs(ours.value / moved[0] - 1) <= WITHIN:
            ends = f"{moved[0]:.4g} to {moved[-1]:.4g} ns"
            return _explained(
                f"{told}: all its runs have one place; at random ones they give {ends}"
            )
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


VARIABLE = "TICKLAB_PEERS"
#: The other thread of the contended increment must have its CPU for this share of the time.
OF_OTHER = 0.9
#: Of so many of our runs, at least, each must have a figure: the others are shown as refused.
OF_RUNS = 2 / 3
HOW = (
    f"{VARIABLE} names no folder with both libraries; in an empty folder: "
    "git clone https://github.com/google/benchmark && cmake -S benchmark -B benchmark/build "
    "-DCMAKE_BUILD_TYPE=Release -DBENCHMARK_ENABLE_TESTING=OFF && cmake --build benchmark/build; "
    f"git clone https://github.com/martinus/nanobench; then set {VARIABLE} to that folder"
)


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
            build(Path(named), Path(folder))
        except CannotRun as error:
            return skipped(f"the peers cannot be built: {error}")
        peers = Peers(Path(folder), allowed[-1], allowed[0])
        held = [_asked(question, peers, 3 if quick else 9) for question in QUESTIONS]
        return all(held)


def _asked(question: Question, peers: Peers, rounds: int) -> bool:
    """Ask all tools in turns, forwards and backwards, so that drift meets them alike."""
    tools: dict[str, Ask] = {
        "google/benchmark": peers.google,
        "Ticklab": peers.ours,
        "nanobench": peers.nanobench,
    }
    say(f"   {question.kernel} {question.variant}")
    if question.variant == "contended":
        other = command.run(str(peers.folder / "whole"), "alone", "200000000", cpu=peers.peer_cpu)
        if other.share < OF_OTHER:
            return skipped(f"the other thread would have its CPU for {other.share:.0%} of the time")
    for variant in question.further:
        tools[f"Ticklab: {variant}"] = functools.partial(peers.ours, variant=variant)
    try:
        found = _in_turns(tools, question, rounds)
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
    ours = replace(middle(found["Ticklab"]), processes=tuple(every))
    long = functools.partial(peers.in_long_samples, question)
    elsewhere = functools.partial(peers.google, question, GOOGLE_ELSEWHERE)
    held = [
        judged("google/benchmark", ours, found["google/benchmark"], long, elsewhere),
        judged("nanobench", ours, found["nanobench"], long, None),
    ]
    return all(held)


def _in_turns(tools: Mapping[str, Ask], question: Question, rounds: int) -> dict[str, list[Answer]]:
    """The answers of each tool. Raises CannotRun, also if too many of our runs have no figure."""
    found = {name: list[Answer]() for name in tools}
    refused = {name: list[str]() for name in tools}
    for turn in range(rounds):
        for name in list(tools) if turn % 2 == 0 else list(tools)[::-1]:
            try:
                found[name].append(tools[name](question))
            except NoFigure as why:
                refused[name].append(str(why))
    for name, whys in refused.items():
        if len(found[name]) < OF_RUNS * rounds:
            raise CannotRun(f"{len(whys)} of {rounds} runs have no figure: {whys[0]}")
        if whys:
            say(f"   {name}: {len(whys)} of {rounds} runs have no figure: {whys[0]}")
    return found


def _row(name: str, answers: list[Answer]) -> tuple[str, ...]:
    values = sorted(answer.value for answer in answers)
    shown = middle(answers)
    return (
        name,
        f"{statistics.median(values):.4g}",
        f"{values[0]:.4g}",
        f"{values[-1]:.4g}",
        shown.doubt,
        f"{shown.net:.4g}" if shown.net is not None else "",
        f"{shown.others:.2f}" if shown.others is not None else "",
        f"{shown.shared:.0%}" if shown.shared is not None else "",
    )
