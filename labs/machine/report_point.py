"""One point of the report on a machine: its status, what was seen, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["PASS", "CAUTION", "FAIL", "SKIPPED"]


@dataclass(frozen=True)
class Point:
    """One point of the report.

    FAIL means that measuring is impossible until the remedy is applied, CAUTION that figures may be
    worse, and SKIPPED that the point cannot be checked here. `remedy` is for the user, who may have
    no administrator's rights; `administrator` is for whoever set up the machine, if that one can
    change something.
    """

    name: str
    status: Status
    seen: str
    remedy: str | None = None
    administrator: str | None = None
