"""The view of walks through memory: what each visited, and which pages the OS gave for it."""

from __future__ import annotations

from labs.common.table import Table
from labs.common.units import rounded
from labs.recording.file import Recording
from labs.views.gather import Runs, refused, runs_of, with_warnings

_EXAMPLE = 'lab.measure("memory_ladder", ["random-1m", "ordered-1m"])'
_HEADER = (
    "walk",
    "set, MB",
    "resident, MB",
    "in huge pages, MB",
    "cache lines of the set",
    "lines that the walk goes round",
    "hops as long as one of the four before",
    "samples that ended at the right line",
)


@with_warnings
def walks(run: Runs) -> Table:
    """For each walk of a run: what it visited, and its pages; all counts of one process.

    Of a count that differs between the processes, the smallest and the largest are shown. Raises
    Refused for a run that has no walk through memory.
    """
    rows = [
        row
        for each in runs_of([run])
        for result in each.results
        if (row := _row(each.recording, result.variant)) is not None
    ]
    if not rows:
        raise refused("this run has no walk through memory", f"Measure one: {_EXAMPLE}.")
    caption = "What was walked through, counted outside the timed regions, for one process"
    return Table(caption, _HEADER, tuple(rows)).without_empty()


def _row(recording: Recording, variant: str) -> tuple[str, ...] | None:
    def count(key: str, share: int = 1) -> str:
        known = recording.numbers(f"variant.{variant}.{key}")
        if not known:
            return ""
        ends = (each / share for each in (min(known), max(known)))
        texts = (f"{each:,.0f}" if each >= 100 or share == 1 else rounded(each, 3) for each in ends)
        return " to ".join(dict.fromkeys(texts))

    if recording.total(f"variant.{variant}.set_kb") is None:
        return None
    right, samples = (
        recording.total(f"variant.{variant}.{key}") for key in ("ends_right", "samples_walked")
    )
    return (
        variant,
        count("set_kb", 1024),
        count("resident_kb", 1024),
        count("huge_kb", 1024),
        count("set_nodes"),
        count("nodes_walked"),
        count("same_hops"),
        "" if right is None or not samples else f"{right:,} of {samples:,}",
    )
