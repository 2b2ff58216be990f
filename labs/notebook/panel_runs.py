"""The settings of a panel, its runs, the file that keeps them, and the plot that compares them.

A small file beside the recording keeps the runs, so that they outlive a restart:

    {"runs": [{"number": 1, "kernel": "timer_overhead", "variant": "fenced", "samples": 10000,
               "cpu": null, "value": 19.8, "low": 19.6, "high": 20.1, "unit": "ns", ...}]}

The recording itself holds only the newest run. Nothing is graded by this file.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from labs import json_text, limits
from labs.analysis import confidence
from labs.analysis.confidence import Estimate
from labs.course.figures import RECORDINGS, IsLinked, must_not_be_linked
from labs.files import CannotWrite, read_bounded, time_now, write_atomically
from labs.html import Table, filled
from labs.machine import surroundings
from labs.notebook.run import Run
from labs.plots.figure_svg import Drawing, Mark, value_drawing
from labs.results.result import sensible
from labs.run.declared_options import DEFAULT_SAMPLES, DEFAULT_WARMUP
from labs.run.plan import BadPlan, Plan
from labs.run.variants import plan_of
from labs.units import NAMES, unit_symbol

# The settings are plain values, from which the plan and the line of Python are made.

DEFAULT_PROCESSES, DEFAULT_FLAGS = 10, "-O2"

#: The slider's ends and step, as powers of ten.
LEAST_POWER, MOST_POWER, POWER_STEP = 1.0, math.log10(limits.MOST_SAMPLES), 0.05


@dataclass(frozen=True)
class Form:
    """One setting of every control; `variant` is '' for the C kernel's first."""

    kernel: str
    variant: str = ""
    samples: int = DEFAULT_SAMPLES
    cpu: int | None = None
    peer_cpu: int | None = None
    warmup: int = DEFAULT_WARMUP
    processes: int = DEFAULT_PROCESSES
    flags: str = DEFAULT_FLAGS
    save: str = "panel"
    unit: str = "ns"

    def plan(self) -> Plan:
        """The plan. Raises BadPlan where it cannot be carried out, in the words of the panel."""
        self._check_cpus()
        options = {name: getattr(self, name) for name in LABELS if name != "variant"}
        plan = plan_of(self.kernel, self.variant, **options)
        plan.check()
        return plan

    def _check_cpus(self) -> None:
        allowed = surroundings.allowed_cpus()
        for cpu in (self.cpu, self.peer_cpu):
            if cpu is not None and allowed is not None and cpu not in allowed:
                free = ", ".join(map(str, sorted(allowed)))
                raise BadPlan(
                    f"CPU {cpu} can no longer be used; this process may use CPU {free}. Choose "
                    "one of these, or “not pinned”"
                )

    def as_python(self) -> str:
        """The line that does the same, with what differs from the defaults."""
        parts = [f'"{self.kernel}"']
        if self.variant:
            parts.append(f'"{self.variant}"')
        parts.append(f"samples={self.samples:_}")
        for name, value, default in (
            ("cpu", self.cpu, None),
            ("peer_cpu", self.peer_cpu, None),
            ("warmup", self.warmup, DEFAULT_WARMUP),
            ("processes", self.processes, DEFAULT_PROCESSES),
        ):
            if value != default:
                parts.append(f"{name}={value}")
        if self.flags != DEFAULT_FLAGS:
            parts.append(f'flags="{self.flags}"')
        if self.unit != Form.unit:
            parts.append(f'unit="{self.unit}"')
        parts.append(f'save="{self.save}"')
        return f"run = lab.measure({', '.join(parts)})"


def settings_as_text(form: Form, only: Collection[str] | None = None) -> str:
    """The settings in a few words: variant and samples, and what differs from the usual.

    With `only`, exactly the settings of these names, and the variant.
    """
    cpus = ["not pinned" if cpu is None else str(cpu) for cpu in (form.cpu, form.peer_cpu)]
    said = {
        "variant": (form.variant or "the first variant", True),
        "samples": (f"{form.samples:,} samples", True),
        "cpu": (f"CPU {cpus[0]}", form.cpu is not None),
        "peer_cpu": (f"peer's CPU {cpus[1]}", form.peer_cpu is not None),
        "warmup": (f"warm-up {form.warmup:,}", form.warmup != DEFAULT_WARMUP),
        "processes": (
            "1 process" if form.processes == 1 else f"{form.processes} processes",
            form.processes != DEFAULT_PROCESSES,
        ),
        "flags": (form.flags, form.flags != DEFAULT_FLAGS),
    }
    return ", ".join(
        text
        for name, (text, unusual) in said.items()
        if name == "variant" or (unusual if only is None else name in only)
    )


