"""Read the output of a C kernel, and combine the processes of a run into one recording.

A student may have written the program, so nothing here trusts the size or the form of the output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labs.recording.file import BadRecording, Integers, Recording
from labs.recording.rows import read_table

COLUMNS = b"variant,sample,batch,ticks"
#: Of a process that counts an event in place of time.
COLUMNS_OF_COUNTS = b"variant,sample,batch,count"
#: Enough for all the variants of one run, each of which states about twenty conditions.
MOST_HEADER_LINES = 2_000

_CONDITION = re.compile(r"# ([a-z][a-z0-9_.-]{0,79}): (.{0,2000})")


@dataclass(frozen=True, eq=False)
class ProcessRun:
    """The output of one process of a C kernel.

    `table` has the shape (rows, 4): index into `variants`, sample, batch, and ticks or a count.
    """

    conditions: Mapping[str, str]
    variants: tuple[str, ...]
    table: Integers


def parse_run(output: bytes, where: str, columns: bytes = COLUMNS) -> ProcessRun:
    """The run in `output`, the standard output of one process. Raises BadRecording."""
    head, found, body = output.partition(columns + b"\n")
    if not found:
        raise BadRecording(
            f"printed no line {columns.decode()!r}: does main() end with measure()?", where=where
        )
    lines = head.decode("utf-8", "replace").splitlines()
    conditions = {}
    for number, line in enumerate(lines[:MOST_HEADER_LINES], start=1):
        match = _CONDITION.fullmatch(line)
        if match is None:
            raise BadRecording(
                f"printed {line[:60]!r} on standard output, which is only for the samples; print "
                "other text to stderr, outside the measured region",
                where=where,
                line=number,
            )
        conditions[match[1]] = match[2].strip()
    if len(lines) > MOST_HEADER_LINES:
        raise BadRecording(
            f"printed more than {MOST_HEADER_LINES} lines of conditions", where=where
        )
    variants, table = read_table(body, len(lines) + 2, where, columns=4)
    if len(table) == 0:
        raise BadRecording("printed no samples", where=where)
    return ProcessRun(MappingProxyType(conditions), variants, table)


def gather(conditions: Mapping[str, str], runs: Sequence[ProcessRun], name: str) -> Recording:
    """One recording of all `runs`, which become its processes 0, 1, and so on.

    A condition that all processes state alike becomes a condition of the run. The recording takes
    the name that the C kernel states, because a copy in another file measures the same. If it
    states none, the name is `name`.
    """
    kernel = runs[0].conditions.get("kernel", name)
    shared = {
        key: value
        for key, value in runs[0].conditions.items()
        if key not in ("kernel", "seed") and all(run.conditions.get(key) == value for run in runs)
    }
    processes = tuple(
        MappingProxyType(
            {key: value for key, value in run.conditions.items() if key not in {*shared, "kernel"}}
        )
        for run in runs
    )
    variants = tuple(dict.fromkeys(name for run in runs for name in run.variants))
    parts = []
    for number, run in enumerate(runs):
        index = np.array([variants.index(name) for name in run.variants], dtype=np.int64)
        column = np.full((len(run.table), 1), number, dtype=np.int64)
        parts.append(np.hstack([index[run.table[:, :1]], column, run.table[:, 1:]]))
    table = np.vstack(parts)
    columns = [np.ascontiguousarray(table[:, i]) for i in range(5)]
    return Recording(
        kernel, MappingProxyType({**conditions, **shared}), processes, variants, *columns
    )
