"""The options of `lab.measure`, `labs measure` and `%%ckernel`, and the plan made from them."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labs.common.messages import Message, Refused
from labs.run import variants
from labs.run.plan import (
    DEFAULT_AT_MOST_S,
    DEFAULT_PATIENCE_S,
    DEFAULT_REPLACE_S,
    DEFAULT_TIME_LIMIT_S,
    DEFAULT_WARMUP,
    Plan,
)

#: Options in seconds, under their names as fields of a plan.
_IN_SECONDS = {
    "at_most": "at_most_s",
    "replace": "replace_s",
    "time_limit": "time_limit_s",
    "patience": "patience_s",
}


def plan_of(
    kernel: str,
    variant: str | Sequence[str] = (),
    *more: object,
    flags: str = "-O2",
    within: float | None = None,
    **options: Any,
) -> Plan:
    """The plan made from these arguments.

    `within` is in percent. `options` are `at_most`, `replace`, `time_limit` and `patience`, in
    seconds, and further fields of the plan. Raises Refused for unusable flags, and for `more` that
    stands after the variants.
    """
    if more:
        named = ", ".join(each for each in (variant, *more) if isinstance(each, str))
        example = f'Like this: "{named}". ' if named else ""
        advice = f"{example}Give options by name, such as samples=1_000."
        raise Refused(Message("problem", "write all variants in one text, with commas", (advice,)))
    names = variant.split(",") if isinstance(variant, str) else list(variant)
    try:
        words = tuple(shlex.split(flags))
    except ValueError as error:
        raise Refused(Message("problem", f"flags {flags!r}: {error}")) from None
    fields = {_IN_SECONDS.get(name, name): value for name, value in options.items()}
    return Plan(
        kernel,
        tuple(name.strip() for name in names if name.strip()),
        flags=words,
        within=within / 100 if isinstance(within, int | float) else within,
        **{
            "replace_s": DEFAULT_REPLACE_S,
            **fields,
            "batches": tuple(fields.get("batches", ())),
        },
    )


def add_options(parser: argparse.ArgumentParser, samples: int | None) -> None:
    """Add the options of a plan to `parser`; `samples` is the default number of samples."""
    parser.add_argument(
        "--variant",
        default="",
        metavar="V[,V...]",
        help="the variants to measure (default: the first)",
    )
    parser.add_argument(
        "--samples", type=int, default=samples, metavar="N", help="samples per variant"
    )
    parser.add_argument(
        "--batch", type=_batches, default=(), metavar="K,...", help="operations per sample"
    )
    parser.add_argument(
        "--warmup",
        type=int,
        default=DEFAULT_WARMUP,
        metavar="N",
        help="warm-up samples per variant in each process; first times take none unasked",
    )
    parser.add_argument("--cpu", type=int, metavar="N", help="pin the task to this CPU")
    parser.add_argument("--peer-cpu", type=int, metavar="N", help="pin the second task to this CPU")
    parser.add_argument(
        "--processes", type=int, default=10, metavar="N", help="number of fresh processes"
    )
    _add_options_of_length(parser)
    parser.add_argument(
        "--flags", default="-O2", metavar="FLAGS", help="options for the C compiler"
    )
    parser.add_argument("--unit", default="ns", help="ticks, cycles, ns, us, ms or s")


def _add_options_of_length(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how long a run may go on."""
    parser.add_argument(
        "--within",
        type=float,
        metavar="PERCENT",
        help="add processes until half the width of the interval is this part of the value",
    )
    parser.add_argument(
        "--at-most",
        type=float,
        default=DEFAULT_AT_MOST_S,
        metavar="SECONDS",
        help="add processes for at most this long (default: %(default)g)",
    )
    parser.add_argument(
        "--replace",
        type=float,
        default=DEFAULT_REPLACE_S,
        metavar="SECONDS",
        help="without --within, add processes in place of those that shared their core, for at "
        "most this long (default: %(default)g)",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=DEFAULT_TIME_LIMIT_S,
        metavar="SECONDS",
        help="end the run after this time (default: %(default)g)",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=DEFAULT_PATIENCE_S,
        metavar="SECONDS",
        help="end C of your own if it takes no sample for this long (default: %(default)g)",
    )


def plan_of_words(kernel: str, arguments: argparse.Namespace, **options: Any) -> Plan:
    """The plan made from the options of `add_options`, except the number of samples.

    Raises Refused for unusable flags.
    """
    return plan_of(
        kernel,
        arguments.variant,
        flags=arguments.flags,
        batches=arguments.batch,
        warmup=arguments.warmup,
        cpu=arguments.cpu,
        peer_cpu=arguments.peer_cpu,
        processes=arguments.processes,
        within=arguments.within,
        at_most=arguments.at_most,
        replace=arguments.replace,
        time_limit=arguments.time_limit,
        patience=arguments.patience,
        **options,
    )


def add_line(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `labs measure` to `parser`: a C kernel and its options."""
    parser.add_argument("kernel", metavar="C_KERNEL", help="name of a C kernel, or a .c file")
    add_options(parser, samples=None)  # None: the C kernel's own default
    parser.add_argument(
        "--spread",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="spread the starts of the processes over this time",
    )


def plan_of_line(arguments: argparse.Namespace) -> Plan:
    """The plan from the arguments of `add_line`.

    Raises Refused for unusable flags, and the errors of `samples_of`.
    """
    plan = plan_of_words(
        arguments.kernel,
        arguments,
        spread_s=arguments.spread,
    )
    samples = arguments.samples
    if samples is None:
        samples = variants.samples_of(plan.kernel, plan.flags)
    return replace(plan, samples=samples)


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(item) for item in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None
