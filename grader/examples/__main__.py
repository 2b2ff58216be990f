"""Make the examples that a wheel holds: `python -m grader.examples FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.examples import write

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m grader.examples FOLDER")
    write(Path(sys.argv[1]))
