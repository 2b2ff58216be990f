"""`python -m bench.honest FOLDER [COUNT] [--lab LAB]`: save honest submissions as fixtures.

Their recordings are short ones.
"""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path

from bench import machine
from bench.honest.circumstances import NoEmulator
from bench.honest.submissions import SHARES, submission
from bench.report import say
from grader.figures import LABS

#: How many recordings the folder holds in the end: of all labs, or of the one that is named.
OF_ALL, OF_ONE = 60, 1


def save(folder: Path, count: int, lab: str = "") -> None:
    """Save honest submissions below `folder` until they hold `count` recordings in all.

    If `lab` is named, only its submissions are made and counted. Raises KeyError for no lab.
    """
    chance = random.Random(count)
    labs = [lab] if lab and LABS[lab] else list(LABS)
    pairs = [(each, one) for one in SHARES for each in labs if not one.busy or one.busy == 4]
    chance.shuffle(pairs)
    for each, circumstance in pairs:
        saved = len(list(folder.glob(f"{lab}*/recordings/*.csv")))
        if saved >= count:
            say(f"   {saved:>3} recordings{f' of {lab}' if lab else ''} are in {folder}")
            return
        slug = re.sub(r"[^a-z0-9]+", "-", circumstance.name.lower())
        try:
            with machine.busy(circumstance.busy):
                submission(each, circumstance, chance, folder / f"{each}-{slug}", short=True)
        except NoEmulator as why:
            say(f"   left out: {each}: {why}")
            continue
        say(f"   {saved:>3} {each}: {circumstance.name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.honest")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("count", type=int, nargs="?", metavar="COUNT")
    parser.add_argument("--lab", choices=list(LABS), default="", metavar="LAB")
    asked = parser.parse_args()
    save(asked.folder, asked.count or (OF_ONE if asked.lab else OF_ALL), asked.lab)
