"""Read a catalogue: a `.po` file of gettext, as translators and their tools write it.

The file is read as it is, because a compiled one would have to be made at each installation.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
#: The flag of a sentence with values in it, each as `{name}`.
HOLDS_VALUES = "python-brace-format"
#: The flag of a translation that a person has to look at first. It is not shown.
NOT_SURE = "fuzzy"

#: A variant, also with its C kernel.
_NAME = r"[`'\w-]+(?:(?<=[a-z_`]) [`'\w-]+)?"
#: One name or more, as the kit lists them: `args{0..12}, add{2,4}`.
_ITEM = r"(?:\{[^} ]*\}|[^ ,;:{])+"
_LIST = f"{_ITEM}(?:, {_ITEM})*"
#: A number with what belongs to it, such as its unit and its interval, in one sentence.
_AMOUNT = r"[-−]?\d(?:[^;.?!]|[.?!](?! [^a-z]))*"
#: What a value may be, by how its name begins. Where a sentence has few words of its own, this is
#: what keeps it from being found in any other.
_KINDS = {
    "number_": r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?",
    "as_submitted": r"(?:[-−+]?[\d.][^ ]*|[-+]?inf|nan) [^ ]+",
    "ratio": _AMOUNT,
    "gap": _AMOUNT,
    "unit": r"[^\d()]+",
    "sign": r"[^\d\s]+",  # of a unit
    "symbol": r"[^\d\s]+",
    "low": r"[^ ()]+",
    "high": r"[^ ()]+",
    "amount_": _AMOUNT,
    "difference_as_text": _AMOUNT,
    "more": r"more|less|\d+",
    "side": "more|less",
    "multiple": r"[\d.e+-]+ times [^\n]*",
    "short": _LIST,
    "there": _LIST,
    "self": _LIST,
    "report": _LIST,
    "recording": r"[^`\n]+?",  # names of files; code that prose names is between backticks
    "NAMES": "ticks|core cycles|(?:nano|micro|milli)?seconds",
    "option_": r"(?:--[\w-]+ [^ ]+|\w+=[^ ]+)",
    "value_as_text": f"no figure|{_AMOUNT}",
    "suggestion": r"[:;] [^\n]*",
    "folder_meant": r"(?:: [^\n]*)?",
    "needs": "(?:also )?needs",
    "names": rf"{_NAME}(?:(?:, | and ){_NAME})*(?: and \d+ more)?|\d+ more",
    "word": "[a-z]*",  # such as the `s` of a plural
}
#: Any other value: no line, and not the end of one sentence and the beginning of another.
#: Each character can be matched in one way only, so that no text takes long.
_ANY = r" ?(?:[^ \n]| (?!(?<=[.?!] )[^a-z]))*?"
#: A blank between two values does not lie between two sentences either.
_BLANK = r" (?!(?<=[.?!] )[^a-z])"
_FIELD = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) )?(".*")')


class BadCatalogue(ValueError):
    """A line of a catalogue cannot be read; the message says which and why."""


@dataclass
class Entry:
    """A sentence in English, what it is called in the other language, and its flags."""

    english: str = ""
    translated: str = ""
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Template:
    """A sentence with values: `english` finds them in a finished sentence, `translated` takes them.

    `parts` are the words between the values. Without `alone`, it is looked for only in a value of
    another sentence: "{one} divided by {other}" is found in too many sentences.
    """

    pattern: str
    parts: tuple[str, ...]
    translated: str
    alone: bool = True

    @cached_property
    def english(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed: a command shows few of all sentences."""
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Catalogue:
    """The translations of one language: of whole sentences, and of those with values.

    The templates with most words of their own come first: they are the most exact. No text begins
    or ends with a blank.
    """

    sentences: dict[str, str] = field(default_factory=dict)
    templates: tuple[Template, ...] = ()


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a catalogue, without English."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.po")))


@cache
def of_language(language: str) -> Catalogue:
    """The catalogue of a language. Raises BadCatalogue, and OSError if there is none."""
    path = FOLDER / f"{language}.po"
    sentences: dict[str, str] = {}
    templates = []
    for each in entries(path.read_text(encoding="utf-8"), path.name):
        if not each.english or not each.translated or NOT_SURE in each.flags:
            continue
        sentences[each.english.strip()] = each.translated.strip()
        if HOLDS_VALUES in each.flags:
            templates.append(template(each.english.strip(), each.translated.strip()))
    templates.sort(key=lambda one: -sum(map(len, one.parts)))
    return Catalogue(sentences, tuple(templates))


def template(english: str, translated: str) -> Template:
    """How values are found in `english` and put into `translated`. Raises BadCatalogue."""
    pattern, parts, seen = "", [], set[str]()
    for words, name in _pieces(english):
        pattern += _BLANK if words == " " else re.escape(words)
        parts += [words] if words else []
        if name is not None:
            value = next((kind for start, kind in _KINDS.items() if name.startswith(start)), _ANY)
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{value})"
            seen.add(name)
    unknown = {name for _, name in _pieces(translated) if name is not None} - seen
    if unknown:
        raise BadCatalogue(f"{translated!r} has {{{min(unknown)}}}, which {english!r} has not")
    alone = english[0].isupper() or english[-1] in ".?:"
    return Template(pattern, tuple(parts), translated, alone)


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    try:
        for words, name, _, _ in string.Formatter().parse(text):
            if name is not None and not name.isidentifier():
                raise ValueError(f"{{{name}}} is no name of a value")
            yield words, name
    except ValueError as error:
        raise BadCatalogue(f"{text!r}: {error}") from error


def values_of(text: str) -> frozenset[str]:
    """The names of the values in a sentence. Raises BadCatalogue."""
    return frozenset(name for _, name in _pieces(text) if name is not None)


def entries(text: str, where: str = "catalogue") -> Iterator[Entry]:
    """Every entry of a `.po` file, also those without a translation. Raises BadCatalogue."""
    now, key = Entry(), ""
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        line = line.strip()
        if not line:
            if key:
                yield now
            now, key = Entry(), ""
        elif line.startswith("#,"):
            now.flags = frozenset(flag.strip() for flag in line[2:].split(","))
        elif not line.startswith("#"):
            found = _FIELD.fullmatch(line)
            if found is None or not (found[1] or key):
                raise BadCatalogue(f"{where}, line {number}: {line[:60]!r} is not of gettext")
            key = found[1] or key
            _add(now, key, _unquoted(found[2], f"{where}, line {number}"))


def _add(entry: Entry, key: str, words: str) -> None:
    if key == "msgid":
        entry.english += words
    elif key == "msgstr":
        entry.translated += words
    else:
        raise BadCatalogue(f"{key} is not used in these catalogues ({entry.english[:40]!r})")


def _unquoted(quoted: str, where: str) -> str:
    if "\\" not in quoted and quoted.count('"') == 2:  # most lines; Python would take its time
        return quoted[1:-1]
    try:
        found = ast.literal_eval(quoted)
    except (ValueError, SyntaxError) as error:
        raise BadCatalogue(f"{where}: {quoted[:60]} is no text between quotes") from error
    return str(found)
