"""Two runs at different clock speeds of the core: does a difference in time remain in cycles?

A processor changes its clock speed with temperature and load. Then each operation takes another
time, though nothing else has changed. Within one run all variants meet the same speeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from labs.analysis import compare, core_clock
from labs.analysis.estimate import Estimate
from labs.results.compared import Comparison, compared
from labs.results.result import Result, result_of

#: What two estimates show, as a number: a side, or a conclusion.
Shows = Callable[[tuple[Estimate, Estimate]], int]


def compared_at_one_clock(
    first: Result,
    second: Result,
    times: float = 1.0,
    saved: tuple[str, str] = ("", ""),
    files: tuple[str, str] = ("", ""),
) -> Comparison:
    """As `compared`, but in core cycles if the clock speed alone may explain the difference.

    Then the two are not distinguishable, and a sentence states both speeds. Raises as `compared`.
    """
    found = compared(first, second, times, saved, files)

    def side(pair: tuple[Estimate, Estimate]) -> int:
        return compare.side(*pair, times)

    speeds = speeds_ghz(first, second)
    if speeds is None or not found.side or not may_be_the_clock(first, second, side):
        return found
    cycles = compared(_in_cycles(first), _in_cycles(second), times, saved, files)
    note = _note(found, speeds)
    # A comparison of two differences needs all of them in the unit of the runs.
    return replace(
        cycles,
        distinguishable=False,
        side=0,
        modes=(note, *cycles.modes),
        estimate=found.estimate,
    )


def may_be_the_clock(first: Result, second: Result, shows: Shows) -> bool:
    """Whether what two separate runs show in time disappears at one clock speed and in core cycles.

    The first condition is needed because an interval in core cycles may be wide for other reasons.
    """
    speeds, one, other = speeds_ghz(first, second), first.estimate, second.estimate
    if speeds is None or one is None or other is None:
        return False
    in_time = shows((one, other))
    if shows((one.times(speeds[0] / speeds[1]), other)) == in_time:
        return False
    cycles = _in_cycles(first).estimate, _in_cycles(second).estimate
    return cycles[0] is None or cycles[1] is None or shows((cycles[0], cycles[1])) != in_time


def speeds_ghz(first: Result, second: Result) -> tuple[float, float] | None:
    """The mean clock speed of the core in each of two separate runs on one machine, in GHz.

    None if one speed is not known, or if the two are compared in core cycles, are of one run, or
    are of two machines: there, the clock speed is part of the answer.
    """
    one, other = first.recording, second.recording
    if "cycles" in (first.unit, second.unit) or one.samples_sha256 == other.samples_sha256:
        return None
    if one.conditions.get("machine.cpu") != other.conditions.get("machine.cpu"):
        return None
    if None in (first.clock.core_cycle_ticks, second.clock.core_cycle_ticks):
        return None
    speeds = core_clock.mean_speed_ghz(one), core_clock.mean_speed_ghz(other)
    return None if speeds[0] is None or speeds[1] is None else (speeds[0], speeds[1])


def _in_cycles(result: Result) -> Result:
    return result_of(result.recording, result.variant, "cycles")


def _note(found: Comparison, speeds: tuple[float, float]) -> str:
    """What the runs show in time, and why this may be no difference of the operations."""
    one, other = (f"{each:.3g}" for each in speeds)
    return (
        f"This compares core cycles. In {found.unit} the difference is "
        f"{found.difference_as_text()}. But the core ran at {one} GHz in the first run and at "
        f"{other} GHz in the second: this may be the only cause."
    )
