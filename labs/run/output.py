"""Read the output of a C kernel, and combine the processes of a run into one recording.

A student may have written the program, so nothing here trusts the size or the form of the output.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.recording.file import BadRecording, Integers, Recording
from labs.recording.rows import read_table
from labs.run.plan import Plan
from labs.version import __version__

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


# Add how the recording was made: with which program and command, and on which machine.


def recording_of(
    plan: Plan,
    binary: toolchain.Binary,
    runs: Sequence[ProcessRun],
    known: Mapping[str, str],
) -> Recording:
    """The recording of `runs`, the processes of `binary` that `plan` asked for.

    `known` are further conditions.
    """
    conditions = {
        "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "ticklab": __version__,
        "command": plan.command_line(),
        "source.sha256": binary.source_sha256,
        "flags": plan.shown_flags,
        "compiler": binary.compiler,
        "time_limit_s": f"{plan.time_limit_s:g}",
        **surroundings.machine_conditions(),
        **known,
    }
    if plan.of_student and (names := toolchain.imported_by(binary)) is not None:
        conditions["program.imports"] = " ".join(names)
    return gather(conditions, runs, plan.kernel_name)


def of_stopping(plan: Plan, why: str) -> dict[str, str]:
    """The conditions of a run that may add processes: what its plan asked for, and why it
    stopped."""
    stated = {} if plan.within is None else {"adaptive.within": f"{plan.within:g}"}
    return {
        **stated,
        "adaptive.at_most_s": f"{plan.longer_s:g}",
        "adaptive.planned_processes": str(len(plan.shares())),
        "adaptive.stopped": why,
    }
