"""Bring a catalogue up to date with the sentences of the kit.

A translation of a sentence that was reworded stays, marked `fuzzy`: somebody has to look at it, and
until then the sentence is shown in English. Removing the line `#, fuzzy` accepts it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from labs.files import write_atomically
from labs.languages.po_file import HOLDS_VALUES, NOT_SURE
from testing.languages.sentence import Sentence

_WIDTH = 100


def updated(path: Path, sentences: Iterable[Sentence]) -> None:
    """Add what the catalogue lacks and drop what the kit no longer says; make it if need be."""
    old = _read(path)
    new = Catalog()
    for each in sentences:
        new.add(
            each.english,
            flags={HOLDS_VALUES} if each.holds_values else (),
            auto_comments=[each.where],
        )
    old.update(new)
    old.obsolete.clear()
    _write(path, old, sentences)


def take(path: Path, given: Path, sentences: Iterable[Sentence]) -> list[str]:
    """Put the translations of the catalogue `given` into that at `path`, also over others.

    Returns the sentences that the catalogue at `path` does not hold. If there are any, it stays.
    """
    catalogue = _read(path)
    unknown = []
    for each in _read(given):
        message = catalogue.get(each.id)
        if not each.id or not each.string:
            continue
        if message is None:
            unknown.append(str(each.id))
            continue
        message.string, message.previous_id = each.string, []
        message.flags.discard(NOT_SURE)
    if not unknown:
        _write(path, catalogue, sentences)
    return unknown


def missing(path: Path, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences that the catalogue does not translate, or not for sure."""
    catalogue = _read(path)
    for each in sentences:
        message = catalogue.get(each.english)
        if message is None or not message.string or message.fuzzy:
            yield each


def _read(path: Path) -> Catalog:
    if not path.is_file():
        return Catalog()
    return read_po(io.BytesIO(path.read_bytes()))


def _write(path: Path, catalogue: Catalog, sentences: Iterable[Sentence]) -> None:
    # Babel takes `%` and braces for places of values; only our own f-strings have these.
    with_values = {each.english for each in sentences if each.holds_values}
    for message in catalogue:
        message.flags.discard("python-format")
        if str(message.id) not in with_values:
            message.flags.discard(HOLDS_VALUES)
    written = io.BytesIO()
    write_po(written, catalogue, width=_WIDTH, include_previous=True, omit_header=True)
    write_atomically(path, _HEADER.format(language=path.stem).encode() + written.getvalue())


_HEADER = """\
# Ticklab in another language. `python -m testing.languages` takes the sentences from the kit.
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
