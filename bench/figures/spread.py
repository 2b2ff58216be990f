"""Twenty runs of the same command: how far their figures lie apart, in ns and in core cycles.

A time in ns follows the clock speed that the core had in that run, which a virtual machine's host
changes as it likes (turbo); the same recording in core cycles does not. Both are shown.
"""

from __future__ import annotations

from bench import command, machine
from bench.command import CannotRun
from bench.report import median_and_range, must_hold, say, spread, verdict
from labs.recording.file import Recording
from labs.results.result import result_of


def run(quick: bool) -> bool:
    """Procedure call, system call, pinned switch."""
    runs = 5 if quick else 20
    allowed = machine.cpus()
    pinned = ("--cpu", str(allowed[-1])) if allowed else ()
    held = []
    for kernel, variant, most, options in (
        ("procedure_call", "args6", 0.5, ()),
        ("system_call", "getppid", 2.0, ()),
        ("process_switch", "pipe-pinned", 5.0, pinned),
    ):
        must_hold(
            f"{kernel} {variant}: standard deviation over mean of {runs} runs within {most} %"
        )
        try:
            recordings = [
                command.record(kernel, "--variant", variant, *options) for _ in range(runs)
            ]
        except CannotRun as error:
            held.append(verdict(False, str(error)))
            continue
        held.append(_judge(recordings, variant, most))
    return all(held)


def _judge(recordings: list[Recording], variant: str, most: float) -> bool:
    spreads, texts = {}, []
    for unit in ("ns", "cycles"):
        values = []
        for recording in recordings:
            estimate = result_of(recording, variant, unit).estimate
            if estimate is not None:
                values.append(estimate.value)
        if len(values) < len(recordings):
            say(f"   {len(recordings) - len(values)} runs gave no figure in {unit}")
        if len(values) < 2:
            return verdict(False, "no figures")
        spreads[unit] = spread(values)
        texts.append(f"{spreads[unit]:.2f} % in {unit}")
        say(f"   {median_and_range(values, 3, unit)}")
    held = spreads["ns"] <= most
    if not held and spreads["cycles"] <= most:
        say("   the work is the same each time and the clock is not: the core changed its speed")
        held = True
    return verdict(held, ", ".join(texts))
