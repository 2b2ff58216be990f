"""`labs completion`: the line for a shell's start file that completes `labs` and `grader`."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from labs import terminal
from labs.terminal import say

#: The file that each shell reads when it starts.
START_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}
_LINES = {
    "bash": 'eval "$({program} --shell bash labs grader)"',
    "zsh": 'autoload -U compinit && compinit && eval "$({program} --shell zsh labs grader)"',
    "fish": "{program} --shell fish labs grader | source",
}


def run_completion(arguments: argparse.Namespace) -> int:
    """Print the line; the exit status is 0. In a terminal, say where it belongs."""
    sys.stdout.write(line_for(arguments.shell) + "\n")  # never broken: it is to be copied
    if terminal.columns() is not None:
        say(
            f"Put this line into {START_FILES[arguments.shell]}, and open a new terminal.",
            file=sys.stderr,
        )
    return 0


def line_for(shell: str) -> str:
    """The line for this shell; it names the program beside the Python that runs now."""
    beside = Path(sys.executable).parent / "register-python-argcomplete"
    program = shlex.quote(str(beside)) if beside.is_file() else beside.name
    return _LINES[shell].format(program=program)
