"""What a command says in a terminal, in the language of the reader. Its own name stays as it is."""

from __future__ import annotations

import sys

from labs.files import explained
from labs.languages.words import of_reader
from labs.terminal import say


def complain(command: str, why: str | Exception) -> None:
    """Print why `command` cannot go on, to standard error."""
    text = explained(why) if isinstance(why, Exception) else why
    say(f"{command}: {in_language(text)}", file=sys.stderr)


def in_language(text: str) -> str:
    """Sentences, of which the first may be a clause; one that follows the name of a file, too."""
    heading = of_reader().heading
    first, stop, more = text.partition(". ")
    if stop and not first[0].isupper() and (said := heading(first)) != first:
        return f"{said}. {in_language(more)}"
    shown = heading(text)
    if shown != text:
        return shown
    place, colon, what = text.partition(": ")
    said = heading(what)
    return f"{heading(place)}: {said}" if colon and said != what else text
