"""Programs that are run to their end."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import psutil

Done = subprocess.CompletedProcess[str]


def call(*words: str | Path, **how: Any) -> Done:
    """Run a program to its end, its output and its errors apart, as text.

    `how` are further arguments of subprocess.run: with check=True, CalledProcessError is raised.
    """
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 240}
    return subprocess.run(list(map(str, words)), **{"check": False, **ends, **how})


def alive(marker: str) -> list[int]:
    """The processes of this machine whose command line holds `marker`."""
    every = psutil.process_iter(["cmdline"])
    return [each.pid for each in every if marker in " ".join(each.info["cmdline"] or ())]
