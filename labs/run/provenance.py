"""Add to a recording how it was made: with which program and command, and on which machine."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace

from labs.c_kernels import imports, toolchain
from labs.common.version import __version__
from labs.machine import surroundings
from labs.recording import core_rounds
from labs.recording.file import Recording
from labs.run import best_width
from labs.run.output import ProcessRun, gather
from labs.run.plan import Plan

#: The core width of a run with fewer processes is not remembered.
PROCESSES_TO_TRUST = 5


def recording_of(
    plan: Plan,
    binary: toolchain.Binary,
    runs: Sequence[ProcessRun],
    known: Mapping[str, str],
    *,
    remember: bool,
) -> Recording:
    """The recording of `runs`, the processes of `binary` that `plan` asked for.

    `known` are further conditions. With `remember`, later runs on this machine use the core width
    that this run saw.
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
    own = plan.of_student
    if own and (names := imports.imported_by(binary)) is not None:
        conditions["program.imports"] = " ".join(names)
    recording = gather(conditions, runs, plan.kernel_name)
    # The core width from a cell or a broken C kernel may be as wrong as its samples. A single
    # process may be wrong too, but not several.
    trusted = not own and len(runs) >= PROCESSES_TO_TRUST
    of_core = _of_core(recording, remember and trusted)
    return replace(recording, conditions={**recording.conditions, **of_core})


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


def _of_core(recording: Recording, trusted: bool) -> dict[str, str]:
    """What a core did at best in earlier runs here, and in this one if it is `trusted`."""
    stated = {}
    for counted in (core_rounds.ADDITIONS, core_rounds.STORES):
        best = best_width.best(recording, counted, remember=trusted)
        if best is not None:
            stated[f"{counted}.best"] = f"{best:.2f}"
    return stated
