"""Whether a recording was made with one of the kit's C kernels that are wrong on purpose."""

from __future__ import annotations

from grader.facts.sources import broken_sources, hashes_by_name
from labs.recording.file import Recording
from labs.run import broken


def name_of(recording: Recording) -> str | None:
    """The name of the broken C kernel, of any version of the kit, by the hash of its source."""
    stated = recording.conditions.get("source.sha256", "")
    for name, hashes in hashes_by_name()["broken"].items():
        if stated in hashes:
            return name
    source = broken_sources().get(stated)
    if source is None:
        return None
    named = (each for each in map(broken.find, broken.names()) if each.source == source)
    return next((each.name for each in named), None)
