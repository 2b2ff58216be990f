"""The lines of each package that the tests have run, as a table.

    python -m testing.covered build/coverage.json

The file is a report of coverage.py in JSON. Lines that run in processes of their own, such as a
notebook's, are not counted. The table informs; no number of lines is demanded.
"""

from __future__ import annotations

import collections
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labs.html import Table


def table_of(report: Mapping[str, Any]) -> Table:
    """One row for each package, and one for all together."""
    lines: dict[str, int] = collections.Counter()
    covered: dict[str, int] = collections.Counter()
    for path, file in report["files"].items():
        for package in (".".join(Path(path).parent.parts[:2]), "all"):
            lines[package] += file["summary"]["num_statements"]
            covered[package] += file["summary"]["covered_lines"]
    packages = [*sorted(set(lines) - {"all"}), "all"]
    rows = tuple(
        (package, f"{lines[package]:,}", f"{100 * covered[package] / lines[package]:.0f} %")
        for package in packages
        if lines[package]
    )
    return Table("Lines run by the tests", ("package", "lines", "run"), rows)


def main(words: list[str]) -> int:
    """Print the table of the report in the file that is named."""
    print(table_of(json.loads(Path(words[0]).read_text(encoding="utf-8"))).as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
