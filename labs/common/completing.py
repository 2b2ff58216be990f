"""What a shell offers when somebody presses Tab: argcomplete asks the functions given here."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

#: Takes what is typed so far as `prefix`, and the arguments before it as `parsed_args`.
Completer = Callable[..., Sequence[str]]

#: More names are not offered: a shell would ask whether to show them.
_MOST = 1_000


def complete_with(action: argparse.Action, completer: Completer) -> None:
    """Have a shell complete the values of `action` by what `completer` returns."""
    action.completer = completer  # type: ignore[attr-defined]


def one_of(names: Callable[[], Sequence[str]]) -> Completer:
    """A completer that offers these names, whatever is typed."""
    return lambda **_: names()


def folders(prefix: str, **_: object) -> list[str]:
    """The folders that begin with `prefix`."""
    return [name for name, is_folder in _here(prefix) if is_folder]


def files(suffix: str) -> Completer:
    """A completer that offers files with this suffix, and the folders that may hold some."""
    return lambda prefix, **_: [
        name for name, is_folder in _here(prefix) if is_folder or name.endswith(suffix)
    ]


def _here(prefix: str) -> Iterator[tuple[str, bool]]:
    """The entries of the folder that `prefix` names, as one types them; folders end in a slash."""
    typed = prefix.rpartition("/")[0] + "/" if "/" in prefix else ""
    try:
        found = list(os.scandir(Path(typed).expanduser() if typed else "."))
    except (OSError, RuntimeError, ValueError):
        return
    for entry in sorted(found, key=lambda entry: entry.name)[:_MOST]:
        if not entry.name.startswith("."):
            is_folder = entry.is_dir()
            yield f"{typed}{entry.name}{'/' if is_folder else ''}", is_folder