#: How a panel calls each setting.
LABELS = {
    "variant": "Variant",
    "samples": "Samples",
    "cpu": "CPU",
    "peer_cpu": "Peer's CPU",
    "warmup": "Warm-up",
    "processes": "Processes",
    "flags": "Optimisation",
}


#: What a panel can be set to, for the C kernel of its own.
_SETTINGS = ("kernel", *LABELS)


def changes_as_text(before: Form, now: Form) -> str:
    """The settings that differ, each as it was and as it is; '' if none does."""
    return "; ".join(
        f"{LABELS[name]}: {_value(before, name)} → {_value(now, name)}"
        for name in differing(before, now)
    )


def differing(one: Form, other: Form) -> tuple[str, ...]:
    """The names of the settings in which two forms differ, in the order of the panel."""
    return tuple(name for name in LABELS if getattr(one, name) != getattr(other, name))


def _value(form: Form, name: str) -> str:
    value = getattr(form, name)
    if value is None:
        return "not pinned"
    return f"{value:,}" if isinstance(value, int) else str(value)


def slider_place(samples: int) -> float:
    """Where the slider stands for a number of samples: the nearest it can reach."""
    return float(min(max(samples, 10**LEAST_POWER), 10**MOST_POWER))


def samples_at(place: float) -> int:
    """The number of samples for a place of the slider: two significant digits read well."""
    return int(float(f"{place:.2g}"))


def slider_agrees(samples: int, place: float) -> bool:
    """Whether the slider is as near to `samples` as its step lets it be."""
    return abs(math.log10(slider_place(samples)) - math.log10(max(place, 1.0))) < POWER_STEP * 0.9


#: So many runs are kept and shown, the newest.
MOST_RUNS = 20
_MOST_WARNINGS = 8
_RUNS = Path(__file__).with_name("runs.html.jinja")

