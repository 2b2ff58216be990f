"""Switches counted by the OS over switches claimed, for every variant of a switch there is."""

from __future__ import annotations

from bench import command
from bench.command import CannotRun
from bench.report import must_hold, say, verdict
from labs.recording import counts

#: Called a switch: what is claimed must have happened.
SWITCHES = {
    "process_switch": (
        "pipe-pinned",
        "pipe-in-turn",
        "pipe-carried-back",
        "eventfd-pinned",
        "socketpair-pinned",
    ),
    "thread_switch": ("condvar", "futex", "pipe", "yield"),
    "switch_footprint": ("processes-2-0", "threads-2-0", "processes-8-64k", "threads-8-64k"),
}

#: Something else, which must be recognised: nothing is claimed, or a warning contradicts the claim.
SOMETHING_ELSE = {
    "process_switch": ("pipe-two-cpus",),
    "thread_switch": ("condvar-inside", "bare-mutex", "condvar-two-cpus", "futex-two-cpus"),
}


def run(quick: bool) -> bool:
    """Each variant once (quick), or three times."""
    held = []
    must_hold(
        f"counted within {100 * counts.SWITCHES_TOLERANCE:.0f} % of claimed wherever it is called "
        "a switch"
    )
    for kernel, names in SWITCHES.items():
        for name in names:
            held.append(_is_proved(kernel, name, 1 if quick else 3))
    must_hold("what is not a switch, or takes more of them than claimed, is recognised")
    for kernel, names in SOMETHING_ELSE.items():
        for name in names:
            held.append(_is_recognised(kernel, name))
    return verdict(all(held), f"{sum(held)} of {len(held)} variants")


def _is_proved(kernel: str, name: str, times: int) -> bool:
    ratios = []
    try:
        for _ in range(times):
            switches = command.measure(kernel, "--variant", name).get("switches", {})
            ratios.append(switches.get("counted", 0) / max(switches.get("claimed", 0), 1))
    except CannotRun as error:
        say(f"   {name:<20} {error}")
        return "status 3" in str(error)
    held = all(abs(ratio - 1) <= counts.SWITCHES_TOLERANCE for ratio in ratios)
    say(
        f"   {kernel} {name:<18} counted / claimed {', '.join(f'{r:.4f}' for r in ratios)}"
        + ("" if held else "  <- not within")
    )
    return held


def _is_recognised(kernel: str, name: str) -> bool:
    try:
        result = command.measure(kernel, "--variant", name)
    except CannotRun as error:
        say(f"   {kernel} {name}: {error}")
        return False
    switches = result.get("switches", {})
    claimed, counted = switches.get("claimed", 0), switches.get("counted", 0)
    warned = any(each["code"] == "switches-unaccounted" for each in result["warnings"])
    how = "claims no switch" if not claimed else "warns" if warned else "NOT RECOGNISED"
    say(f"   {kernel} {name:<18} claimed {claimed:,}, counted {counted:,}: {how}")
    return not claimed or warned
