"""How a command ends: its exit status, also where it is interrupted or nobody reads its output."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable

#: As the shell tells of a program that a signal ended: 128 and the number of SIGINT, of SIGPIPE.
INTERRUPTED, NOBODY_READS = 130, 141


def status_of(command: Callable[[], int]) -> int:
    """Carry out `command`; returns its exit status.

    Where the reader of its output has gone, as in `labs broken | head -3`, it ends without a word.
    Raises SystemExit with one line where there is no room for what it writes.
    """
    try:
        try:
            return command()
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        finally:
            if sys.stdout is not None:  # closed from the beginning
                # Python would write what is still held back at its end, too late to say anything.
                sys.stdout.flush()
    except BrokenPipeError:
        _drop_the_rest()
        return NOBODY_READS
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _drop_the_rest()
        what = error.filename or "the output"
        raise SystemExit(f"cannot write {what}: {error.strerror}") from error


def _drop_the_rest() -> None:
    """Send what is still held back nowhere, so that Python does not try again at its end."""
    with contextlib.suppress(OSError, ValueError):  # not everything that is printed to is a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
