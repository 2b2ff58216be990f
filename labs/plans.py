"""What the arguments of `lab.measure` ask for: a plan, and the name its recording is saved by."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from labs import figures
from labs.measure import Plan
from labs.messages import Message, Refused

_RECORDING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def plan_of(
    kernel: str, variant: str | Sequence[str] = (), *, flags: str = "-O2", **options: Any
) -> Plan:
    """The plan that these arguments of `lab.measure` make. Raises Refused for unusable flags."""
    names = variant.split(",") if isinstance(variant, str) else list(variant)
    try:
        words = tuple(shlex.split(flags))
    except ValueError as error:
        raise Refused(Message("problem", f"flags {flags!r}: {error}")) from None
    return Plan(
        kernel,
        tuple(name.strip() for name in names if name.strip()),
        flags=words,
        **{**options, "batches": tuple(options.get("batches", ()))},
    )


def name_for(plan: Plan) -> str:
    """What a recording is called where nobody named it: its variant, or its C kernel."""
    return plan.variants[0] if len(plan.variants) == 1 else plan.kernel_name


def recording_name(name: str) -> str:
    """`name` without the ending .csv, where it can name a recording. Raises Refused."""
    name = name.removeprefix(f"{figures.RECORDINGS}/").removesuffix(".csv")
    if _RECORDING_NAME.fullmatch(name) is None:
        what = f"{name!r} cannot name a recording: use letters, digits, dot, hyphen, underscore"
        raise Refused(Message("problem", what))
    return name
