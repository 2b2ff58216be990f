"""Add to a recording how it was made: with which program and command, and on which machine."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from labs.c_kernels import imports, toolchain
from labs.common.version import __version__
from labs.machine import surroundings
from labs.recording.file import Recording
from labs.run.output import ProcessRun, gather
from labs.run.plan import Plan


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
    if plan.of_student and (names := imports.imported_by(binary)) is not None:
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
