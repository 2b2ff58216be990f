"""Conditions in the header of a recording that no run states."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from support.hostile.case import Hostile, changed
from support.hostile.too_many import LAB, RECORDING, WITHOUT

#: By what they do: a condition that is replaced or added, and its value.
CONDITIONS = {
    "the counter runs at 0 Hz": ("clock.fenced.frequency_hz", "0"),
    "the counter runs backwards": ("clock.fenced.frequency_hz", "-2.6e9"),
    "the frequency is no number": ("clock.fenced.frequency_hz", "nan"),
    "the frequency has a million digits": ("clock.fenced.frequency_hz", "9" * 1_000_000),
    "the step is enormous": ("clock.fenced.step", "1e300"),
    "the step is negative": ("clock.fenced.step", "-1"),
    "a cycle takes no time": ("core_cycle_ticks", "0"),
    "a cycle takes forever": ("core_cycle_ticks", "inf"),
    "an operation has no parts": ("variant.fenced.parts", "0"),
    "the baseline is the variant itself": ("variant.fenced.baseline", "fenced"),
    "the baseline is missing": ("variant.fenced.baseline", "nothing"),
    "the baseline is contained a million times": ("variant.fenced.baseline_times", "1e308"),
    "the kernel draws over the page": ("kernel", r"$\smash{\rlap{\rule{900em}{900em}}}$"),
    "the kernel is another file": ("kernel", "../../../etc/passwd"),
    "the kernel clears the terminal": ("kernel", "\x1b[2Jtimer_overhead"),
    "the compiler runs a script": ("compiler", "<img src=x onerror=alert(1)>"),
    "the machine loads a picture": ("machine.cpu", "![x](//spy.example/x.png)"),
    "the system turns the writing around": ("os", "Linux \u202e6.1"),
    "the CPUs are a list without end": ("cpu.allowed", ",".join(["0-8191"] * 300)),
    "the CPUs run backwards": ("cpu.allowed", "8191-0"),
    "the date is none": ("created", "yesterday, I think"),
    "the date is before dates": ("created", "0000-00-00T00:00:00+99:99"),
    "the command is a shell": ("command", "labs measure x; rm -rf ~ `id` $(id) '"),
    "the hash is short": ("samples.sha256", "0"),
    "the batch sizes are words": ("batch", "many,more"),
    "the rounds are no numbers": ("core_width.after", "a b c"),
    "the width is infinite": ("core_width.best", "inf"),
    "the stores are no numbers": ("core_stores", "a b c"),
    "the most stores are none": ("core_stores.best", "-1"),
}


def _with_condition(key: str, value: str, folder: Path) -> None:
    path = folder / RECORDING
    text = path.read_text(encoding="utf-8")
    line = f"# {key}: {value}\n"
    # A function: `re.sub` would read \s and \r in the value.
    replaced, count = re.subn(rf"(?m)^# {re.escape(key)}: .*\n", lambda _: line, text, count=1)
    head, mark, rows = text.partition("variant,process")
    path.write_text(replaced if count else head + line + mark + rows, encoding="utf-8")


CASES = [
    Hostile(name, "header", LAB, changed(LAB, partial(_with_condition, *condition)), keeps=WITHOUT)
    for name, condition in CONDITIONS.items()
]
