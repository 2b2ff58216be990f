"""What a panel is set to, as plain values: the plan it makes, and the line of Python for it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from labs.common import limits
from labs.languages.words import words
from labs.machine import surroundings
from labs.run.declared_options import DEFAULT_SAMPLES, DEFAULT_WARMUP
from labs.run.options import plan_of
from labs.run.plan import BadPlan, Plan

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

    def plan(self) -> Plan:
        """The plan. Raises BadPlan where it cannot be carried out, in the words of the panel."""
        self._check_cpus()
        plan = plan_of(
            self.kernel,
            self.variant,
            flags=self.flags,
            samples=self.samples,
            cpu=self.cpu,
            peer_cpu=self.peer_cpu,
            warmup=self.warmup,
            processes=self.processes,
        )
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
        parts.append(f'save="{self.save}"')
        return f"run = lab.measure({', '.join(parts)})"


def settings_as_text(form: Form, only: Collection[str] | None = None) -> str:
    """The settings in a few words: variant and samples, and what differs from the usual.

    With `only`, exactly the settings of these names, and the variant.
    """
    cpus = [words("not pinned") if cpu is None else str(cpu) for cpu in (form.cpu, form.peer_cpu)]
    said = {
        "variant": (form.variant or words("the first variant"), True),
        "samples": (words("{number_1} samples").format(number_1=f"{form.samples:,}"), True),
        "cpu": (f"CPU {cpus[0]}", form.cpu is not None),
        "peer_cpu": (words("peer's CPU {cpu}").format(cpu=cpus[1]), form.peer_cpu is not None),
        "warmup": (
            words("warm-up {number_1}").format(number_1=f"{form.warmup:,}"),
            form.warmup != DEFAULT_WARMUP,
        ),
        "processes": (
            words("1 process")
            if form.processes == 1
            else words("{number_1} processes").format(number_1=form.processes),
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


def changes_as_text(before: Form, now: Form) -> str:
    """The settings that differ, each as it was and as it is; '' if none does."""
    return "; ".join(
        f"{words(LABELS[name])}: {_value(before, name)} → {_value(now, name)}"
        for name in differing(before, now)
    )


def differing(one: Form, other: Form) -> tuple[str, ...]:
    """The names of the settings in which two forms differ, in the order of the panel."""
    return tuple(name for name in LABELS if getattr(one, name) != getattr(other, name))


def _value(form: Form, name: str) -> str:
    value = getattr(form, name)
    if value is None:
        return words("not pinned")
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
