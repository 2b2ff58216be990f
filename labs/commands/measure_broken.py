"""What `labs broken NAME` does: measure a broken C kernel and its repaired twin, and print both."""

from __future__ import annotations

import argparse

from labs.c_kernels import toolchain
from labs.commands import measure
from labs.commands.measure import FAILED, IMPOSSIBLE, USAGE
from labs.commands.said import complain
from labs.notebook.broken_pair import Pair, plans
from labs.notebook.run import Run
from labs.run import c_process
from labs.run.broken import BrokenKernel
from labs.run.measure import BadPlan
from labs.terminal import say, say_json
from labs.units import UnknownUnit, canonical


def measure_broken(kernel: BrokenKernel, arguments: argparse.Namespace) -> int:
    """Run the pair and print it; the exit status is that of `labs measure`."""
    try:
        unit = canonical(arguments.unit)
        runs = []
        for plan in plans(kernel):
            plan.check()
            (recording,) = measure.carry_out((plan,))
            runs.append(Run.of(recording, plan.variants, unit))
        pair = Pair(kernel, *runs)
        output = pair.as_json() if arguments.json else pair.as_text()
    except (BadPlan, UnknownUnit, FileNotFoundError, ValueError) as error:
        return _stop(error, USAGE)
    except c_process.RunFailed as error:
        return _stop(error, IMPOSSIBLE if error.impossible_here else FAILED)
    except (toolchain.NoCompiler, toolchain.CompileError, OSError) as error:
        return _stop(error, FAILED)
    # Outside the `try`, because a closed pipe is an OSError too.
    if arguments.json:
        say_json(output)
    else:
        say(output)
    return 0


def _stop(error: Exception, status: int) -> int:
    complain("labs broken", error)
    return status
