"""Keep the C of a student beside the recording that was made from it.

The grader reads the C only if its hash is the one that the recording states.
"""

from __future__ import annotations

from pathlib import Path

from labs.c_kernels import toolchain
from labs.common import limits, paths
from labs.common.files import read_bounded, write_atomically
from labs.recording.file import BadRecording, Recording, read
from labs.run.plan import BadPlan, Plan


def must_not_replace_other_c(plan: Plan, save: Path) -> None:
    """Raise BadPlan if saving the run would destroy C that no recording there was made from."""
    place = save.with_suffix(".c")
    source = _source(plan)
    if source is None or not place.exists() or place.samefile(source):
        return
    try:
        text = read_bounded(place, limits.MOST_SOURCE_BYTES).decode("utf-8")
        stated = read(save).conditions.get("source.sha256")
    except (OSError, ValueError, BadRecording):
        stated = text = None
    if text is None or toolchain.source_hash(text) not in (stated, _hash(source)):
        raise BadPlan(
            f"--save {save}: the C is saved next to it, and {place} holds other C; choose "
            "another name"
        )


def save_c(plan: Plan, recording: Recording, save: Path) -> None:
    """Write the C of `plan` beside the recording that goes to `save`, if it is the student's file.

    Raises files.CannotWrite, and ValueError if the file has changed since it was measured.
    """
    source = _source(plan)
    if source is None:
        return
    text = source.read_text(encoding="utf-8")
    if toolchain.source_hash(text) != recording.conditions.get("source.sha256"):
        raise ValueError(f"{source} was changed while it was measured; run it again")
    place = save.with_suffix(".c")
    if not (place.exists() and place.samefile(source)):
        write_atomically(place, text.encode())


def _source(plan: Plan) -> Path | None:
    """The file that `plan` measures; None if it is a C kernel of the kit or no file."""
    source = Path(plan.kernel)
    if plan.source is not None or source.suffix != ".c":
        return None
    return None if source.resolve().is_relative_to(paths.kernels_c()) else source


def _hash(source: Path) -> str:
    return toolchain.source_hash(source.read_text(encoding="utf-8"))
