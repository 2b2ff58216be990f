"""Files of a student that note when they are run; the kit or its tools look for their names."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

#: Modules of Python, of packages and of the kit.
MODULES = (
    "json.py",
    "random.py",
    "pickle.py",
    "socket.py",
    "numpy.py",
    "jinja2.py",
    "sitecustomize.py",
    "usercustomize.py",
    "labs/__init__.py",
    "grader/__init__.py",
)
#: Settings in Python that Jupyter and nbgrader run.
SETTINGS = (
    "nbgrader_config.py",
    "jupyter_config.py",
    "jupyter_nbgrader_config.py",
)
#: Programs that the kit or the compiler starts by name.
PROGRAMS = ("python", "python3", "gcc", "as", "ld", "cat", "nm", "objdump", "strace", "sh", "git")


def plant(*folders: Path, noted_in: Path) -> Callable[[], list[str]]:
    """Write the files into the folders; returns a function that gives those that ran since."""
    noted = noted_in.absolute()
    for folder in folders:
        for module in (*MODULES, *SETTINGS):
            path = folder / module
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"print({str(path)!r}, file=open({str(noted)!r}, 'a'))\n")
        for program in PROGRAMS:
            path = folder / program
            path.write_text(f'#!/bin/sh\necho {path} >> {noted}\nexec /usr/bin/{program} "$@"\n')
            path.chmod(0o755)
        note = shlex.join(["/bin/sh", "-c", f"echo {folder}/.git/config >> {noted}"])
        (folder / ".git").mkdir(exist_ok=True)
        (folder / ".git" / "config").write_text(f'[core]\n\tfsmonitor = "{note}"\n')
        (folder / "matplotlibrc").write_text("text.usetex: True\n")

    def ran() -> list[str]:
        found = noted.read_text().splitlines() if noted.exists() else []
        noted.unlink(missing_ok=True)
        return found

    return ran
