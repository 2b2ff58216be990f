"""Files of a submission that exist but that we may not read: not graded, and never a zero."""

from __future__ import annotations

import os
from pathlib import Path

from labs.c_kernels.catalogue import sources_beside
from labs.course import figures
from labs.course.figures import BadFigure, BadFigures, Figure


def denied(folder: Path, *names: str) -> str | None:
    """Which of the files `names` in `folder` may not be read, and what to do; None if all may.

    Without names, `folder` itself is tried. A file that is missing or is no file is not denied:
    its reader says so.
    """
    for path in [Path(folder) / name for name in names] or [Path(folder)]:
        try:
            # Without O_NONBLOCK, opening a pipe would wait for its writer.
            os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        except PermissionError:
            closed = _closed(path)
            return f"{closed} may not be read; allow it with `chmod -R u+rwX {closed}`, then retry"
        except OSError:
            continue
    return None


def evidence_of(figure: Figure | BadFigure | None) -> tuple[str, ...]:
    """The files that may belong to a figure: its recording, and the C or C++ next to it."""
    name = figure.recording if isinstance(figure, Figure) else None
    return () if name is None else (name, *map(str, sources_beside(Path(name))))


def denied_evidence(folder: Path) -> str | None:
    """The same as `denied`, for all the evidence in `folder` that `figures.json` names."""
    trouble = denied(folder, figures.FILE_NAME)
    if trouble is not None:
        return trouble
    try:
        submitted = figures.read(folder)
    except BadFigures:
        return None
    names = [name for figure in submitted.values() for name in evidence_of(figure)]
    return denied(folder, *names) if names else None


def _closed(path: Path) -> Path:
    """The file or the outermost folder on the way to `path` that denies it."""
    for part in [*reversed(path.parents), path]:
        try:
            part.lstat()
        except PermissionError:
            return part.parent
        except OSError:
            return path
    return path
