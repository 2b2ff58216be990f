"""How a command ends: with which exit status, and with which words if it cannot go on.

It has a status also if it is interrupted or nobody reads its output.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable

from labs.terminal import NobodyReads, print_in_any_encoding, say

#: As a shell reports a program that a signal ended: 128 plus the number of SIGINT or SIGPIPE.
INTERRUPTED, NOBODY_READS = 130, 141

#: A command without a subcommand printed its help, and did nothing. As `git` alone does.
NOTHING_ASKED = 1


def status_of(command: Callable[[], int]) -> int:
    """Carry out `command` and return its exit status.

    If the reader of the output has gone, as in `labs broken | head -3`, it prints no error.
    Raises SystemExit with one line if the disk has no room for the output.
    """
    print_in_any_encoding()
    try:
        try:
            return command()
        except KeyboardInterrupt:
            say("interrupted", file=sys.stderr)
            return INTERRUPTED
        finally:
            if sys.stdout is not None:  # None: standard output was closed from the beginning
                # Otherwise Python would write its buffer at exit, too late for us to report errors.
                sys.stdout.flush()
    except (NobodyReads, BrokenPipeError):
        _drop_the_rest()
        return NOBODY_READS
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _drop_the_rest()
        what = error.filename or "the output"
        raise SystemExit(f"cannot write {what}: {error.strerror}") from error


def _drop_the_rest() -> None:
    """Discard the buffered output, so that Python does not try to write it again at exit."""
    with contextlib.suppress(OSError, ValueError):  # standard output may have no file descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def complain(command: str, why: str | Exception, status: int = 1) -> int:
    """Print why `command` cannot go on, to standard error, and return its exit `status`."""
    # Here: an answer such as that of --version needs no files.
    from labs.files import explained

    text = explained(why) if isinstance(why, Exception) else why
    say(f"{command}: {text}", file=sys.stderr)
    return status
