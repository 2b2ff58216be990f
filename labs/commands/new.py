"""`labs new`: write a C kernel of one's own that can be measured at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from labs.c_kernels.toolchain import write_new
from labs.commands.said import complain
from labs.files import explained
from labs.paths import PartMissing
from labs.terminal import say

FAILED, USAGE = 1, 2


def run_new(arguments: argparse.Namespace) -> int:
    """Write the file; status 2 for a name that cannot be used, 1 if nothing could be written."""
    try:
        path = write_new(arguments.name, Path())
    except ValueError as error:
        return _stop(str(error), USAGE)
    except (PartMissing, OSError) as error:
        return _stop(explained(error), FAILED)
    about = f"{path} measures what one byte into a pipe costs. Replace that by your own question."
    say(about)
    say(f"  labs measure {path}   builds it and measures it")
    return 0


def _stop(why: str, status: int) -> int:
    complain("labs new", why)
    return status
