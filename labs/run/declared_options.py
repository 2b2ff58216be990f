"""The options of `labs measure` and `%%ckernel` as a parser takes them, with their defaults.

This imports nothing that measures: a shell that completes a command waits for it.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from labs.c_kernels import catalogue
from labs.terminal import complete_with, offered_files, offered_folders, one_of

#: The same defaults as in harness.h. A C kernel of slow operations states others.
DEFAULT_SAMPLES, DEFAULT_WARMUP = 10_000, 100
DEFAULT_TIME_LIMIT_S = 120.0
DEFAULT_PATIENCE_S = 10.0
DEFAULT_AT_MOST_S = 10.0
DEFAULT_REPLACE_S = 3.0
#: The two sides of `labs compare`, and how much slower one may be that fails, as a share.
SIDES = ("a", "b")
MOST_SLOWER = 10.0
_OF_PROJECT = ("include", "source", "library_dir", "library")
UNITS = ("ticks", "cycles", "ns", "us", "ms", "s")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a plan to `parser`."""
    variant = parser.add_argument(
        "--variant",
        default="",
        metavar="V[,V...]",
        help="the variants to measure (default: the first)",
    )
    complete_with(variant, _variants)
    _add_options_of_run(parser)


def _add_options_of_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of a plan except its variants."""
    for option, kind, default, metavar, text in (
        ("--samples", int, None, "N", f"samples per variant (default: {DEFAULT_SAMPLES}; "
         "fewer if the operations of the C kernel are slow)"),
        ("--batch", _batches, (), "K,...", "operations per sample"),
        ("--warmup", int, DEFAULT_WARMUP, "N", "warm-up samples per variant in each process "
         f"(default: {DEFAULT_WARMUP}; slow operations: fewer; first times: 0)"),
        ("--cpu", int, None, "N", "pin the task to this CPU"),
        ("--peer-cpu", int, None, "N", "pin the second task to this CPU"),
        ("--processes", int, 10, "N", "number of fresh processes"),
        ("--within", float, None, "PERCENT",
         "add processes until half the width of the interval is this part of the value: 2 to 50"),
        ("--at-most", float, DEFAULT_AT_MOST_S, "SECONDS",
         "add processes for at most this long (default: %(default)g)"),
        ("--replace", float, DEFAULT_REPLACE_S, "SECONDS", "without --within, add processes in "
         "place of those that shared their core, for at most this long (default: %(default)g)"),
        ("--time-limit", float, DEFAULT_TIME_LIMIT_S, "SECONDS",
         "end the run after this time, and keep its finished processes (default: %(default)g)"),
        ("--patience", float, DEFAULT_PATIENCE_S, "SECONDS", "end C of your own if it takes no "
         "sample for this long; time in which it waits for a CPU does not count (default: "
         "%(default)g)"),
        ("--flags", str, "-O2", "FLAGS", "options for the C compiler (default: %(default)s)"),
    ):  # fmt: skip
        parser.add_argument(option, type=kind, default=default, metavar=metavar, help=text)
    add_unit(parser)


def add_unit(parser: argparse.ArgumentParser) -> None:
    """Add `--unit`, the unit of a result."""
    unit = parser.add_argument("--unit", default="ns", help="ticks, cycles, ns, us, ms or s")
    complete_with(unit, one_of(lambda: UNITS))


def add_line(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `labs measure` to `parser`: a C kernel and its options."""
    kernel = parser.add_argument(
        "kernel", metavar="C_KERNEL", help="name of a C kernel, or a .c or .cpp file"
    )
    complete_with(kernel, _kernels)
    add_run(parser)
    parser.add_argument(
        "--perf",
        action="store_true",
        help="count cycles, instructions, and misses of caches and TLB too, in processes of their "
        "own after the timed ones; say why if this machine does not count them",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run, and those for code of a project, for C kernels that are named."""
    add_options(parser)
    _add_spread(parser)
    _add_project(parser)


def add_pair(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `labs compare` to `parser`: what is compared, and its options."""
    for name in ("A", "B"):
        side = parser.add_argument(
            name.lower(), metavar=name, help="a C kernel or a .c or .cpp file, or one with :VARIANT"
        )
        complete_with(side, _kernels)
    _add_options_of_run(parser)
    _add_spread(parser)
    parser.add_argument(
        "--fail-if",
        type=_slower,
        metavar="slower:PERCENT",
        help="end with status 4 if A is slower than B by more than PERCENT (slower:5%%), with 0 if "
        "it is not, and with 5 if the run cannot tell; it adds processes as --within does",
    )
    _add_project(parser)
    for of in SIDES:
        _add_project(parser, of)


def of_side(arguments: argparse.Namespace, side: str) -> argparse.Namespace:
    """The arguments of `add_pair` for one of the SIDES: those for both, and its own."""
    own = {name: getattr(arguments, f"{name}_{side}") for name in ("flags", *_OF_PROJECT)}
    both = vars(arguments)
    flags = own.pop("flags")
    joined = {name: [*both[name], *words] for name, words in own.items()}
    return argparse.Namespace(**{**both, **joined, **({} if flags is None else {"flags": flags})})


def _slower(text: str) -> float:
    """The share in `slower:5%`."""
    found = re.fullmatch(r"slower:(\d{1,4}(?:\.\d{1,3})?) ?%?", text)
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share <= MOST_SLOWER:
        raise argparse.ArgumentTypeError(
            f"{text!r}: write slower:PERCENT, such as slower:5%, with up to {MOST_SLOWER:.0%}"
        )
    return share


def _add_project(parser: argparse.ArgumentParser, side: str = "") -> None:
    """Add the options for code of a project that a C kernel calls, for both sides or for one."""
    if side:
        group = parser.add_argument_group(f"only for {side.upper()}")
        group.add_argument(
            f"--flags-{side}", metavar="FLAGS", help="options for the C compiler, not --flags"
        )
    else:
        group = parser.add_argument_group(
            "code of a project", "for a file of your own; each can be given more than once"
        )
    for short, option, kind, metavar, text in (
        ("-I", "--include", Path, "DIR", "look for headers in this folder"),
        (None, "--source", Path, "FILE", "build this further source, or link this .o or .a file"),
        ("-L", "--library-dir", Path, "DIR", "look for libraries in this folder"),
        ("-l", "--library", str, "NAME", "link this library: m for libm"),
    ):
        names = [f"{option}-{side}"] if side else [short, option] if short else [option]
        added = group.add_argument(
            *names, type=kind, action="append", default=[], metavar=metavar, help=text
        )
        if metavar == "DIR":
            complete_with(added, offered_folders)
        elif metavar == "FILE":
            complete_with(added, offered_files(*catalogue.SOURCES))


def _add_spread(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spread",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="spread the starts of the processes over this time",
    )


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(item) for item in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def _kernels(prefix: str, **_: object) -> list[str]:
    """The C kernels, and C files."""
    return [*catalogue.names(), *offered_files(*catalogue.SOURCES)(prefix=prefix)]


def _variants(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """The variants of the C kernel that stands before, each after those that are named already."""
    named, comma, _rest = prefix.rpartition(",")
    left = [
        name
        for name in catalogue.variants_of(str(getattr(parsed_args, "kernel", "")))
        if name not in named.split(",")
    ]
    return [f"{named}{comma}{name}" for name in left]
