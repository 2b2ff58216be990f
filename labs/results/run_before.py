"""Does a run agree with the one before it, which was saved under the same name?

An interval knows what differs within its own run. What differs from run to run, such as the state
of the caches or of the OS kernel, is in no interval (`python -m bench repeat`). So the kit compares
a run with the earlier one whose place it takes, and says if both cannot be true.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from labs.analysis import compare
from labs.common.advice import Option, advice
from labs.recording import declared
from labs.recording.file import BadRecording, Recording, read
from labs.results.result import Result, result_of, with_ends

#: What must be the same in two runs, so that they measure the same thing.
SAME = (
    "source.sha256", "flags", "compiler", "machine.cpu", "machine.virtual", "variants", "batch",
    "warmup", "cpu.asked",
)  # fmt: skip
_PEER = re.compile(r"--peer-cpu\W(\d+)")
#: The two differ for sure if their difference is this many times as large as its own 95 % interval
#: allows. Chance alone exceeds the interval in 1 of 20 pairs, and this in 1 of 300.
SURELY = 1.5
#: A smaller difference, as a share of the value, changes no conclusion.
LEAST = 0.01
#: A run that is spread over so many seconds sees several states of the machine.
SPREAD_S = 20


def saved_at(path: Path) -> Recording | None:
    """The recording that is saved at `path`; None if there is none that can be read."""
    try:
        return read(path)
    except (BadRecording, OSError):
        return None


def disagreements(before: Recording, results: Sequence[Result]) -> tuple[str, ...]:
    """A sentence for each of the `results` of a run that contradicts the run `before` it.

    None for a result without a figure, or if the earlier run measured something else.
    """
    return tuple(filter(None, (_disagreement(before, each) for each in results)))


def _disagreement(before: Recording, result: Result) -> str:
    now, name = result.recording, result.variant
    if name not in before.variants or before.kernel != now.kernel or not _same(before, now):
        return ""
    # At another clock speed of the core, a call takes another time, and memory other core cycles.
    if not all(_contradict(now, before, name, unit) for unit in _units(now, before, name)):
        return ""
    return advice(
        "{variant}: this run and the one before, saved under the same name, contradict each other: "
        "{now} now, {before} before. Something that changes from run to run is in neither "
        "interval. State both figures, or spread one run over more time ({spread}).",
        variant=name,
        now=_text(result),
        before=_text(result_of(before, name, result.unit)),
        spread=Option("spread", SPREAD_S),
    ).worded(python=result.python)


def _same(before: Recording, now: Recording) -> bool:
    peers = [_PEER.findall(each.conditions.get("command", "")) for each in (before, now)]
    return peers[0] == peers[1] and all(before.condition(key) == now.condition(key) for key in SAME)


def _units(now: Recording, before: Recording, variant: str) -> tuple[str, ...]:
    """Time, and core cycles if their length is known in both runs.

    First times have no core cycles: at a first time, the core mostly waits for memory or the OS.
    """
    known = all(each.clock(variant).core_cycle_ticks is not None for each in (now, before))
    return ("ns", "cycles") if known and not declared.is_first_time(now, variant) else ("ns",)


def _contradict(now: Recording, before: Recording, variant: str, unit: str) -> bool:
    one, other = (result_of(each, variant, unit).estimate for each in (now, before))
    if one is None or other is None or abs(one.value - other.value) < LEAST * abs(other.value):
        return False
    return abs(compare.separation(one, other)) >= SURELY


def _text(result: Result) -> str:
    assert result.estimate is not None  # the caller has checked this
    return with_ends(result.estimate, result.unit)
