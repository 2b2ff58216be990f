"""Under which account this program runs: its name, and the place in which its runs are made.

The place is a random number that we make once and keep in the cache folder of the account. It
separates two machines whose accounts have the same name ("student", "jovyan"). A machine's own id
is often the same in all copies of a disk image; this number is the same only if it was made before
the image was copied. It says nothing about the machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from labs.common import paths
from labs.common.files import read_bounded, write_atomically

PLACE_FILE = "account-place"
_PLACE = re.compile(rb"[0-9a-f]{32}")
_MOST_BYTES = 100


@dataclass(frozen=True)
class Login:
    """An account of a JupyterHub if `on_hub` is set, else of the OS."""

    name: str
    on_hub: bool = False


def login() -> Login | None:
    """The account of this process; None if the OS has no name for it.

    On a hub all containers may run as one user of the OS, so the name is that of the hub.
    """
    on_hub = os.environ.get("JUPYTERHUB_USER", "").strip()
    if on_hub:
        return Login(on_hub, on_hub=True)
    try:
        import pwd

        # $USER and $LOGNAME may say anything; the OS knows whose process this is.
        return Login(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):
        return None


def place() -> str | None:
    """The random number of this account on this machine; None if it cannot be kept."""
    with contextlib.suppress(OSError):
        file = paths.cache() / PLACE_FILE
        known = _read(file)
        if known is None:
            write_atomically(file, secrets.token_hex(16).encode())
            known = _read(file)  # if two runs began at once, both take the number that stayed
        return known
    return None


def _read(file: Path) -> str | None:
    try:
        content = read_bounded(file, _MOST_BYTES).strip()
    except OSError:
        return None
    return content.decode() if _PLACE.fullmatch(content) else None
