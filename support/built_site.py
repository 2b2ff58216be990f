"""The site of the docs, built as `make docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

from support.paths import REPOSITORY
from support.programs import call


def build(folder: Path, *only: str) -> Path:
    """Build the site below `folder`, with all pages that are made or `only` some of them.

    Every warning is an error. Returns the folder of the HTML pages. Raises CalledProcessError,
    which holds what was printed.
    """
    site, html = folder / "site", folder / "html"
    some = ["--only", *only] if only else []
    _run("grader.docs_site", site, *some)
    _run("sphinx", "-W", "--keep-going", "-q", "-c", "docs", "-d", folder / "doctrees", site, html)
    return html


def _run(module: str, *words: str | Path) -> None:
    command = [sys.executable, "-m", module, *words]
    call(*command, cwd=REPOSITORY, check=True)
