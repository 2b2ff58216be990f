"""One point of the report on a machine: what is seen of it, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["PASS", "CAUTION", "FAIL", "SKIPPED"]


@dataclass(frozen=True)
class Point:
    """One point of the report. FAIL: measuring is impossible until the remedy is applied."""

    name: str
    status: Status
    seen: str
    remedy: str | None = None
