"""Bring the catalogues up to date, and print what they lack.

python -m testing.languages             every catalogue in labs/languages
python -m testing.languages --missing   change nothing, print the sentences without translation
python -m testing.languages fr          begin one for French
"""

from __future__ import annotations

import sys
from collections import Counter

from labs.languages.catalogue import FOLDER, languages
from testing.languages.sentence import COMPLETE
from testing.languages.sources import sentences
from testing.languages.update import missing, updated


def main(asked: list[str]) -> int:
    """Status 1 if a catalogue lacks a sentence of a part that must be complete."""
    status = 0
    every = sentences()
    for language in [word for word in asked if word[0] != "-"] or languages():
        path = FOLDER / f"{language}.po"
        if "--missing" not in asked:
            updated(path, every)
        lacks = list(missing(path, every))
        for each in lacks:
            if each.part in COMPLETE:
                status = 1
                print(f"{language}: [{each.where}] {each.english}")
        counted, all_of = Counter(one.part for one in lacks), Counter(one.part for one in every)
        for part, most in all_of.items():
            print(f"{language}: {part}: {most - counted[part]} of {most} sentences translated")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