_Text = Annotated[str, StringConstraints(max_length=400)]
_Cpu = Annotated[int, Field(ge=0, lt=limits.MOST_CPUS)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class KeptRun(json_text.Form):
    """One run, as in the file: its settings, its figure with the 95 % interval in `unit`, warnings.

    `value`, `low` and `high` are None if the run gave no figure. `what` says what the figure is.
    """

    number: int = Field(ge=1, le=10**6)
    kernel: _Text
    variant: _Text
    samples: int = Field(ge=1, le=limits.MOST_SAMPLES)
    cpu: _Cpu | None
    peer_cpu: _Cpu | None
    warmup: int = Field(ge=0, le=limits.MOST_WARMUP)
    processes: int = Field(ge=1, le=limits.MOST_PROCESSES)
    flags: _Text
    what: _Text
    unit: _Text
    value: _Number | None
    low: _Number | None
    high: _Number | None
    warnings: list[_Text] = Field(max_length=_MOST_WARNINGS)
    when: _Text

    @classmethod
    def of(cls, number: int, form: Form, run: Run) -> KeptRun:
        """What is kept of a run with the settings of `form`."""
        result = run.result()
        figure = result.estimate
        loud = dict.fromkeys(each.symptom for one in run.results for each in one.loud)
        return cls(
            number=number,
            **{name: getattr(form, name) for name in _SETTINGS},
            what=result.what,
            unit=result.unit,
            value=figure.value if figure else None,
            low=figure.low if figure else None,
            high=figure.high if figure else None,
            warnings=list(dict.fromkeys(symptom[:400] for symptom in loud))[:_MOST_WARNINGS],
            when=time_now(),
        )

    @property
    def form(self) -> Form:
        """The settings of the run."""
        return Form(**{name: getattr(self, name) for name in _SETTINGS})

    def value_as_text(self) -> tuple[str, str]:
        """The value with its unit, and its interval; the second is '' without a figure."""
        if self.value is None or self.low is None or self.high is None:
            return "no figure", ""
        estimate = Estimate(self.value, self.low, self.high, self.unit, "", 0, 0)
        value, low, high = sensible(estimate)
        sign = unit_symbol(self.unit)
        return f"{value} {sign}", f"{low} to {high} {sign}"


def table_of(runs: tuple[KeptRun, ...], shown: int | None) -> str:
    """The runs as a table in HTML; number `shown` is the one whose plot is shown.

    Warnings have a row of their own: in a column of a narrow window they would be very long.
    """
    rows = []
    for each in reversed(runs):
        value, interval = each.value_as_text()
        rows.append(
            {
                "number": each.number,
                "shown": each.number == shown,
                "settings": settings_as_text(each.form),
                "value": value,
                "interval": interval,
                "warnings": "; ".join(each.warnings),
            }
        )
    return filled(_RUNS, runs=rows)


def read(folder: Path, save: str, kernel: str) -> tuple[KeptRun, ...]:
    """The runs of the panel that saves under the name `save`, the oldest first.

    Leaves out runs of another C kernel and entries that are no runs. An unusable file has none.
    """
    try:
        text = json_text.text_of(read_bounded(_path(folder, save), limits.MOST_JSON_BYTES))
        stated = json_text.parse_json(text)
    except (OSError, IsLinked, json_text.BadJson):
        return ()
    entries = stated.get("runs") if isinstance(stated, dict) else None
    found = [_run(entry) for entry in entries] if isinstance(entries, list) else []
    mine = [each for each in found if each is not None and each.kernel == kernel]
    return tuple(sorted(mine, key=lambda each: each.number))[-MOST_RUNS:]


def write(folder: Path, save: str, runs: tuple[KeptRun, ...]) -> None:
    """Keep the newest of `runs`. Where nothing can be written, the panel still shows them."""
    stored = [each.model_dump() for each in runs[-MOST_RUNS:]]
    text = json.dumps({"runs": stored}, indent=1, ensure_ascii=False) + "\n"
    with contextlib.suppress(CannotWrite, IsLinked):
        write_atomically(_path(folder, save), text.encode())


def _run(entry: object) -> KeptRun | None:
    stored = KeptRun.or_none(entry)
    if stored is None or stored.unit not in NAMES:
        return None
    known = {each is None for each in (stored.value, stored.low, stored.high)}
    return stored if len(known) == 1 else None


def _path(folder: Path, save: str) -> Path:
    """Where the runs are kept. Raises IsLinked: a file of another folder is not of this panel."""
    must_not_be_linked(folder)
    return folder / RECORDINGS / f"{save}.runs.json"


# The plot of the last runs has one axis, and each run is named beside its figure.

#: So many runs are compared.
MOST = 3
#: A longer name, in characters, would leave too little room for the plot.
_LONGEST = 40


def comparable(runs: Sequence[KeptRun]) -> tuple[KeptRun, ...]:
    """The last runs with a figure of the same kind as the newest one, the oldest first."""
    known = [each for each in runs if each.value is not None]
    if not known:
        return ()
    newest = known[-1]
    alike = [each for each in known if (each.what, each.unit) == (newest.what, newest.unit)]
    return tuple(alike[-MOST:])


def drawing_of(runs: Sequence[KeptRun]) -> Drawing | None:
    """The last runs of a panel on one axis; None if fewer than two can be compared."""
    chosen = comparable(runs)
    if len(chosen) < 2:
        return None
    marks = []
    for name, each in zip(_names(chosen), chosen, strict=True):
        assert each.value is not None  # comparable
        kind = "figure" if each is chosen[-1] else "earlier"
        text = each.value_as_text()[0].rpartition(" ")[0]
        marks.append(Mark(name, each.value, kind, each.low, each.high, text))
    drawn = value_drawing(marks, chosen[-1].unit)
    return replace(drawn, description=_described(chosen), table=_table(chosen))


def _names(chosen: Sequence[KeptRun]) -> list[str]:
    """A name for each run: its number, its variant, and the settings in which the runs differ."""
    forms = [each.form for each in chosen]
    only = {name for form in forms for name in differing(forms[0], form)}
    names = [f"{each.number}: {settings_as_text(each.form, only)}" for each in chosen]
    return [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in names]


def _described(chosen: Sequence[KeptRun]) -> str:
    newest, before = chosen[-1], chosen[-2]
    kind = (
        f"Dot plot of the last {len(chosen)} runs of this panel: the {newest.what} with its 95 % "
        f"interval, in {NAMES[newest.unit]}, on one axis."
    )
    assert newest.value is not None and before.value is not None
    side = "above" if newest.value > before.value else "below"
    words = (
        f"The figure of run {newest.number} lies {side} that of run {before.number}, and the two "
        "are distinguishable."
        if confidence.side(_figure(newest), _figure(before))
        else f"The figures of run {newest.number} and run {before.number} are not distinguishable."
    )
    values = ", ".join(f"run {each.number}: {each.value_as_text()[0]}" for each in chosen)
    return " ".join((kind, words, f"The figures of the runs: {values}."))


def _figure(run: KeptRun) -> Estimate:
    """The figure of a run, without its processes: two runs have none in common."""
    assert run.value is not None
    low, high = (run.value if end is None else end for end in (run.low, run.high))
    return Estimate(run.value, low, high, run.unit, run.what, 0, 0)


def _table(chosen: Sequence[KeptRun]) -> Table:
    rows = tuple(
        (f"{each.number}: {settings_as_text(each.form)}", *each.value_as_text()) for each in chosen
    )
    return Table("The runs compared", ("run", "value", "95 % interval"), rows)
