"""The variants that a C kernel lists, and the plan of a run that is made from options."""

from __future__ import annotations

import argparse
import csv
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import not_a_c_kernel
from labs.machine import surroundings
from labs.messages import refused
from labs.recording.declared import NOTHING_DECLARED, Declared, Estimand, from_values
from labs.run import c_process
from labs.run.c_process import RunFailed, build
from labs.run.declared_options import DEFAULT_REPLACE_S, DEFAULT_SAMPLES, DEFAULT_WARMUP
from labs.run.plan import Plan

TIME_LIMIT_S = 10
#: In bytes. A list of a hundred variants takes about ten kilobytes.
MOST_LISTED = 1 << 20

#: What is raised if a C kernel cannot be built, or lists nothing.
CANNOT_LIST = (toolchain.NoCompiler, toolchain.CompileError, RunFailed, OSError, ValueError)

#: The line above the table; after the first three columns come the declarations.
_HEADER = re.compile("^variant,about,missing(?:,[a-z_]+)*$", re.MULTILINE)


@dataclass(frozen=True)
class Listed:
    """One variant: its name, its description, and its declarations.

    `missing` says why this machine cannot run it, and is '' if it can.
    """

    name: str
    about: str
    missing: str = ""
    declared: Declared = NOTHING_DECLARED

    @property
    def is_first_time(self) -> bool:
        """Whether it measures first calls, which a warm-up would use up."""
        return self.declared.estimand is Estimand.FIRST_TIME


@dataclass(frozen=True)
class Unasked:
    """What a C kernel does if nobody asks for another number: how many samples of each variant a
    run takes, and how many a process takes before them."""

    samples: int = DEFAULT_SAMPLES
    warmup: int = DEFAULT_WARMUP


def of_kernel(kernel: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> tuple[Listed, ...]:
    """The variants of a released C kernel, or of a .c file, in its order.

    Builds it first if necessary. Raises what building raises, FileNotFoundError, RunFailed.
    """
    return of_plan(Plan(kernel, flags=flags))


def of_plan(plan: Plan) -> tuple[Listed, ...]:
    """The variants of the C kernel of `plan`: a released one, a file, or the C of a cell.

    Raises the same errors as `of_kernel`.
    """
    return listing_of(plan)[1]


def possible(kernel: str, names: str) -> list[str]:
    """Those of the variants `names`, separated by commas, that this machine can run.

    A name that the C kernel does not list stays, so that the run refuses it by name. Raises the
    same errors as `of_kernel`.
    """
    missing = {each.name for each in of_kernel(kernel) if each.missing}
    asked = [name.strip() for name in names.split(",")]
    return [name for name in asked if name and name not in missing]


def with_usual_samples(plan: Plan) -> Plan:
    """`plan` with as many samples as its C kernel takes by default.

    It stays as it is if the C kernel cannot be built or lists nothing: the run will then report the
    reason.
    """
    try:
        return replace(plan, samples=listing_of(plan)[0].samples)
    except CANNOT_LIST:
        return plan


def has_first_time(plan: Plan) -> bool:
    """Whether the C kernel of `plan` measures first calls, which a warm-up would use up.

    False if it cannot be built or lists nothing: the run will then report the reason.
    """
    try:
        return any(each.is_first_time for each in of_plan(plan))
    except CANNOT_LIST:
        return False


def listing_of(plan: Plan) -> tuple[Unasked, tuple[Listed, ...]]:
    """What the C kernel of `plan` does unasked, and its variants.

    Raises the same errors as `of_kernel`.
    """
    command = [str(build(plan).path), "--list", *surroundings.place_options()]
    name = f"{plan.kernel} --list"
    output = c_process.output_now(command, name, MOST_LISTED, TIME_LIMIT_S)
    printed = output.decode("utf-8", "replace")
    header = _HEADER.search(printed)
    try:
        rows = list(csv.DictReader(printed[header.start() :].splitlines())) if header else []
    except csv.Error as error:
        raise RunFailed(f"{name} prints no table: {error}") from error
    # In a row that is too short or too long, None is a value or a key.
    whole = [row for row in rows if None not in row and None not in row.values()]
    if header is None or not whole:
        why = not_a_c_kernel("with --list it names no variants")
        raise RunFailed(f"{plan.kernel}: {why}")
    return _unasked(printed[: header.start()]), tuple(map(_listed, whole))


def _unasked(head: str) -> Unasked:
    """The numbers that the lines above the table state."""
    found = re.findall(r"^# (samples|warmup): (\d{1,6})$", head, re.MULTILINE)
    return Unasked(**{key: int(number) for key, number in found})


def _listed(row: Mapping[str, str]) -> Listed:
    declared = from_values(lambda key: row.get(key, "")) or NOTHING_DECLARED
    return Listed(row["variant"], row["about"], row["missing"], declared)


# The plan that is made from the options of `lab.measure`, `labs measure` and `%%ckernel`.


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
        raise refused("write all variants in one text, with commas", advice)
    names = variant.split(",") if isinstance(variant, str) else list(variant)
    try:
        words = tuple(shlex.split(flags))
    except ValueError as error:
        raise refused(f"flags {flags!r}: {error}") from None
    if lacking := next(filter(_LACKS_HYPHEN.fullmatch, words), None):
        advice = f"Options of the compiler begin with a hyphen: -{lacking}."
        raise refused(f"flags {flags!r}: {lacking} is no option", advice)
    fields = {_IN_SECONDS.get(name, name): value for name, value in options.items()}
    plan = Plan(
        kernel,
        tuple(name.strip() for name in names if name.strip()),
        flags=words,
        within=within / 100 if isinstance(within, int | float) else within,
        **{"replace_s": DEFAULT_REPLACE_S, **fields, "batches": tuple(fields.get("batches", ()))},
    )
    return with_usual_samples(plan) if samples is None else replace(plan, samples=samples)


#: The options of `add_options` that are arguments of `plan_of` too.
_OPTIONS = (
    "samples", "warmup", "cpu", "peer_cpu", "processes", "within", "at_most", "replace",
    "time_limit", "patience",
)  # fmt: skip


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
        batches=arguments.batch,
        **{name: getattr(arguments, name) for name in _OPTIONS},
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
