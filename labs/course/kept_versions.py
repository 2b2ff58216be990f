"""A file of a lab folder that keeps every version of what a student entered, the newest last.

{"name": [{...}, {...}]}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labs import limits
from labs.files import write_atomically
from labs.json_text import BadJson, Unreadable, read_entries


class BadVersions(ValueError):
    """The file cannot be read; the message says what is wrong and what to do."""


def read(path: Path) -> dict[str, Any]:
    """The entries of the file as they are, by name; empty if there is none. Raises BadVersions."""
    if not path.is_symlink() and not path.exists():
        return {}
    try:
        return read_entries(path, limits.MOST_FIGURES)
    except BadJson as error:
        raise BadVersions(
            f"{path.name} {error}; correct it, or move it out of the folder"
        ) from error
    except OSError as error:
        raise BadVersions(error.strerror or str(error)) from error


def add(path: Path, name: str, version: dict[str, Any]) -> None:
    """Add a version under `name`. Raises BadVersions, and files.CannotWrite."""
    stated = read(path)
    earlier = stated.get(name)
    stated[name] = [*(earlier if isinstance(earlier, list) else []), version]
    write(path, stated)


def write(path: Path, stated: dict[str, Any]) -> None:
    """Write all entries; if they are too many for the file, old versions are left out, but never
    the first and the newest one.

    Raises BadVersions if an entry is unreadable, because it would be lost, or if these two alone
    are too much. Raises files.CannotWrite. The file is then unchanged.
    """
    for name, entry in stated.items():
        if isinstance(entry, Unreadable):
            raise BadVersions(f"{path.name}, entry {name[:64]}: {entry.what}")
    kept = {
        name: [*entry[:1], *entry[1:][1 - limits.MOST_VERSIONS :]]
        if isinstance(entry, list)
        else entry
        for name, entry in stated.items()
    }
    while len(content := _as_bytes(kept)) > limits.MOST_JSON_BYTES:
        longest = max(kept, key=lambda name: len(kept[name]) if isinstance(kept[name], list) else 0)
        if not isinstance(kept[longest], list) or len(kept[longest]) < 3:
            raise BadVersions(
                f"{path.name} would be longer than {limits.MOST_JSON_BYTES:,} bytes, and no more "
                "is read; write less"
            )
        kept[longest] = [kept[longest][0], *kept[longest][2:]]
    write_atomically(path, content)


def _as_bytes(stated: dict[str, Any]) -> bytes:
    text = json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return text.encode()
