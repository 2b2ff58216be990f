"""Who does the work in each lab: its code cells by kind, counted from the tags in the notebooks.

Each code cell of a lab has one tag of KINDS. A tag cannot claim more than the cell holds: what a
decision leaves open must be open in the released cell too, by `...` or by C to complete.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import must_hold, say, show, verdict
from support.notebook_as_markdown import KINDS, NOTEBOOKS

FEWEST_DECISIONS = 6
MOST_RUN_ONLY = 1 / 3
#: These labs are counted: the first shows how a notebook works.
FIRST_COUNTED = "01"

_STUB = re.compile(r"^\s*### STUB (.*)", re.M)
_CHECK = re.compile(r'check\("[^"]+"\)\s*')
_BLANK = re.compile(r"(?<!\.)\.\.\.(?!\.)")


@dataclass(frozen=True)
class Kinds:
    """How many code cells of each kind a lab has, and what is wrong with their tags."""

    lab: str
    counts: Counter[str]
    faults: tuple[str, ...]

    @property
    def all(self) -> int:
        """How many code cells the lab has."""
        return self.counts.total()

    @property
    def decisions(self) -> int:
        """How many cells ask for something that the data then answer: Python or C."""
        return self.counts["decision"] + self.counts["c"]

    @property
    def run_only(self) -> float:
        """The share of the code cells that are only run."""
        return self.counts["run-only"] / self.all

    @property
    def holds(self) -> bool:
        """Whether the student does enough of the work, and each tag is true."""
        enough = self.decisions >= FEWEST_DECISIONS and self.run_only <= MOST_RUN_ONLY
        return not self.faults and (enough or self.lab < FIRST_COUNTED)


def of_lab(path: Path) -> Kinds:
    """The kinds of the code cells in the source notebook at `path`."""
    counts: Counter[str] = Counter()
    faults = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tags = [tag for tag in cell["metadata"].get("tags", []) if tag in KINDS]
        if len(tags) != 1:
            faults.append(f"{cell['id']}: has {len(tags)} tags of {', '.join(KINDS)}")
            counts["run-only"] += 1
            continue
        counts[tags[0]] += 1
        if fault := _fault(cell, tags[0]):
            faults.append(f"{cell['id']}: {fault}")
    return Kinds(path.stem, counts, tuple(faults))


def _fault(cell: dict[str, Any], kind: str) -> str:
    """What the tag claims and the cell does not hold; '' if it holds."""
    source = "".join(cell["source"])
    solution = bool(cell["metadata"].get("nbgrader", {}).get("solution"))
    is_c = source.startswith("%%ckernel")
    stub = "\n".join(_STUB.findall(source))
    held = {
        "run-only": not solution,
        "prediction": solution and "lab.predict(" in source,
        "decision": solution and not is_c and _BLANK.search(stub) is not None,
        "c": solution and is_c,
        "answer": solution and "lab.answer(" in source,
        "figure": _CHECK.fullmatch(source) is not None
        or (solution and ("lab.figure(" in source or "lab.conclude(" in source)),
    }
    return "" if held[kind] else f"is no cell of the kind {kind}"


def every_lab() -> list[Kinds]:
    """The kinds of each lab, in the order taught."""
    return [of_lab(path) for path in sorted(NOTEBOOKS.glob("*/*.ipynb"))]


def run(quick: bool = False, numbers: Sequence[str] = ()) -> bool:
    """Print the kinds of each lab, or of those with these numbers.

    Whether every one of them leaves the student enough to decide.
    """
    must_hold(
        f"from lab {FIRST_COUNTED} on {FEWEST_DECISIONS} decisions or more (C counts), and at most "
        "a third of the code cells are only run"
    )
    found = [each for each in every_lab() if not numbers or each.lab[:2] in numbers]
    rows = [
        [
            each.lab,
            *(str(each.counts[kind]) for kind in KINDS),
            str(each.all),
            str(each.decisions),
            f"{100 * each.run_only:.0f} %",
            "yes" if each.holds else "NO",
        ]
        for each in found
    ]
    show(["lab", *KINDS, "cells", "decisions", "only run", "holds"], rows)
    for each in found:
        for fault in each.faults:
            say(f"   {each.lab}: {fault}")
    held = [each.lab for each in found if each.holds]
    return verdict(len(held) == len(found), f"{len(held)} of {len(found)} labs")
