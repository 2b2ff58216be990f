"""`labs broken`: run a C kernel that is wrong on purpose next to its repaired twin."""

from __future__ import annotations

import argparse
import json
import sys

from labs.c_kernels import toolchain
from labs.commands import measure
from labs.commands.measure import FAILED, IMPOSSIBLE, USAGE
from labs.common.table import in_columns
from labs.common.terminal import say
from labs.common.units import UnknownUnit, canonical
from labs.notebook.broken_pair import Pair, plans
from labs.notebook.run import Run
from labs.run import broken, c_process
from labs.run.measure import BadPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `labs broken`."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the C kernel to run (default: list all of them)"
    )
    parser.add_argument("--unit", default="ns", help="ticks, cycles, ns, us, ms or s")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or run a pair and print it; the exit status is that of `labs measure`."""
    if arguments.name is None:
        _print_list(arguments.json)
        return 0
    try:
        unit = canonical(arguments.unit)
        kernel = broken.find(arguments.name)
        runs = []
        for plan in plans(kernel):
            plan.check()
            runs.append(Run.of(measure.carry_out(plan), plan.variants, unit))
        pair = Pair(kernel, *runs)
        output = json.dumps(pair.as_json(), indent=2) if arguments.json else pair.as_text()
    except (BadPlan, UnknownUnit, broken.NoSuchBroken, FileNotFoundError, ValueError) as error:
        return _stop(error, USAGE)
    except c_process.RunFailed as error:
        return _stop(error, IMPOSSIBLE if error.impossible_here else FAILED)
    except (toolchain.NoCompiler, toolchain.CompileError, OSError) as error:
        return _stop(error, FAILED)
    say(output)  # outside the `try`, because a closed pipe is an OSError too
    return 0


def _print_list(as_json: bool) -> None:
    kernels = [broken.find(name) for name in broken.names()]
    if as_json:
        entries = [{"name": k.name, "mistake": k.mistake, "repaired": " ".join(k.twin)}
                   for k in kernels]  # fmt: skip
        say(json.dumps(entries, indent=2))
        return
    say("\n".join(in_columns([(kernel.name, kernel.mistake) for kernel in kernels])))


def _stop(error: Exception, status: int) -> int:
    say(f"labs broken: {error}", file=sys.stderr)
    return status
