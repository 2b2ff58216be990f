"""Signs that a recording does not come from a run: made up, edited, or copied from the project.

Nothing on a student's machine can prove that a run took place. A person can be told what does not
fit together. Each sign is one that an honest run does not have.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shlex
from functools import cache
from pathlib import Path

import numpy as np

from grader.facts.row_order import follows_seed
from grader.facts.sources import broken_hashes
from labs.recording.file import Recording
from labs.recording.memo import memoized

_SAVED_RUNS = Path(__file__).with_name("saved_runs.json")
#: What the kit writes into every recording.
_ALWAYS = ("source.sha256", "command", "os")
#: The kit runs on these systems, and did not exist before this date.
_SYSTEMS, _FIRST = ("Linux", "Darwin"), datetime.date(2026, 1, 1)
#: A clock may be wrong by a time zone.
_WRONG_CLOCK = datetime.timedelta(days=1)
#: So many samples of one batch size, each of so many steps of the counter, are never all equal.
_EQUAL_SAMPLES, _STEPS = 10, 20


def signs(recording: Recording, handed_in: datetime.datetime | None = None) -> list[str]:
    """What a person should look at, each a clause; `handed_in` is when the submission was made."""
    return [
        *_missing(recording),
        *_contradictions(recording),
        *_dates(recording, handed_in),
        *_too_even(recording),
        *_copies(recording),
    ]


def _missing(recording: Recording) -> list[str]:
    missing = [key for key in _ALWAYS if not recording.condition(key)]
    if len(recording.condition("seed")) not in (1, len(recording.processes)):
        missing.append("seed")
    return [f"the recording does not state {', '.join(missing)}"] if missing else []


@memoized
def _contradictions(recording: Recording) -> list[str]:
    found = []
    # Some broken C kernels measure in another order on purpose.
    is_broken = recording.conditions.get("source.sha256", "") in broken_hashes()
    if not is_broken and follows_seed(recording) is False:
        found.append("the rows are not in the order that the recorded seeds give")
    systems = {text.split(" ")[0] for text in recording.condition("os")}
    if systems - set(_SYSTEMS):
        found.append(f"the kit does not run on {', '.join(sorted(systems - set(_SYSTEMS)))}")
    asked = _variants_of(recording.conditions.get("command", ""))
    if absent := [name for name in asked if name not in recording.variants]:
        found.append(
            f"the command asks for {', '.join(absent)}, but the recording has no sample of this"
        )
    return found


def _variants_of(command: str) -> list[str]:
    """The variants that a command names; none where it names none."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    if "--variant" not in words[:-1]:
        return []
    return words[words.index("--variant") + 1].split(",")


def _dates(recording: Recording, handed_in: datetime.datetime | None) -> list[str]:
    stated = recording.conditions.get("created", "")
    try:
        created = datetime.datetime.fromisoformat(stated)
    except ValueError:
        return []
    if created.date() < _FIRST:
        return [f"the recording was made at {stated}, before the kit existed, or a clock was wrong"]
    if handed_in is None or created.tzinfo is None or created <= handed_in + _WRONG_CLOCK:
        return []
    return [f"the recording was made at {stated}, after it was handed in, or a clock was wrong"]


@memoized
def _too_even(recording: Recording) -> list[str]:
    """A sign if no sample of the run differs from the others of its variant and batch size."""
    steady = recording.sample >= 0
    if int(steady.sum()) < _EQUAL_SAMPLES:
        return []
    cell = recording.variant_index[steady] * (1 << 40) + recording.batch[steady]
    ticks, order = recording.ticks[steady], np.argsort(cell, kind="stable")
    begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
    count = np.diff(np.append(begins, len(order)))
    least = np.minimum.reduceat(ticks[order], begins)
    most = np.maximum.reduceat(ticks[order], begins)
    step = max(recording.number("counter.step") or 1.0, 1.0)
    enough = (count >= _EQUAL_SAMPLES) & (least >= _STEPS * step)
    if not enough.any() or (least[enough] != most[enough]).any():
        return []
    return ["in every batch size all samples are equal, which no real run shows"]


def _copies(recording: Recording) -> list[str]:
    own = set(fingerprints(recording))
    return ["the recording is a saved run of the project"] if own & saved_runs() else []


@memoized
def fingerprints(recording: Recording) -> tuple[str, ...]:
    """What only this run has: its ticks, and the seeds of its processes where it states them.

    A copy keeps one of them, unless somebody changed both.
    """
    ticks = np.ascontiguousarray(recording.ticks, dtype="<i8").tobytes()
    found = [_short_hash(b"ticks", ticks)] if len(recording) else []
    seeds = " ".join(recording.condition("seed"))
    # The seed of one process may be drawn twice in a large class; those of several are not.
    if len(recording.condition("seed")) > 1:
        found.append(_short_hash(b"seeds", seeds.encode("utf-8", "replace")))
    return tuple(found)


def _short_hash(kind: bytes, content: bytes) -> str:
    return hashlib.sha256(kind + b"\0" + content).hexdigest()[:20]


@cache
def saved_runs() -> frozenset[str]:
    """The fingerprints of the recordings that the project publishes with its tests."""
    return frozenset(json.loads(_SAVED_RUNS.read_text(encoding="utf-8")))
