"""The variants of a C kernel, as the program itself lists them: names, and what they declare."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass

from labs.c_kernels import toolchain
from labs.machine import surroundings
from labs.recording.declared import NOTHING_DECLARED, Declared, Estimand, by_words
from labs.run import c_process
from labs.run.c_process import RunFailed
from labs.run.one_process import build
from labs.run.plan import Plan

TIME_LIMIT_S = 10
#: A hundred variants take some ten kilobytes.
MOST_LISTED = 1 << 20

#: The line above the table: behind the first three columns comes what a variant declares.
_HEADER = re.compile("^variant,about,missing(?:,[a-z_]+)*$", re.MULTILINE)


@dataclass(frozen=True)
class Listed:
    """One variant: its name, what it is, why this machine cannot do it ('': it can), and what it
    declares."""

    name: str
    about: str
    missing: str = ""
    declared: Declared = NOTHING_DECLARED


def of_kernel(kernel: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> tuple[Listed, ...]:
    """The variants of a released C kernel, or of a .c file, in its order.

    Builds it where it is not built yet. Raises what building raises, FileNotFoundError, RunFailed.
    """
    return of_plan(Plan(kernel, flags=flags))


def of_plan(plan: Plan) -> tuple[Listed, ...]:
    """The variants that the C kernel of `plan` has: a released one, a file, or the C of a cell.

    Raises as `of_kernel`.
    """
    return _list(plan)[1]


def samples_of(kernel: str, flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS) -> int:
    """How many samples a C kernel takes where no number is asked for. Raises as `of_kernel`."""
    head = _list(Plan(kernel, flags=flags))[0]
    match = re.search(r"^# samples: (\d{1,6})$", head, re.MULTILINE)
    return int(match[1]) if match else 1_000


def has_first_time(plan: Plan) -> bool:
    """Whether the C kernel of `plan` measures first times: a warm-up would use them up.

    False where it cannot be built or lists nothing: the run will say why.
    """
    try:
        listed = of_plan(plan)
    except (toolchain.NoCompiler, toolchain.CompileError, RunFailed, OSError, ValueError):
        return False
    return any(each.declared.estimand is Estimand.FIRST_TIME for each in listed)


def _list(plan: Plan) -> tuple[str, tuple[Listed, ...]]:
    """What `--list` says before its table, and the table."""
    command = [str(build(plan).path), "--list", *surroundings.place_options()]
    name = f"{plan.kernel} --list"
    said = c_process.output_now(command, name, MOST_LISTED, TIME_LIMIT_S).decode("utf-8", "replace")
    header = _HEADER.search(said)
    try:
        rows = list(csv.DictReader(said[header.start() :].splitlines())) if header else []
    except csv.Error as error:
        raise RunFailed(f"{name} prints no table: {error}") from error
    # A row that is too short or too long has None as a value or a key.
    whole = [row for row in rows if None not in row and None not in row.values()]
    if header is None or not whole:
        raise RunFailed(f"{name} names no variants")
    return said[: header.start()], tuple(map(_listed, whole))


def _listed(row: Mapping[str, str]) -> Listed:
    declared = by_words(lambda key: row.get(key, "")) or NOTHING_DECLARED
    return Listed(row["variant"], row["about"], row["missing"], declared)
