"""The names of the recordings in a lab folder."""

from __future__ import annotations

import re

from labs.common.messages import Message, Refused
from labs.course import figures
from labs.run.plan import Plan

_RECORDING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def name_for(plan: Plan) -> str:
    """The default name of a recording: its variant, or its C kernel if it has several variants."""
    return plan.variants[0] if len(plan.variants) == 1 else plan.kernel_name


def recording_name(name: str) -> str:
    """`name` without the suffix .csv, if it is a valid name. Raises Refused."""
    name = name.removeprefix(f"{figures.RECORDINGS}/").removesuffix(".csv")
    if _RECORDING_NAME.fullmatch(name) is None:
        what = f"{name!r} cannot name a recording: use letters, digits, dot, hyphen, underscore"
        raise Refused(Message("problem", what))
    return name
