"""Run the benchmarks that are named, or all of them, under conditions that are printed first."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import platform

import bench
from labs import surroundings, toolchain


def names() -> list[str]:
    """Every benchmark: each module of this package with a function `run(quick)`."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return sorted(name for name in found if not name.startswith("_") and name != "table")


def print_conditions() -> None:
    """The machine and its load: figures mean nothing without them."""
    allowed = surroundings.allowed_cpus()
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"machine   {platform.platform()}, {platform.machine()}")
    print(f"CPUs      {os.cpu_count()}, allowed: {sorted(allowed) if allowed else 'not known'}")
    print(f"Python    {platform.python_version()}; compiler {toolchain.find_compiler().version}")
    print(f"load      {load} (1, 5, 15 minutes)")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[[], *names()], help=", ".join(names()))
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    arguments = parser.parse_args()
    print_conditions()
    for name in arguments.name or names():
        module = importlib.import_module(f"bench.{name}")
        print(f"\n{name}: {(module.__doc__ or '').strip().splitlines()[0]}\n")
        module.run(arguments.quick)


if __name__ == "__main__":
    main()
