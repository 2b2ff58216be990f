"""`python -m bench.honest FOLDER [COUNT]`: save honest submissions as fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.honest.submissions import save

if __name__ == "__main__":
    save(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60)
