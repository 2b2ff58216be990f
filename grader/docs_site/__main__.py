"""Write the pages of the site, from which Sphinx makes HTML, or measure the runs of the gallery.

python -m grader.docs_site build/site
python -m grader.docs_site --record cached_getpid
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from grader import docs_site
from grader.docs_site import BadLink, Stage
from grader.lab_pages import short
from labs.notebook.broken_pair import plans
from labs.run import broken
from labs.run.measure import measure_now
from labs.terminal import say

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def main(words: list[str] | None = None) -> int:
    """The command line; status 1 if a link leads nowhere or a file cannot be written."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.docs_site", description="pages of the docs"
    )
    parser.add_argument(
        "destination", nargs="?", type=Path, help="folder for the pages; it is emptied first"
    )
    parser.add_argument(
        "--record", nargs="*", metavar="NAME", help="measure these broken C kernels, or all"
    )
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="NAME", help="pitfalls and C kernels with a page"
    )
    chosen = parser.parse_args(words)
    if (chosen.destination is None) == (chosen.record is None):
        parser.error("give a folder for the pages, or --record NAME")
    if chosen.record is not None:
        _record(chosen.record or broken.names())
        return 0
    if not (REPOSITORY / "docs").is_dir():
        say(f"site: there are no docs in {REPOSITORY}. Run `make docs` in the repository of "
            "Ticklab.", file=sys.stderr)  # fmt: skip
        return 1
    try:
        stage = Stage(REPOSITORY, chosen.destination)
        stage.collect()
        docs_site.write_pitfalls(stage, chosen.only)
        docs_site.write_gallery(stage, chosen.only)
        docs_site.write_first(stage)
        docs_site.write_reading(stage)
        docs_site.write_method(stage)
    except (OSError, BadLink) as error:
        say(f"site: {error}", file=sys.stderr)
        return 1
    return 0


def _record(names: Sequence[str]) -> None:
    """Run each broken C kernel and its twin with few samples, and save both recordings."""
    for name in names:
        for kind, plan in zip(docs_site.KINDS, plans(broken.find(name)), strict=True):
            path = docs_site.run_file(name, kind)
            path.parent.mkdir(parents=True, exist_ok=True)
            measure_now(short(plan)).write(path)
            say(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
