"""What a panel is set to, as plain values: the plan it makes, and the line of Python for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labs.common import limits
from labs.run.options import plan_of
from labs.run.plan import Plan

DEFAULT_SAMPLES, DEFAULT_WARMUP, DEFAULT_PROCESSES, DEFAULT_FLAGS = 10_000, 100, 10, "-O2"

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
        """The plan. Raises BadPlan, naming the control, where it cannot be carried out."""
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

    def as_python(self) -> str:
        """The line that does the same, with what differs from the defaults."""
        words = [f'"{self.kernel}"']
        if self.variant:
            words.append(f'"{self.variant}"')
        words.append(f"samples={self.samples:_}")
        for name, value, default in (
            ("cpu", self.cpu, None),
            ("peer_cpu", self.peer_cpu, None),
            ("warmup", self.warmup, DEFAULT_WARMUP),
            ("processes", self.processes, DEFAULT_PROCESSES),
        ):
            if value != default:
                words.append(f"{name}={value}")
        if self.flags != DEFAULT_FLAGS:
            words.append(f'flags="{self.flags}"')
        words.append(f'save="{self.save}"')
        return f"run = lab.measure({', '.join(words)})"


def slider_place(samples: int) -> float:
    """Where the slider stands for a number of samples: the nearest it can reach."""
    return float(min(max(samples, 10**LEAST_POWER), 10**MOST_POWER))


def samples_at(place: float) -> int:
    """The number of samples for a place of the slider: two significant digits read well."""
    return int(float(f"{place:.2g}"))


def slider_agrees(samples: int, place: float) -> bool:
    """Whether the slider is as near to `samples` as its step lets it be."""
    return abs(math.log10(slider_place(samples)) - math.log10(max(place, 1.0))) < POWER_STEP * 0.9
