"""Whether a peer's answer to a question is ours, or what explains that it is not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from bench.command import CannotRun
from bench.figures.own_peers import Answer, middle
from bench.report import percent_off, say, verdict

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
