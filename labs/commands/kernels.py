"""`labs list`, `labs broken` and `labs new`: list C kernels or labs, run one, or begin one.

`labs broken` runs a broken C kernel next to its twin. `labs new` writes one of one's own that can
be measured at once.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from labs import paths, terminal
from labs.c_kernels import catalogue
from labs.commands.command_line import complain
from labs.course import lab_names
from labs.html import in_columns
from labs.run import broken
from labs.terminal import lines_of, say, say_json, suggestion

FAILED, USAGE = 1, 2


def run_list(arguments: argparse.Namespace) -> int:
    """Print the list; the exit status is 0, or 2 for a C kernel that there is not."""
    try:
        if arguments.kernel is not None:
            return _variants(arguments)
        if arguments.labs:
            _labs(arguments.json)
        elif arguments.broken:
            list_broken(arguments.json)
        else:
            _kernels(arguments.json)
    except paths.PartMissing as error:
        return complain("labs list", error, USAGE)
    return 0


def _variants(arguments: argparse.Namespace) -> int:
    """Print what each variant of one C kernel does."""
    if arguments.labs or arguments.broken:
        return complain(
            "labs list", "name a C kernel, or give --labs or --broken, and not both", USAGE
        )
    try:
        kernel = catalogue.of_name(arguments.kernel)
    except KeyError:
        known = catalogue.names()
        why = f"no C kernel {arguments.kernel!r}{suggestion(arguments.kernel, known)}"
        return complain("labs list", why, USAGE)
    if arguments.json:
        say_json(_as_json(kernel))
        return 0
    rows = [(f"  {name}", about) for name, about in kernel.variants.items()]
    say(f"{_named(kernel)}\n")
    say("\n".join(in_columns(rows, width=terminal.columns())))
    first = next(iter(kernel.variants))
    measured = f"Without --variant, `labs measure {kernel.name}` measures {first}."
    say(f"\n{measured}")
    return 0


def _kernels(as_json: bool) -> None:
    known = catalogue.all_kernels()
    if as_json:
        say_json([_as_json(kernel) for kernel in known])
        return
    width = terminal.columns()
    for group, names in catalogue.GROUPS.items():
        say(f"{group}\n")
        for kernel in (each for each in known if each.name in names):
            say(f"  {_named(kernel)}")
            variants = f"    {', '.join(catalogue.short(list(kernel.variants)))}"
            say("\n".join(lines_of(variants, width or len(variants), further=0)) + "\n")
    say("`labs list C_KERNEL` shows what each variant does.")
    say("`labs list --broken` and `labs list --labs` list the mistakes and the labs.")


def _named(kernel: catalogue.Known) -> str:
    """The name of a C kernel with what it measures."""
    return f"{kernel.name}: {kernel.measures}"


def _as_json(kernel: catalogue.Known) -> dict[str, Any]:
    group = next(group for group, names in catalogue.GROUPS.items() if kernel.name in names)
    variants = [{"name": name, "about": about} for name, about in kernel.variants.items()]
    return {
        "kernel": kernel.name,
        "group": group,
        "measures": kernel.measures,
        "variants": variants,
    }


def list_broken(as_json: bool) -> None:
    """Print the broken C kernels, those below each other that try to measure the same."""
    if as_json:
        say_json([each.as_json() for each in broken.all_of_them()])
    else:
        say("\n".join(_broken_in_groups(terminal.columns())))


def _broken_in_groups(width: int | None) -> list[str]:
    """The broken C kernels as lines, below the C kernel that does not make their mistake."""
    every = broken.all_of_them()
    lines: list[str] = []
    for kernel in catalogue.all_kernels():
        rows = [(f"  {each.name}", each.mistake) for each in every if each.repaired == kernel.name]
        if rows:
            lines += [_named(kernel), "", *in_columns(rows, width=width), ""]
    return [*lines, "`labs broken NAME` runs one of them next to its repaired twin."]


def _labs(as_json: bool) -> None:
    labs = lab_names.all_labs()
    if as_json:
        say_json([{"lab": each.name, "asks": each.asks, "minutes": each.minutes} for each in labs])
        return
    rows = [(each.name, f"{each.minutes} min" if each.minutes else "", each.asks) for each in labs]
    say("\n".join(in_columns(rows, {1}, terminal.columns())))
    opens = "`labs start` opens them in JupyterLab."
    say(f"\n{opens}")


def run_broken(arguments: argparse.Namespace) -> int:
    """Print the list, or run a pair and print it; the exit status is that of `labs measure`."""
    try:
        if arguments.name is None:
            list_broken(arguments.json)
            return 0
        kernel = broken.find(arguments.name)
    except (broken.NoSuchBroken, broken.BadBroken, paths.PartMissing) as error:
        return complain("labs broken", error, USAGE)
    # Here: the list needs nothing that measures, which takes long to load.
    from labs.commands import measure

    return measure.measure_broken(kernel, arguments)


def run_new(arguments: argparse.Namespace) -> int:
    """Write the file; status 2 for a name that cannot be used, 1 if nothing could be written."""
    # Here: a list needs no compiler.
    from labs.c_kernels.new_kernel import write_new

    try:
        path = write_new(
            arguments.name, Path(), arguments.function, arguments.header, arguments.threads
        )
    except ValueError as error:
        return complain("labs new", error, USAGE)
    except (paths.PartMissing, OSError) as error:
        return complain("labs new", error, FAILED)
    own = (
        "calls your function" if arguments.function else "measures strlen: put your function there"
    )
    say(f"{path} {own}; look at the inputs: are they like yours?")
    of_project = " -I FOLDER --source FILE" if arguments.function else ""
    say(f"  labs measure {path}{of_project}   builds it and measures it")
    return 0
