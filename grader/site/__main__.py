"""Write the pages of the site, from which Sphinx makes HTML: `python -m grader.site build/site`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grader.site import site_pages
from grader.site.site_pages import BadLink, Stage
from labs.terminal import say

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def main(words: list[str] | None = None) -> int:
    """The command line; status 1 if a link leads nowhere or a file cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m grader.site", description="pages of the docs")
    parser.add_argument("destination", type=Path, help="folder for the pages; it is emptied first")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="NAME", help="pitfalls and C kernels with a page"
    )
    chosen = parser.parse_args(words)
    if not (REPOSITORY / "docs").is_dir():
        say(f"site: there are no docs in {REPOSITORY}. Run `make docs` in the repository of "
            "Ticklab.", file=sys.stderr)  # fmt: skip
        return 1
    try:
        stage = Stage(REPOSITORY, chosen.destination)
        stage.collect()
        site_pages.write_pitfalls(stage, chosen.only)
        site_pages.write_gallery(stage, chosen.only)
        site_pages.write_reading(stage)
        site_pages.write_method(stage)
    except (OSError, BadLink) as error:
        say(f"site: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
