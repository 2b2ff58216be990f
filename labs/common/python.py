"""Starts Python for the kit, so that nothing in the current folder is run.

Started with -m or -c, Python looks for modules in the current folder first. The folder may be a
student's: a file `random.py` there would be run in place of Python's own. The option -P is there
from Python 3.11 on only.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: A folder in which no student can write, for processes that need no other one: nbgrader and
#: matplotlib read settings in the current folder.
NEUTRAL = "/"

# `sys` is built in, so it is not looked for in any folder.
_START = """\
import sys
sys.path[:] = {path!a}
del sys.argv[0]
import runpy
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def command(module: str, *words: str) -> list[str]:
    """The command that runs `module` with these words, as `python -m` does.

    The new process finds the modules that this one finds, except in the current folder.
    """
    return [sys.executable, "-c", _START.format(path=modules_path()), module, *words]


def modules_path() -> list[str]:
    """Where this process looks for modules, without the current folder."""
    return [str(each) for each in sys.path if Path(each).is_absolute()]
