"""Python files of a student that note when they are run, under names that the kit imports too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

#: Modules of Python, of packages and of the kit, and the settings of nbgrader.
MODULES = (
    "json.py",
    "random.py",
    "pickle.py",
    "socket.py",
    "numpy.py",
    "jinja2.py",
    "labs/__init__.py",
    "grader/__init__.py",
    "nbgrader_config.py",
)


def plant(*folders: Path, noted_in: Path) -> Callable[[], list[str]]:
    """Write the files into the folders; returns a function that gives those that ran since."""
    noted = noted_in.absolute()
    for folder in folders:
        for module in MODULES:
            path = folder / module
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"print({str(path)!r}, file=open({str(noted)!r}, 'a'))\n")

    def ran() -> list[str]:
        found = noted.read_text().splitlines() if noted.exists() else []
        noted.unlink(missing_ok=True)
        return found

    return ran
