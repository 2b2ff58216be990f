"""The plan that is made from the options of `lab.measure`, `labs measure` and `%%ckernel`."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labs.c_kernels import toolchain
from labs.messages import Message, Refused
from labs.run import variants
from labs.run.declared_options import DEFAULT_REPLACE_S
from labs.run.plan import Plan

#: A level of optimisation without its hyphen: the linker would look for a file of that name.
_LACKS_HYPHEN = re.compile(r"O(?:[0-3sgz]|fast)")

#: Options in seconds, under their names as fields of a plan.
_IN_SECONDS = {
    "spread": "spread_s",
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
    samples: int | None = None,
    **options: Any,
) -> Plan:
    """The plan made from these arguments.

    `within` is in percent. Without `samples` it has as many as the C kernel takes by default.
    `options` are `spread`, `at_most`, `replace`, `time_limit` and `patience`, in seconds, and
    further fields of the plan. Raises Refused for unusable flags, and for `more` that stands after
    the variants.
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
    if lacking := next(filter(_LACKS_HYPHEN.fullmatch, words), None):
        advice = f"Options of the compiler begin with a hyphen: -{lacking}."
        raise Refused(Message("problem", f"flags {flags!r}: {lacking} is no option", (advice,)))
    fields = {_IN_SECONDS.get(name, name): value for name, value in options.items()}
    plan = Plan(
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
    return variants.with_usual_samples(plan) if samples is None else replace(plan, samples=samples)


def plan_of_words(
    kernel: str, arguments: argparse.Namespace, project: Sequence[str] = (), **options: Any
) -> Plan:
    """The plan made from the options of `add_options`, with the words of a `project` as flags too.

    Raises Refused for unusable flags.
    """
    return plan_of(
        kernel,
        arguments.variant,
        flags=" ".join([arguments.flags, *map(shlex.quote, project)]),
        samples=arguments.samples,
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


def plan_of_line(arguments: argparse.Namespace) -> Plan:
    """The plan from the arguments of `declared_options.add_line`.

    Raises Refused for unusable flags, and ValueError for code of a project that is not there.
    """
    of_project = toolchain.project_words(
        arguments.include, arguments.source, arguments.library_dir, arguments.library
    )
    return plan_of_words(
        arguments.kernel,
        arguments,
        of_project,
        spread=arguments.spread,
        perf=getattr(arguments, "perf", False),
    )
