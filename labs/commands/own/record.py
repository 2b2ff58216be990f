"""`labs record`: measure one C kernel, and keep the recording under a name that is free."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from labs.commands import measure


def run(arguments: argparse.Namespace) -> int:
    """Measure as `labs measure --save` does; the exit status is that of `labs measure`."""
    if arguments.save is None:
        arguments.save = free_name(Path(arguments.kernel).stem, Path())
    return measure.run(arguments)


def free_name(kernel: str, folder: Path) -> Path:
    """`KERNEL.csv` in `folder`, or `KERNEL-2.csv` and so on: no recording is replaced unasked."""
    names = itertools.chain((kernel,), (f"{kernel}-{n}" for n in itertools.count(2)))
    paths = (folder / f"{name}.csv" for name in names)
    return next(path for path in paths if not path.exists() and not path.is_symlink())
