"""`python -m bench [NAME...] [--quick]`: run the benchmarks, all of them where none is named.

`python -m bench ablation DIR...` reduces sets of recordings, and `--record DIR` makes one.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from bench import machine
from bench.labs.solved_lab import labs_in_order
from bench.report import say
from labs.c_kernels import catalogue

#: The module of each benchmark. Run in this order: those that need a quiet machine come first.
MODULES = {
    "peers": "bench.figures.peers",
    "own_questions": "bench.figures.own_questions",
    "a_or_b": "bench.figures.a_or_b",
    "ladder": "bench.figures.ladder",
    "event_counts": "bench.figures.event_counts",
    "arguments": "bench.figures.arguments",
    "repeat": "bench.figures.repeat",
    "live": "bench.labs.live",
    "click_in_chromium": "bench.speed.click_in_chromium",
    "reading": "bench.speed.reading",
    "start": "bench.speed.start",
    "walks": "bench.speed.walks",
    "evening": "bench.speed.evening",
    "stock": "bench.speed.stock",
    "coverage": "bench.figures.coverage",
    "ablation": "bench.figures.ablation",
    "fuzz": "bench.fuzz.readers",
    "hostile_class": "bench.exchange.hostile_class",
    "interrupted": "bench.exchange.interrupted",
    "collect_class": "bench.exchange.collected_class",
    "formgrader": "bench.exchange.formgrader",
    "hub": "bench.exchange.hub",
    "browser": "bench.labs.browser",
    "front_ends": "bench.labs.front_ends",
    "site": "bench.labs.site",
    "own_pages": "bench.labs.own_pages",
    "pages": "bench.pages.followed",
    "adding_a_lab": "bench.pages.adding",
    "decisions": "bench.labs.decisions",
    "published": "bench.published",
    "conditions": "bench.labs.conditions",
    "random_values": "bench.honest.random_values",
    "by_hand": "bench.honest.by_hand",
    "honest": "bench.honest.submissions",
    "wrong_submissions": "bench.wrong.submissions",
}

#: Those that keep screenshots in the folder of --save.
WITH_SCREENSHOTS = ("browser", "front_ends", "site", "hostile_class")
#: Those that take labs one by one, and can leave some out.
OF_LABS = ("live", "decisions", "conditions", "wrong_submissions")
#: Those that take C kernels one by one.
OF_KERNELS = ("repeat", "ablation")
#: Options of a single benchmark, which it takes by name.
OWN_OPTIONS = {"repeat": ("spread", "settings"), "ablation": ("record", "busy", "rounds")}


def main(words: list[str] | None = None) -> int:
    """Run what is named. Exit status: 0 all held, 1 something did not."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODULES))
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a proof")
    parser.add_argument("--save", type=Path, metavar="DIR", help="where screenshots go")
    parser.add_argument("--inputs", type=int, metavar="N", help="how many inputs fuzz tries")
    parser.add_argument(
        "--lab", action="append", default=[], metavar="NN", help="only this lab; may be repeated"
    )
    parser.add_argument(
        "--kernel", action="append", default=[], metavar="C_KERNEL", help="only this; as --lab"
    )
    parser.add_argument(
        "--spread", action="store_true", help="let the processes of all C kernels take turns"
    )
    parser.add_argument(
        "--settings", action="store_true", help="repeat with other numbers and lengths of samples"
    )
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="make a set of recordings for ablation"
    )
    parser.add_argument("--busy", action="store_true", help="record it with other CPUs busy")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often (default 6)")
    arguments = parser.parse_args(words)
    names = [name for name in arguments.names if name in MODULES] or list(MODULES)
    unknown = [name for name in arguments.names if name not in MODULES]
    if unknown and "ablation" not in arguments.names:
        parser.error(f"no benchmark {', '.join(unknown)}; there is {', '.join(MODULES)}")
    if missing := [name for name in unknown if not Path(name).is_dir()]:
        parser.error(f"{', '.join(missing)}: neither a benchmark nor a folder that ablation reads")
    if arguments.save is not None and not set(WITH_SCREENSHOTS) & set(names):
        parser.error(f"--save is for screenshots: name {', '.join(WITH_SCREENSHOTS)} too")
    if arguments.inputs is not None and ("fuzz" not in names or arguments.inputs < 1):
        parser.error("--inputs is how many inputs the benchmark fuzz tries: name it, and 1 or more")
    if arguments.lab and not set(names) <= set(OF_LABS):
        parser.error(f"--lab is for {', '.join(OF_LABS)}: name only these")
    known = [lab[:2] for lab in labs_in_order()]
    if strange := sorted(set(arguments.lab) - set(known)):
        parser.error(f"no lab {', '.join(strange)}; there is {', '.join(known)}")
    if arguments.kernel and not set(names) <= set(OF_KERNELS):
        parser.error(f"--kernel is for {', '.join(OF_KERNELS)}: name only these")
    for name, options in OWN_OPTIONS.items():
        for option in options:
            if getattr(arguments, option) and names != [name]:
                parser.error(f"--{option} is for {name}: name only this")
    only_ablation = arguments.kernel and "ablation" in names
    if not arguments.record and (arguments.busy or arguments.rounds or only_ablation):
        parser.error("--busy, --rounds, and --kernel of ablation say what --record records")
    if arguments.record and unknown:
        parser.error(f"--record makes a set and reduces none: leave out {', '.join(unknown)}")
    if arguments.rounds is not None and arguments.rounds < 2:
        parser.error("--rounds is how many runs of a variant are compared: 2 or more")
    if strange := sorted(set(arguments.kernel) - set(catalogue.names())):
        parser.error(f"no C kernel {', '.join(strange)}; there is {', '.join(catalogue.names())}")
    machine.describe()
    held: dict[str, bool] = {}
    for name in names:
        begin = time.monotonic()
        benchmark = importlib.import_module(MODULES[name])
        say(f"\n== {name}")
        more = {"fuzz": (arguments.inputs,)}.get(name, ())
        if name in WITH_SCREENSHOTS:
            more = (arguments.save,)
        elif name in OF_LABS:
            more = (arguments.lab,)
        elif name in OF_KERNELS:
            more = (arguments.kernel,)
        named = {option: getattr(arguments, option) for option in OWN_OPTIONS.get(name, ())}
        if name == "ablation":
            named["sets"] = [Path(word) for word in unknown]
        held[name] = bool(benchmark.run(arguments.quick, *more, **named))
        say(f"   ({time.monotonic() - begin:.0f} s)")
    say("\n== in all")
    for name, whether in held.items():
        say(f"   {name:<18} {'holds' if whether else 'DOES NOT HOLD'}")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
