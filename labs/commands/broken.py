"""`labs broken`: the C kernels that are wrong on purpose, or one of them next to its twin."""

from __future__ import annotations

import argparse

from labs.commands.list import list_broken
from labs.commands.said import complain
from labs.common import paths
from labs.run import broken

USAGE = 2


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or run a pair and print it; the exit status is that of `labs measure`."""
    try:
        if arguments.name is None:
            list_broken(arguments.json)
            return 0
        kernel = broken.find(arguments.name)
    except (broken.NoSuchBroken, broken.BadBroken, paths.PartMissing) as error:
        complain("labs broken", error)
        return USAGE
    # Here: the list needs nothing that measures, which takes long to load.
    from labs.commands import broken_pair

    return broken_pair.run(kernel, arguments)
