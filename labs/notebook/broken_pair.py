"""A broken C kernel run next to its repaired twin: both codes, both figures, what the kit says.

lab.broken("cached_getpid")         # in a notebook
labs broken cached_getpid           # on the command line
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labs.c_kernels import toolchain
from labs.c_kernels.region import region_of
from labs.common.html import filled
from labs.common.units import rounded
from labs.course import figures
from labs.notebook.run import Run
from labs.recording import proof
from labs.results import believed
from labs.run import measure
from labs.run.broken import BrokenKernel

#: Figures within this factor of each other are called alike.
ALIKE = 1.1

_TEMPLATE = Path(__file__).with_name("broken_pair.html.jinja")


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """One mistake, shown: `broken` and `repaired` are two runs of the same hour and machine."""

    kernel: BrokenKernel
    broken: Run
    repaired: Run

    @property
    def believed(self) -> float:
        """The figure that the author of the broken one would report, in the unit of its run."""
        return believed.as_believed(self.broken.result())

    @property
    def regions(self) -> tuple[str, str]:
        """The measured regions: of the broken C kernel, and of the repaired one."""
        twin = toolchain.c_kernel_source(self.kernel.twin_plan().kernel)
        return (
            region_of(self.kernel.source, self.broken.variant),
            region_of(twin.read_text(encoding="utf-8"), self.repaired.variant),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """What each of the two is: the file of the broken one, the command of the repaired one."""
        return f"{self.kernel.path.name}", shlex.join(["labs", "measure", *self.kernel.twin])

    def difference(self) -> str:
        """How far the two figures lie apart, in one sentence."""
        result, unit = self.repaired.result(), self.broken.unit
        if result.estimate is None:
            return f"The repaired one gives no figure here: {result.no_figure}."
        wrong, right = self.believed, result.estimate.value
        if wrong <= 0 or right <= 0:
            return f"Broken: {rounded(wrong)} {unit}; repaired: {rounded(right)} {unit}."
        factor = right / wrong
        if 1 / ALIKE < factor < ALIKE:
            return (
                f"Here the two figures are alike: {rounded(wrong)} and {rounded(right)} {unit}. "
                "A mistake need not show in the number."
            )
        dearer = "repaired" if factor > 1 else "broken"
        return (
            f"Broken: {rounded(wrong)} {unit}; repaired: {rounded(right)} {unit}. The {dearer} "
            f"figure is {rounded(max(factor, 1 / factor), 2)} times as large."
        )

    def as_json(self) -> dict[str, Any]:
        """The object that `labs broken NAME --json` prints."""
        return {
            "name": self.kernel.name,
            "mistake": self.kernel.mistake,
            "believed": self.believed,
            "unit": self.broken.unit,
            "broken": self.broken.result().as_json(self.broken.recording_path),
            "repaired": self.repaired.result().as_json(self.repaired.recording_path),
        }

    def as_text(self) -> str:
        """Both in plain text, one under the other."""
        lines = [f"Wrong on purpose: {self.kernel.mistake}"]
        for name, title, region, run in zip(
            ("Broken", "Repaired"),
            self.titles,
            self.regions,
            (self.broken, self.repaired),
            strict=True,
        ):
            lines += ["", f"{name}: {title}", ""]
            lines += [f"    {line}".rstrip() for line in region.splitlines()]
            lines += ["", *self._told(run)]
            lines += [f"warning: {warning}" for warning in run.result().warnings]
            if run.recording_path is not None:
                lines.append(f"saved in {run.recording_path}")
        return "\n".join([*lines, "", self.difference()])

    def as_html(self) -> str:
        """Both side by side; one under the other where that is too wide."""
        halves = [
            {
                "name": name,
                "colour": colour,
                "title": title,
                "region": region,
                "told": self._told(run),
                # Of what is shown: a baseline may have warnings of its own.
                "warnings": run.result().warnings,
                "saved_in": run.recording_path,
            }
            for name, colour, title, region, run in zip(
                ("Broken", "Repaired"),
                ("#D55E00", "#009E73"),
                self.titles,
                self.regions,
                (self.broken, self.repaired),
                strict=True,
            )
        ]
        return filled(
            _TEMPLATE,
            mistake=self.kernel.mistake,
            halves=halves,
            difference=self.difference(),
        )

    def _told(self, run: Run) -> list[str]:
        """Figure, and switches where some are claimed, of one of the two runs."""
        lines = [run.result().sentence()]
        if run is self.broken and run.result().estimate is None:
            lines.append(
                f"Its author would report the mean of all samples: {rounded(self.believed)} "
                f"{run.unit}."
            )
        seen = proof.of_variant(run.recording, run.variant)
        if seen is not None:
            lines.append(f"Switches: {seen.claimed:,} claimed, {seen.counted:,} counted by the OS.")
        return lines

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        return self.as_text()


def plans(kernel: BrokenKernel) -> tuple[measure.Plan, measure.Plan]:
    """How the broken one and its twin are run. The plan of the broken one holds its C as text.

    It is then named after the copy that is saved beside the recording, and by no path of this
    machine.
    """
    copy = f"{figures.RECORDINGS}/broken-{kernel.name}.c"
    mine = replace(
        kernel.plan(), kernel=copy, source=kernel.source, shown_as=kernel.path.name
    )  # fmt: skip
    return mine, kernel.twin_plan()
