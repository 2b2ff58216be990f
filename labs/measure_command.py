"""`labs measure`: one C kernel, one line of result."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from tqdm import tqdm

from labs import c_process, measure, toolchain, variants
from labs.files import CannotWrite
from labs.recording import BadRecording, Recording
from labs.result import Result, result_of
from labs.units import UnknownUnit, canonical

FAILED, USAGE, IMPOSSIBLE = 1, 2, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `labs measure`."""
    parser.add_argument("kernel", metavar="C_KERNEL", help="name of a C kernel, or a .c file")
    parser.add_argument("--variant", default="", metavar="V[,V...]", help="default: its first")
    parser.add_argument("--samples", type=int, metavar="N", help="per variant")
    parser.add_argument("--batch", type=_batches, default=(), metavar="K,...")
    parser.add_argument("--warmup", type=int, default=100, metavar="N", help="per process")
    parser.add_argument("--cpu", type=int, metavar="N", help="pin to this CPU")
    parser.add_argument("--peer-cpu", type=int, metavar="N", help="pin the second task")
    parser.add_argument("--processes", type=int, default=10, metavar="N", help="fresh processes")
    parser.add_argument(
        "--spread", type=float, default=0.0, metavar="SECONDS", help="over which they start"
    )
    parser.add_argument("--flags", default="-O2", metavar="FLAGS", help="for the C compiler")
    parser.add_argument("--unit", default="ns", help="ticks, cycles, ns, us, ms or s")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the recording there")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit status says whether there is a run, not whether it is good."""
    try:
        unit = canonical(arguments.unit)
        plan = plan_of(arguments)
        plan.check()
        recording = carry_out(plan)
        results = [result_of(recording, name, unit) for name in plan.variants or (None,)]
    except (measure.BadPlan, UnknownUnit, FileNotFoundError, ValueError) as error:
        return _stop(error, USAGE)
    except c_process.RunFailed as error:
        return _stop(error, error.status if error.status in (USAGE, IMPOSSIBLE) else FAILED)
    except (toolchain.NoCompiler, toolchain.CompileError, OSError) as error:
        return _stop(error, FAILED)
    saved = None
    problem: Exception | None = None
    if arguments.save is not None:
        try:
            recording.write(arguments.save)
            saved = str(arguments.save)
        except (CannotWrite, ValueError) as error:
            problem = error
    _print(results, saved, arguments.json)
    # The figure has been printed: a full disk does not cost the run.
    return _stop(problem, FAILED) if problem is not None else 0


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(item) for item in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def plan_of(arguments: argparse.Namespace) -> measure.Plan:
    names = tuple(name for name in arguments.variant.split(",") if name)
    flags = tuple(shlex.split(arguments.flags))
    samples = arguments.samples
    if samples is None:
        samples = variants.samples_of(arguments.kernel, flags)
    return measure.Plan(
        kernel=arguments.kernel,
        variants=names,
        samples=samples,
        batches=arguments.batch,
        warmup=arguments.warmup,
        cpu=arguments.cpu,
        peer_cpu=arguments.peer_cpu,
        processes=arguments.processes,
        flags=flags,
        time_limit_s=arguments.time_limit,
        spread_s=arguments.spread,
    )


def carry_out(plan: measure.Plan) -> Recording:
    """Carry out `plan` under a progress bar, which shows on a terminal only."""
    with tqdm(unit=" intervals", leave=False, disable=None, file=sys.stderr) as bar:

        def progress(at: measure.Progress) -> None:
            bar.total = at.total
            bar.update(at.done - bar.n)

        return measure.measure_now(plan, progress)


def _print(results: list[Result], saved: str | None, as_json: bool) -> None:
    if as_json:
        objects = [result.as_json(saved) for result in results]
        print(json.dumps(objects[0] if len(objects) == 1 else objects, indent=2))
        return
    told: set[str] = set()
    for result in results:
        print(result.sentence())
        for warning in result.warnings:
            if str(warning) not in told:
                print(f"  warning: {warning}")
                told.add(str(warning))
    if saved is not None:
        print(f"  recording: {saved}")


def _stop(error: Exception, status: int) -> int:
    text = error.strerror if isinstance(error, CannotWrite) and error.strerror else str(error)
    if isinstance(error, BadRecording):
        text = f"the C kernel's output is unusable: {text}"
    print(f"labs measure: {text}", file=sys.stderr)
    return status
