"""The record that our collect writes into each collected folder; results carry a copy of it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from grader.submissions.safe_copy import read_regular

#: Which entry of the exchange the folder is, when it was handed in, and whose it was.
RECORD = ".ticklab-collected.json"
_MOST_BYTES = 1_000_000


def record_in(folder: Path) -> bytes | None:
    """The record in `folder` as it is; None if there is none."""
    try:
        raw = read_regular(folder / RECORD, _MOST_BYTES)
    except OSError:
        return None
    return raw if len(raw) <= _MOST_BYTES else None


def parsed(raw: bytes | None) -> dict[str, Any]:
    """The record as an object; empty if there is none or if it is not one of ours."""
    try:
        found = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def time_in_record(folder: Path) -> datetime.datetime | None:
    """When the folder was handed in, as its name in the exchange said; None if it has no record."""
    try:
        return datetime.datetime.fromisoformat(parsed(record_in(folder))["when"])
    except (KeyError, TypeError, ValueError):
        return None
