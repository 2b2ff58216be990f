"""Build the program of a plan, and run it once, in a fresh process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.run.c_process import Limits, output_of
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.output import COLUMNS, COLUMNS_OF_COUNTS, ProcessRun, parse_run
from labs.run.plan import Plan
from labs.run.run_clock import Deadline


class Place(NamedTuple):
    """Where a process takes its samples: the place of its stack within a page, in bytes, and the
    CPU on which it begins (None: the OS chooses)."""

    stack: int
    cpu: int | None = None


def build(plan: Plan) -> toolchain.Binary:
    """The program that `plan` runs. Raises what building raises, FileNotFoundError."""
    if plan.source is not None:
        return toolchain.build_text(
            plan.source,
            plan.kernel_name,
            plan.flags,
            shown_as=plan.shown_as,
            first_line=plan.first_line,
        )
    return toolchain.build(toolchain.c_kernel_source(plan.kernel), plan.flags)


async def one_process(
    binary: toolchain.Binary,
    plan: Plan,
    samples: int,
    place: Place,
    deadline: Deadline,
    report_progress: Callable[[int, int], None],
    event: str = "",
) -> ProcessRun:
    """Run `binary` once for so many samples per variant, at `place`, and read what it printed. With
    `event` it counts this event in place of time."""
    command = [str(binary.path), "--samples", str(samples)]
    if plan.warmup != DEFAULT_WARMUP:
        # Unasked the C kernel does what is right for it: none where the cold sample is the point.
        command += ["--warmup", str(plan.warmup)]
    command += ["--stack-place", str(place.stack), "--end-with", str(os.getpid())]
    if place.cpu is not None:
        command += ["--begin-on", str(place.cpu)]
    if plan.variants:
        command += ["--variant", ",".join(plan.variants)]
    if plan.batches:
        command += ["--batch", ",".join(map(str, plan.batches))]
    if plan.cpu is not None:
        command += ["--cpu", str(plan.cpu)]
    if plan.peer_cpu is not None:
        command += ["--peer-cpu", str(plan.peer_cpu)]
    if event:
        command += ["--count", event]
    command += surroundings.place_options()
    rows = (samples + plan.warmup) * max(len(plan.variants), 1)
    # A row has at most 80 bytes, and every variant may bring a baseline along.
    most = 2 * 80 * rows + 65_536
    patience_s = plan.patience_s if plan.of_student else None
    limits = Limits(most, deadline, plan.time_limit_s, patience_s)
    output = await output_of(command, plan.kernel_name, limits, report_progress)
    return parse_run(output, plan.kernel_name, COLUMNS_OF_COUNTS if event else COLUMNS)
