"""Run a broken C kernel next to its repaired twin, and show the C, figure and warnings of both.

lab.broken("cached_getpid")         # in a notebook
labs broken cached_getpid           # on the command line

In a notebook, a student can choose another repair than the twin:

lab.broken("cached_getpid", repair=("system_call", "getppid, invalid"))
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labs.analysis.net_cost import parts_of
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import region_of
from labs.course import figures
from labs.html import filled
from labs.messages import Advice, refused
from labs.notebook.run import Run
from labs.plots.figure_svg import Drawing, Mark, value_drawing
from labs.recording import counts
from labs.results import remarks
from labs.results.result import mean_of_all, naive_estimate, naive_value, result_of
from labs.results.warning_thresholds import ALIKE_WITHIN
from labs.run.broken import BrokenKernel
from labs.run.plan import Plan
from labs.run.variants import plan_of
from labs.units import readable_unit, rounded

#: A C kernel and its variants, as in `lab.measure_in_turns`.
Repair = tuple[str, str | Sequence[str]]

_TEMPLATE = Path(__file__).with_name("broken_pair.html.jinja")
#: What to try where a cell has no option.
_AGAIN = "run the cell again"
#: The same of a broken run without a figure, in place of which the author takes another value.
_GO_ON = "go on with the value that its author reports"


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """A demonstration of one mistake: two runs at the same time on the same machine.

    `repair` holds the arguments of the repaired measurement, if it is another one than the twin.
    """

    kernel: BrokenKernel
    broken: Run
    repaired: Run
    repair: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def naive_value(self) -> float:
        """The value that the author of the broken kernel would report, in the unit of its run."""
        return naive_value(self.broken.result())

    @property
    def mean_of_all(self) -> float:
        """The mean of every sample of the broken run, the disturbed ones included, in its unit.

        Of an exchange that counts as two switches, this is the half, as `naive_value` is.
        """
        run = self.broken
        every = mean_of_all(run.recording, run.variant, run.unit)
        return every / parts_of(run.recording, run.variant)

    @property
    def regions(self) -> tuple[str, str]:
        """The measured regions of the broken C kernel and of the repaired one."""
        twin = toolchain.c_kernel_source(self._repair[0])
        return (
            region_of(self.kernel.source, self.broken.variant),
            region_of(twin.read_text(encoding="utf-8"), self.repaired.variant),
        )

    @property
    def titles(self) -> tuple[str, str]:
        """The file of the broken C kernel, and the command of the repaired one."""
        return f"{self.kernel.path.name}", shlex.join(["labs", "measure", *self._repair])

    @property
    def _title_of_half(self) -> str:
        """The command that repeats the repaired figure alone.

        The other variants of its run can be the answer to a lab's next question.
        """
        parts = list(self._repair)
        if "--variant" in parts:
            parts[parts.index("--variant") + 1] = self.repaired.variant
        return shlex.join(["labs", "measure", *parts])

    @property
    def _repair(self) -> tuple[str, ...]:
        return self.repair or self.kernel.twin

    @property
    def alike(self) -> bool:
        """Whether the mistake hardly changes the figure in these two runs."""
        estimate = self.repaired.result().estimate
        if estimate is None or self.naive_value <= 0 or estimate.value <= 0:
            return False
        return 1 / ALIKE_WITHIN < estimate.value / self.naive_value < ALIKE_WITHIN

    def _marks(self) -> tuple[list[Mark], str]:
        """The broken figure and, if there is one, the repaired one, in the unit asked for.

        In place of ns, the default, it is the unit of time that suits both.
        """
        right, clock = self.repaired.result().estimate, self.repaired.result().clock
        largest = max(abs(self.naive_value), abs(right.value) if right else 0.0)
        unit = self.broken.unit
        if unit == "ns":
            unit = readable_unit(largest)
        value = clock.convert(self.naive_value, self.broken.unit, unit)
        marks = [Mark("broken", value, "broken")]
        if right is not None:
            marks.append(Mark.of("repaired", right.into(unit, clock)))
        return marks, unit

    def drawing(self) -> Drawing:
        """What the author of the broken kernel would report, and the repaired figure."""
        return value_drawing(*self._marks(), between="" if self.alike else self.factor)

    @property
    def factor(self) -> str:
        """How far the broken figure is off, such as `140 times too large`; '' if no factor says."""
        marks, _ = self._marks()
        values, figure = [each.value for each in marks], self.broken.result().estimate
        if len(values) < 2 or min(values) <= 0 or (figure is not None and figure.low <= 0):
            return ""
        times = values[0] / values[1]
        if self.alike:
            return "alike here"
        return f"{rounded(max(times, 1 / times), 2)} times too {'large' if times > 1 else 'small'}"

    def difference(self) -> str:
        """A sentence that compares the two figures, with the numbers of the drawing."""
        result, (marks, unit) = self.repaired.result(), self._marks()
        if result.estimate is None:
            return "The repaired C kernel gives no figure here."
        words = [each.number(unit) for each in marks]
        if self.alike:
            return (
                f"Here the two figures are alike: {words[0]} and {words[1]}. "
                "A mistake does not always change the number."
            )
        whole = "" if self.broken.result().estimate else ", with nothing subtracted"
        both = f"Broken{whole}: {words[0]}; repaired: {words[1]}."
        return f"{both} The broken figure is {self.factor}." if self.factor else both

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
        """What differs, and both runs in plain text, one below the other."""
        lines = [self.difference(), f"Wrong on purpose: {self.kernel.mistake}"]
        for name, title, region, run in zip(
            _HALVES, self.titles, self.regions, (self.broken, self.repaired), strict=True
        ):
            lines += ["", f"{name}: {title}", ""]
            lines += [f"    {line}".rstrip() for line in region.splitlines()]
            lines += ["", *self.sentences(run)]
            lines += self._remarks(run).as_lines()
            if run.recording_path is not None:
                lines.append(f"saved in {run.recording_path}")
        return "\n".join(lines)

    def as_html(self) -> str:
        """Both runs side by side, or one below the other on a narrow page."""
        colours, titles = ("#D55E00", "#009E73"), (self.titles[0], self._title_of_half)
        runs = self.broken, self.repaired
        halves = [
            {
                "name": name,
                "colour": colour,
                "title": title,
                "region": region,
                "sentences": self.sentences(run),
                # Only those of the variant shown: its baseline may have other warnings.
                "remarks": self._remarks(run, in_cell=True).as_html(),
                "saved_in": run.recording_path,
            }
            for name, colour, title, region, run in zip(
                _HALVES, colours, titles, self.regions, runs, strict=True
            )
        ]
        return filled(
            _TEMPLATE,
            mistake=self.kernel.mistake,
            halves=halves,
            difference=self.difference(),
            picture=self.drawing().as_html(),
        )

    def _remarks(self, run: Run, *, in_cell: bool = False) -> remarks.Remarks:
        """The remarks on one of the two runs, with the options of the command in the title.

        `lab.broken` takes no option of a run, so its cell can only be run again.
        """
        result = result_of(run.recording, run.variant, run.unit)
        if in_cell:
            again = _GO_ON if run is self.broken and result.estimate is None else _AGAIN
            warnings = (
                replace(each, advice=again) if isinstance(each.advice, Advice) else each
                for each in result.warnings
            )
            result = replace(result, told=tuple(warnings))
        return remarks.of_results((result,))

    def sentences(self, run: Run) -> list[str]:
        """The figure of one of the two runs, and its switches if it claims any."""
        called = f"{run.recording.kernel} {run.variant}"
        broken = f"The broken C, which its author calls {called}"
        called = broken if run is self.broken else called
        told = " ".join(self._remarks(run).warnings)
        result = run.result()
        why = result.why_unnamed
        if run is self.broken and result.estimate is None:
            # Why is said once, and nothing on how to mend what is wrong on purpose.
            reason = "" if why in told else f": {why.partition('; ')[0]}"
            lines = [
                f"{called}: no figure{reason}.",
                f"Its author reports the {naive_estimate(result).method}, with nothing "
                f"subtracted: {rounded(self.naive_value)} {run.unit}.",
            ]
        else:
            lines = [f"{called}: no figure." if why and why in told else result.sentence(called)]
        seen = counts.switches_of(run.recording, run.variant)
        if seen is not None:
            lines.append(f"Switches: {seen.claimed:,} claimed, {seen.counted:,} counted by the OS.")
        return lines

    def _repr_html_(self) -> str:
        return self.as_html()

    def __repr__(self) -> str:
        return self.as_text()


#: What each half of a pair is called.
_HALVES = ("Broken", "Repaired")


def plans(kernel: BrokenKernel, repair: Repair | None = None) -> tuple[Plan, Plan]:
    """The plans of the broken C kernel and of its twin, or of the `repair` in place of the twin.

    The first plan holds the C as text. Its name is the copy that is saved next to the recording, so
    it contains no path of this machine. A repair takes as many samples and processes as the twin.
    Raises Refused if `repair` is not the name of a C kernel and of its variants.
    """
    copy = f"{figures.RECORDINGS}/broken-{kernel.name}.c"
    mine = replace(
        kernel.plan(), kernel=copy, source=kernel.source, shown_as=kernel.path.name
    )  # fmt: skip
    twin = kernel.twin_plan()
    if repair is None:
        return mine, twin
    _check(repair)
    chosen = plan_of(*repair)
    toolchain.c_kernel_source(chosen.kernel)  # raises if there is none of this name
    return mine, replace(twin, kernel=chosen.kernel, variants=chosen.variants)


def _check(repair: object) -> None:
    """Raises Refused if `repair` is not the name of a C kernel and of its variants."""
    if isinstance(repair, tuple | list) and len(repair) == 2 and isinstance(repair[0], str):
        names = [repair[1]] if isinstance(repair[1], str) else repair[1]
        if isinstance(names, tuple | list) and all(isinstance(name, str) for name in names):
            return
    usage = 'Write it like this: repair=("system_call", "getppid, invalid").'
    raise refused("a repair is a C kernel and its variants", usage)


def words_of(plan: Plan) -> tuple[str, ...]:
    """The C kernel and the variants of a plan, as after `labs measure`."""
    variants = ("--variant", ",".join(plan.variants)) if plan.variants else ()
    return (plan.kernel, *variants)
