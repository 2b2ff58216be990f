"""Suggest known words: for a misspelt word, and to a shell when somebody presses Tab."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

#: From this similarity on, we take one name for a misspelling of the other.
ALIKE = 0.7
#: More names than this are not listed: they would hide what is wrong.
_MOST_LISTED = 60


def meant(word: str, known: Sequence[str], alike: float = ALIKE) -> str:
    """The known word that is most like `word`; '' if none is."""
    # Here: few commands are misspelt, and difflib takes as long to load as they do.
    import difflib

    # A very long word is like none, and comparing it would take long.
    close = difflib.get_close_matches(word[:200], known, n=1, cutoff=alike)
    return close[0] if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown word: a similar known word, or all known words."""
    close = meant(word, known)
    if close:
        return f": did you mean {close}?"
    if len(known) > _MOST_LISTED:
        return f"; there are {len(known)}, such as {', '.join(known[:3])}."
    listed = ", ".join(known)
    return f"; there is {listed}." if known else "; there is none."


# A shell asks argcomplete when somebody presses Tab, and argcomplete asks these functions.

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


def offered_folders(prefix: str, **_: object) -> list[str]:
    """The folders that begin with `prefix`."""
    return [name for name, is_folder in _entries_at(prefix) if is_folder]


def offered_files(suffix: str) -> Completer:
    """A completer that offers files with this suffix, and the folders that may hold some."""
    return lambda prefix, **_: [
        name for name, is_folder in _entries_at(prefix) if is_folder or name.endswith(suffix)
    ]


def _entries_at(prefix: str) -> Iterator[tuple[str, bool]]:
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
