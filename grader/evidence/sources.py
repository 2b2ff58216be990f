"""The C behind a recording: of a released or a broken C kernel, or the student's own.

A recording states the hash of its source. We take a source for the measured one only if it has
this hash, or if an earlier version of the same C kernel of the kit had it.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

from grader.figures.case import Case
from labs import limits, paths
from labs.c_kernels import toolchain
from labs.c_kernels.catalogue import sources_beside
from labs.files import read_bounded
from labs.json_text import text_of
from labs.recording.file import Recording
from labs.run import broken


def source_of(recording: Recording, saved: Path | None = None) -> str | None:
    """The C or C++ that `recording` was made from; None if it is unknown.

    `saved` is where the recording lies. The files next to it may be anything or may not exist.
    """
    stated = recording.conditions.get("source.sha256", "")
    known = released_sources().get(stated) or broken_sources().get(stated)
    beside = None if known is not None or saved is None else source_beside(recording, saved)
    return known if beside is None else beside[1]


def source_beside(recording: Recording, saved: Path) -> tuple[Path, str] | None:
    """The file next to `saved` that the recording there was made from, and its text."""
    stated = recording.conditions.get("source.sha256")
    for place in sources_beside(saved):
        try:
            text = text_of(read_bounded(place, limits.MOST_SOURCE_BYTES))
        except (OSError, ValueError):
            continue
        # It is the same C if an editor or a transfer has changed the line ends or the encoding.
        for form in (text, text.replace("\r\n", "\n")):
            if toolchain.source_hash(form) == stated:
                return place, form
    return None


def own_source(case: Case) -> str | None:
    """The C that was measured, if it is known and not a released C kernel; else None.

    Tests check that the released C kernels make no mistake in their C.
    """
    if case.recording.conditions.get("source.sha256") in released_sources():
        return None
    return case.source


@functools.lru_cache(maxsize=1)
def released_sources() -> dict[str, str]:
    """By hash, the sources of the released C kernels; of an earlier version, that of today."""
    return _by_hash("released", paths.kernels_c())


@functools.lru_cache(maxsize=1)
def broken_sources() -> dict[str, str]:
    """The same of the C kernels that are wrong on purpose."""
    return _by_hash("broken", paths.kernels_c() / "broken")


def _by_hash(kind: str, folder: Path) -> dict[str, str]:
    """`kernel_hashes.json` lists the hashes of each version, because students may hand in a
    recording after an update of the kit."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.c"))}
    known = {toolchain.source_hash(text): text for text in texts.values()}
    listed = json.loads(Path(__file__).with_name("kernel_hashes.json").read_text(encoding="utf-8"))
    for name, hashes in listed[kind].items():
        if name in texts:
            known |= dict.fromkeys(hashes, texts[name])
    return known


def is_of_the_kit(recording: Recording) -> bool:
    """Whether `recording` was made with a C kernel of the kit, broken or not."""
    stated = recording.conditions.get("source.sha256", "")
    return stated in released_sources() or stated in broken_sources()


def broken_name(recording: Recording) -> str | None:
    """The name of the broken C kernel, by the hash of its source; None if it is none."""
    source = broken_sources().get(recording.conditions.get("source.sha256", ""))
    if source is None:
        return None
    named = (each for each in map(broken.find, broken.names()) if each.source == source)
    return next((each.name for each in named), None)
