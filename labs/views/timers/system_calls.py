"""The view of system calls: how often the samples of a variant enter the OS kernel, by strace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labs.common.messages import Message
from labs.common.table import Table
from labs.common.units import rounded
from labs.views.gather import refused
from labs.views.strace import NoTrace, calls_of_summary, traced


def system_calls(
    kernel: str, variants: str | Sequence[str], call: str = "all", samples: int = 100
) -> Table | Message:
    """How many system calls one sample of each variant makes, as strace counts them.

    `call` is the name of a system call, or "all". Each variant runs twice: with `samples` samples,
    and with twice as many. What the program calls besides its samples is in both counts, so the
    difference belongs to the samples. Where strace cannot count, a note says why. Raises Refused
    for an unknown C kernel or variant.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", call) or samples < 1:
        raise refused("name one system call, and count 1 sample or more", 'Such as "getppid".')
    rows = []
    names = variants.split(",") if isinstance(variants, str) else variants
    for variant in (name.strip() for name in names):
        try:
            few, many = (_counted(kernel, variant, call, n * samples) for n in (1, 2))
        except NoTrace as why:
            return Message("note", f"strace does not count {variant} here", (f"{why}.",))
        each = rounded((many - few) / samples)
        rows.append((variant, f"{few:,}", f"{many:,}", each))
    number_1, number_2 = f"{samples:,}", f"{2 * samples:,}"
    what = "system calls" if call == "all" else f"calls of {call}"
    return Table(
        f"{kernel}: {what} counted by strace",
        ("variant", f"with {number_1} samples", f"with {number_2}", "so one sample makes"),
        tuple(rows),
    )


def _counted(kernel: str, variant: str, call: str, samples: int) -> int:
    asked = ("-f", "-c", "-e", f"trace={call}")
    summary, _ = traced(kernel, variant, asked, ("--samples", str(samples)))
    return calls_of_summary(summary)
