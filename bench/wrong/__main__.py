"""`python -m bench.wrong [LAB ...]`: the wrong submissions of some labs, their folders kept."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from bench.wrong.labs import LABS
from bench.wrong.submissions import of_lab


def main() -> int:
    """Lay, judge and print; exit status 2 for a lab that there is not."""
    parser = argparse.ArgumentParser(prog="python -m bench.wrong", description=__doc__)
    parser.add_argument("labs", nargs="*", metavar="LAB", help="such as 03 (default: all)")
    parser.add_argument("--case", default="", metavar="NAME", help="only the case of this name")
    parser.add_argument("--save", type=Path, default=Path("build/wrong"), metavar="DIR")
    arguments = parser.parse_args()
    chosen = [lab for lab in LABS if not arguments.labs or lab.lab[:2] in arguments.labs]
    if len(chosen) < len(set(arguments.labs)):
        parser.error(f"a lab is one of {', '.join(lab.lab[:2] for lab in LABS)}")
    for lab in chosen:
        if not arguments.case:
            shutil.rmtree(arguments.save / lab.lab, ignore_errors=True)
        else:
            shutil.rmtree(arguments.save / lab.lab / arguments.case, ignore_errors=True)
        of_lab(lab, arguments.save, only=arguments.case)
    return 0


if __name__ == "__main__":
    sys.exit(main())
