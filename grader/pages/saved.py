"""The session that `lab` is while pages are built: it uses saved recordings and does not measure.

The builder of the pages adds a first cell that installs it:

    from grader.pages import saved
    saved.install(FOLDER)
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.judging import flags
from labs.course import figures
from labs.files import cpu_list
from labs.machine.description import Machine
from labs.messages import Message, Refused
from labs.notebook.measuring import name_for, recording_name
from labs.notebook.run import Run
from labs.notebook.session import Session, begin_with
from labs.recording import file
from labs.recording.file import Recording
from labs.run.measure import Plan
from labs.run.variants import has_first_time

#: The size of a run that will be saved: its recording has about ten kilobytes.
MOST_SAMPLES, MOST_WARMUP = 400, 10


class SavedSession(Session):
    """A session whose runs are those of `saved`, a folder of recordings."""

    def __init__(self, name: str, folder: Path, *, saved: Path) -> None:
        super().__init__(name, folder)
        self.saved = saved
        known = sorted(self.saved.glob("*.csv"))
        if known:
            self.machine = machine_of(file.read(known[0]))

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """The saved runs with these names. Raises Refused if one was not saved."""
        return [self._saved(plan, save, unit) for plan, save in zip(plans, saves, strict=True)]

    def _saved(self, plan: Plan, save: str | None, unit: str) -> Run:
        name = recording_name(save or name_for(plan))
        taken = self.saved / f"{name}.csv"
        if not taken.is_file():
            raise Refused(Message("note", f"there is no saved run {name!r}"))
        folder = self.folder / figures.RECORDINGS
        folder.mkdir(exist_ok=True)
        for path in (taken, taken.with_suffix(".c")):
            if path.is_file():
                shutil.copy(path, folder)
        place = f"{figures.RECORDINGS}/{name}.csv"
        self.runs[name] = self.reduce(plan, file.read(taken), place, unit)
        return self.runs[name]

    def panel(self, kernel: str, variants: Any = (), *, save: str = "panel") -> Any:
        """What a page shows in place of JupyterLab's panel."""
        return Message(
            "note",
            f"JupyterLab shows the panel of {kernel} here",
            ("You choose the number of samples, the CPU and the variant, run it, and see a plot.",),
        )


class ShortSession(Session):
    """A session that takes few samples, because its recordings will be saved."""

    def carry_out_in_turns(
        self, plans: Sequence[Plan], saves: Sequence[str | None], unit: str = "ns"
    ) -> list[Run]:
        """Like the method of a session, but with fewer samples."""
        return super().carry_out_in_turns([short(plan) for plan in plans], saves, unit)


def short(plan: Plan) -> Plan:
    """The same plan with so few samples that its recording can be kept."""
    warmup = plan.warmup if has_first_time(plan) else min(plan.warmup, MOST_WARMUP)
    return replace(plan, samples=min(plan.samples, MOST_SAMPLES), warmup=warmup)


def install(folder: str) -> None:
    """Make `start` begin a session with the recordings in `folder`.

    These are the project's own runs, and no copies of them. The Jupyter kernel ends with the page.
    """
    flags.saved_runs = frozenset  # type: ignore[assignment]
    begin_with(partial(SavedSession, saved=Path(folder)))


def install_short() -> None:
    """Make `start` begin a session with short runs."""
    begin_with(ShortSession)


def machine_of(of: Recording) -> Machine:
    """The machine on which `of` was recorded, as far as its conditions state it."""
    stated = of.conditions
    system, os_kernel, architecture = (*stated.get("os", "").split(), "", "", "")[:3]
    online, load = of.number("cpus.online"), of.number("load.1min")
    allowed = next(iter(of.condition("cpu.allowed")), "")
    step, frequency = of.number("counter.step"), of.number("counter.frequency_hz")
    return Machine(
        architecture=architecture,
        system=system,
        os_kernel=os_kernel,
        cpu=stated.get("machine.cpu"),
        cpus_online=int(online) if online else None,
        cpus_allowed=cpu_list(allowed),
        pinning=False if of.condition("cpu.pinning") else None,
        virtual={"True": True, "False": False}.get(stated.get("machine.virtual", "")),
        container=stated.get("machine.container"),
        clock_source=stated.get("machine.clock_source"),
        seccomp=stated.get("seccomp"),
        load=load,
        counter_step_ns=1e9 * step / frequency if step and frequency else None,
    )
