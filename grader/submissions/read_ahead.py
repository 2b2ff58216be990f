"""Has the OS read the files of a submission before somebody needs them.

A large class does not fit into memory, so each submission comes from the disk. A process that
judges would wait for it; while it judges one, the OS can fetch the next ones.
"""

from __future__ import annotations

import contextlib
import os
from itertools import islice
from pathlib import Path

from grader.submissions.folders import open_folder, open_regular, opened
from labs.common.limits import MOST_FILE_BYTES, MOST_FILES

#: Where evidence lies in a submission.
_RECORDINGS = "recordings"


def read_ahead(folder: Path, trusted: Path) -> None:
    """Asks the OS to read the regular files in `folder` and its recordings; it does not wait.

    No link below `trusted` is followed. What cannot be read is left to whoever needs it. Nothing
    happens on an OS that cannot be asked.
    """
    if not hasattr(os, "posix_fadvise"):  # macOS
        return
    with contextlib.suppress(OSError, ValueError), opened(folder, trusted) as top:
        _advise(top)
        with contextlib.suppress(OSError):
            below = open_folder(_RECORDINGS, top)
            try:
                _advise(below)
            finally:
                os.close(below)


def _advise(folder: int) -> None:
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MOST_FILES)]
    for name in names:
        with contextlib.suppress(OSError):
            file = open_regular(name, folder)
            try:
                os.posix_fadvise(file, 0, MOST_FILE_BYTES, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(file)
