"""Measure the runs of the gallery: `python -m grader.site.record [NAME ...]`."""

from __future__ import annotations

import sys

from grader.pages import short
from grader.site.site_pages import KINDS, run_file
from labs.notebook.broken_pair import plans
from labs.run import broken
from labs.run.measure import measure_now
from labs.terminal import say


def main(names: list[str]) -> None:
    """Run each broken C kernel and its twin with few samples, and save both recordings."""
    for name in names or broken.names():
        for kind, plan in zip(KINDS, plans(broken.find(name)), strict=True):
            path = run_file(name, kind)
            path.parent.mkdir(parents=True, exist_ok=True)
            measure_now(short(plan)).write(path)
            say(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
