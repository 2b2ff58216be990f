"""Run a broken C kernel next to its repaired twin, and show the C, figure and warnings of both.

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
from labs.results import naive, remarks
from labs.run.broken import BrokenKernel
from labs.run.plan import Plan

#: Two figures within this factor of each other count as alike.
ALIKE = 1.1

_TEMPLATE = Path(__file__).with_name("broken_pair.html.jinja")


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """A demonstration of one mistake: two runs at the same time on the same machine."""

    kernel: BrokenKernel
    broken: Run
    repaired: Run

    @property
    def naive_value(self) -> float:
        """The value that the author of the broken kernel would report, in the unit of its run."""
        return naive.naive_value(self.broken.result())

    @property
    def believed(self) -> float:
        """The former name of `naive_value`, which notebooks released earlier still use."""
        return self.naive_value

    @property
    def regions(self) -> tuple[str, str]:
        """The measured regions of the broken C kernel and of the repaired one."""
        twin = toolchain.c_kernel_source(self.kernel.twin_plan().kernel)
        return (
            region_of(self.kernel.source, self.broken.variant),
            region_of(twin.read_text(encoding="utf-8"), self.repaired.variant),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """The file of the broken C kernel, and the command of the repaired one."""
        return f"{self.kernel.path.name}", shlex.join(["labs", "measure", *self.kernel.twin])

    def difference(self) -> str:
        """A sentence that compares the two figures."""
        result, unit = self.repaired.result(), self.broken.unit
        if result.estimate is None:
            return f"The repaired C kernel gives no figure here: {result.no_figure}."
        wrong, right = self.naive_value, result.estimate.value
        if wrong <= 0 or right <= 0:
            return f"Broken: {rounded(wrong)} {unit}; repaired: {rounded(right)} {unit}."
        factor = right / wrong
        if 1 / ALIKE < factor < ALIKE:
            return (
                f"Here the two figures are alike: {rounded(wrong)} and {rounded(right)} {unit}. "
                "A mistake does not always change the number."
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
            "believed": self.naive_value,
            "unit": self.broken.unit,
            "broken": self.broken.result().as_json(self.broken.recording_path),
            "repaired": self.repaired.result().as_json(self.repaired.recording_path),
        }

    def as_text(self) -> str:
        """Both runs in plain text, one below the other."""
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
            lines += ["", *self._sentences(run)]
            lines += remarks.of_results((run.result(),)).as_lines()
            if run.recording_path is not None:
                lines.append(f"saved in {run.recording_path}")
        return "\n".join([*lines, "", self.difference()])

    def as_html(self) -> str:
        """Both runs side by side, or one below the other on a narrow page."""
        halves = [
            {
                "name": name,
                "colour": colour,
                "title": title,
                "region": region,
                "sentences": self._sentences(run),
                # Only those of the variant shown: its baseline may have other warnings.
                "remarks": remarks.of_results((run.result(),)).as_html(),
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

    def _sentences(self, run: Run) -> list[str]:
        """The figure of one of the two runs, and its switches if it claims any."""
        lines = [run.result().sentence()]
        if run is self.broken and run.result().estimate is None:
            lines.append(
                f"Its author would report the mean of all samples: {rounded(self.naive_value)} "
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


def plans(kernel: BrokenKernel) -> tuple[Plan, Plan]:
    """The plans of the broken C kernel and of its twin.

    The first plan holds the C as text. Its name is the copy that is saved next to the recording, so
    it contains no path of this machine.
    """
    copy = f"{figures.RECORDINGS}/broken-{kernel.name}.c"
    mine = replace(
        kernel.plan(), kernel=copy, source=kernel.source, shown_as=kernel.path.name
    )  # fmt: skip
    return mine, kernel.twin_plan()
