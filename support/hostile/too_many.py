"""Recordings that have too many of something that a recording may have many of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from labs import limits
from support.hostile.case import Hostile, changed

LAB, RECORDING = "01-timer-overhead", "recordings/fenced.csv"
VARIANTS = ("fenced", "unfenced", "monotonic", "process-cpu")
#: The points of the honest submission without those of the figures on this recording.
WITHOUT = 12.0

_HEAD = (
    "# ticklab recording: 1\n# kernel: timer_overhead\n# counter: tsc\n# cpu.asked: none\n"
    "# counter.frequency_hz: 2.6e9\n# counter.step: 2\n# counter.overhead: 40\n"
    "# core_cycle_ticks: 0.7\n"
)
_CLOCK = "# clock.{0}.frequency_hz: 2.6e9\n# clock.{0}.step: 2\n"
_COLUMNS = "variant,process,sample,batch,ticks\n"
_NOTHING = "{}"


def text(rows: Iterable[str], processes: Iterable[str], more: str = "") -> str:
    """A recording with these rows and JSON objects of processes."""
    clocks = "".join(_CLOCK.format(name) for name in VARIANTS)
    stated = "".join(f"# process.{n}: {each}\n" for n, each in enumerate(processes))
    return _HEAD + clocks + more + stated + _COLUMNS + "".join(rows)


def row(variant: str, process: int, place: int, batch: int) -> str:
    """A row that lies on a line."""
    return f"{variant},{process},{place},{batch},{40 + batch + place % 9}\n"


def _few(processes: int) -> list[str]:
    return [row(VARIANTS[n % 4], n // 20, n % 20, n % 5 * 64) for n in range(20 * processes)]


def batch_sizes() -> str:
    rows = (row(VARIANTS[n % 4], n // 20_000, n % 20_000, n // 4) for n in range(200_000))
    return text(rows, [_NOTHING] * 10)


def alternating_processes() -> str:
    return text((row("fenced", n % 2, n // 2, n % 5 * 64) for n in range(240_000)), [_NOTHING] * 2)


def cpu_lists(different: bool) -> str:
    def stated(process: int) -> str:
        cpus = f"{process if different else 0}-8191"
        keys = ("cpus", "peers_cpus", "peers_may_use")
        lists = {f"variant.{name}.{key}": cpus for name in VARIANTS for key in keys}
        return json.dumps({**lists, "cpu.allowed": cpus})

    return text(_few(1_000), map(stated, range(1_000)))


def most_of_all() -> str:
    """As much of everything as is read."""
    names = (*VARIANTS, *(f"v{n}" for n in range(limits.MOST_VARIANTS - len(VARIANTS))))
    sizes = [8 * n for n in range(limits.MOST_BATCH_SIZES)]
    each = 240
    rows = (
        row(names[n % len(names)], n // each, n % each, sizes[n // len(names) % len(sizes)])
        for n in range(limits.MOST_RECORDED_PROCESSES * each)
    )
    return text(rows, [_NOTHING] * limits.MOST_RECORDED_PROCESSES)


def most_rows_of_one() -> str:
    rows = (row("fenced", n // 2_400, n % 2_400, n % 64 * 8) for n in range(240_000))
    return text(rows, [_NOTHING] * limits.MOST_PROCESSES)


def _in_process(stated: dict[str, str]) -> str:
    return text(_few(1), [json.dumps(stated)])


TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "batch sizes": (batch_sizes, "different batch sizes; at most 64 are read"),
    "alternating processes": (alternating_processes, "the process number changes 239999 times"),
    "CPU lists, all different": (partial(cpu_lists, True), "CPU lists name more than 100000 CPUs"),
    "processes": (lambda: text(_few(1), [_NOTHING] * 1_001), "one process too many"),
    "keys of a process": (
        lambda: _in_process({f"k{n}": "" for n in range(1_500)}),
        "a line of more than 16384 bytes",
    ),
    "short keys of a process": (
        lambda: _in_process({chr(0x3400 + n): "" for n in range(1_400)}),
        "",
    ),
    "long key": (lambda: _in_process({"k" * 81: ""}), "a key of 81 characters"),
    "long value": (lambda: _in_process({"k": "v" * 2_001}), "k has 2001 characters"),
    "long condition": (
        lambda: text(_few(1), [_NOTHING], f"# k: {'v' * 2_001}\n"),
        "k has 2001 characters",
    ),
    "bytes of conditions": (
        lambda: text(_few(1), [json.dumps({f"k{n}": "v" * 1_990 for n in range(8)})] * 200),
        "more than 2097152 bytes of conditions",
    ),
    "CPU lists, all alike": (partial(cpu_lists, False), ""),
    "as much as is read": (most_of_all, ""),
    "as many rows as are read": (most_rows_of_one, ""),
}


def _with(make: Callable[[], str], folder: Path) -> None:
    (folder / RECORDING).write_text(make(), encoding="utf-8")


CASES = [
    Hostile(
        name,
        "too many",
        LAB,
        changed(LAB, partial(_with, make)),
        points=WITHOUT if says else None,
        says=says,
    )
    for name, (make, says) in TEXTS.items()
]
