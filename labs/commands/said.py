"""What a command says in a terminal."""

from __future__ import annotations

import sys

from labs.files import explained
from labs.terminal import say


def complain(command: str, why: str | Exception) -> None:
    """Print why `command` cannot go on, to standard error."""
    text = explained(why) if isinstance(why, Exception) else why
    say(f"{command}: {text}", file=sys.stderr)
