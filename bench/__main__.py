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
    "click_to_plot": "bench.speed.click_to_plot",
    "click_in_chromium": "bench.speed.click_in_chromium",
    "reading": "bench.speed.reading",
    "start": "bench.speed.start",
    "walks": "bench.speed.walks",
    "live_class": "bench.speed.live_class",
    "class_of_5000": "bench.speed.class_of_5000",
    "stock": "bench.speed.stock",
    "coverage": "bench.figures.coverage",
    "ablation": "bench.figures.ablation",
    "fuzz": "bench.fuzz.readers",
    "hostile_class": "bench.exchange.hostile_class",
    "interrupted": "bench.exchange.interrupted",
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
    "mistakes": "bench.labs.mistakes",
    "random_values": "bench.honest.random_values",
    "by_hand": "bench.honest.by_hand",
    "honest": "bench.honest.submissions",
    "wrong_submissions": "bench.wrong.submissions",
}

#: By option, the keyword that passes it on, and the benchmarks that take it.
OPTIONS = {
    "save": ("save", "browser front_ends site hostile_class"),
    "lab": ("numbers", "live decisions conditions wrong_submissions"),
    "kernel": ("kernels", "repeat ablation mistakes"),
    "inputs": ("inputs", "fuzz"),
    "spread": ("spread", "repeat"),
    "settings": ("settings", "repeat"),
    "record": ("record", "ablation"),
    "busy": ("busy", "ablation"),
    "rounds": ("rounds", "ablation"),
}


def main(words: list[str] | None = None) -> int:
    """Run what is named. Exit status: 0 all held, 1 something did not."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=", ".join(MODULES))
    add("--quick", action="store_true", help="fewer rounds: a look, not a proof")
    add("--save", type=Path, metavar="DIR", help="where screenshots go")
    add("--inputs", type=int, metavar="N", help="how many inputs fuzz tries")
    labs = [lab[:2] for lab in labs_in_order()]
    add("--lab", action="append", metavar="NN", choices=labs, help="only this; may be repeated")
    kernels = catalogue.names()
    add(
        "--kernel", action="append", metavar="C_KERNEL", choices=kernels, help="only this; as --lab"
    )
    add("--spread", action="store_true", help="let the processes of all C kernels take turns")
    add("--settings", action="store_true", help="repeat with other numbers and lengths of samples")
    add("--record", type=Path, metavar="DIR", help="make a set of recordings for ablation")
    add("--busy", action="store_true", help="record it with other CPUs busy")
    add("--rounds", type=int, metavar="N", help="how often (default 6)")
    arguments = parser.parse_args(words)
    names = [name for name in arguments.names if name in MODULES] or list(MODULES)
    sets = [Path(name) for name in arguments.names if name not in MODULES]
    if unknown := [str(each) for each in sets if "ablation" not in names or not each.is_dir()]:
        parser.error(f"no benchmark {', '.join(unknown)}; there is {', '.join(MODULES)}")
    given = {option: getattr(arguments, option) for option in OPTIONS if getattr(arguments, option)}
    for option in given:
        if not set(names) <= set(OPTIONS[option][1].split()):
            parser.error(f"--{option} is for {OPTIONS[option][1]}: name only these")
    if not arguments.record and ({"busy", "rounds"} & set(given) or (sets and arguments.kernel)):
        parser.error("--busy, --rounds, and --kernel of ablation say what --record records")
    if arguments.record and sets:
        parser.error("--record makes a set and reduces none")
    machine.describe()
    held: dict[str, bool] = {}
    for name in names:
        begin = time.monotonic()
        benchmark = importlib.import_module(MODULES[name])
        say(f"\n== {name}")
        more = {OPTIONS[option][0]: value for option, value in given.items()}
        if name == "ablation":
            more["sets"] = sets
        held[name] = bool(benchmark.run(arguments.quick, **more))
        say(f"   ({time.monotonic() - begin:.0f} s)")
    say("\n== in all")
    for name, whether in held.items():
        say(f"   {name:<18} {'holds' if whether else 'DOES NOT HOLD'}")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
