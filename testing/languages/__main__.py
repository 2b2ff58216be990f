"""Bring the catalogues up to date, and print what they lack.

python -m testing.languages             every catalogue in labs/languages
python -m testing.languages --missing   change nothing, print the sentences without translation
python -m testing.languages fr          begin one for French
python -m testing.languages fr --take FILE
                                        take the translations in FILE, another .po file
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from labs.languages.po_file import FOLDER, languages
from testing.languages.sources import sentences
from testing.languages.update import missing, take, updated


def main(words: list[str] | None = None) -> int:
    """Status 1 if a catalogue lacks a sentence.

    Status 2 if FILE translates a sentence that the kit does not say.
    """
    parser = argparse.ArgumentParser(prog="python -m testing.languages")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument("--missing", action="store_true", help="change nothing")
    parser.add_argument("--take", type=Path, metavar="FILE", help="with the translations of one")
    asked = parser.parse_args(words)
    if asked.take is not None and (asked.missing or len(asked.languages) != 1):
        parser.error("--take FILE needs one LANGUAGE, and no --missing")
    status = 0
    every = sentences()
    for language in asked.languages or languages():
        path = FOLDER / f"{language}.po"
        if not asked.missing:
            updated(path, every)
        if asked.take is not None and (unknown := take(path, asked.take, every)):
            for english in unknown:
                print(f"{asked.take}: the kit does not say: {english}", file=sys.stderr)
            return 2
        lacks = list(missing(path, every))
        for each in lacks:
            status = 1
            print(f"{language}: [{each.where}] {each.english}")
        counted, all_of = Counter(one.part for one in lacks), Counter(one.part for one in every)
        for part, most in all_of.items():
            print(f"{language}: {part}: {most - counted[part]} of {most} sentences translated")
    return status


if __name__ == "__main__":
    sys.exit(main())
