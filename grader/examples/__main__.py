"""Make the examples that a wheel holds: `python -m grader.examples FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.examples.example import write
from labs.languages.chosen import keep_english

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m grader.examples FOLDER")
    keep_english()  # the same bytes wherever a wheel is built
    write(Path(sys.argv[1]))
