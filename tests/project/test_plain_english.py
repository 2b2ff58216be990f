"""What people read is in plain English: no phrase that readers stumbled over, no long sentence."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.paths import REPOSITORY

MOST_WORDS_OF_A_SENTENCE = 30


class Phrase(NamedTuple):
    """A phrase that readers had to read twice, as it occurs, and what says the same."""

    pattern: str
    example: str
    instead: str


PHRASES = (
    Phrase(r"\bis told\b", "the student is told", "is reported, the run prints a warning"),
    Phrase(r"\btells? of\b", "the note tells of it", "reports"),
    Phrase(r"\bsays so where it\b", "the kit says so where it is made", "prints a warning"),
    Phrase(r"\bstands? (there|beside)\b", "it stands there twice", "appears, is shown next to"),
    Phrase(r"\bstands on its head\b", "the ratio stands on its head", "is upside down"),
    Phrase(r"\bof (a )?first times?\b", "the plot is of first times", "measures first calls"),
    Phrase(r"\bbelieves to\b", "what it believes to measure", "thinks it measures"),
    Phrase(r"\bcosts more with\b", "what a hop costs more with 256 KB", "the extra cost of"),
    Phrase(r"\bwhat [\w' -]+ costs more than\b", "what X costs more than Y", "how much more"),
    Phrase(r"\btwice as much more\b", "costs twice as much more", "doubles the extra cost"),
    Phrase(r"\bhardly has th", "it hardly has that cause", "this cause is negligible"),
    Phrase(r"\bdoes as well\b", "a terminal does as well", "you can also use"),
    Phrase(r"\bwrite the cell so\b", "Write the cell so:", "write the cell like this"),
    Phrase(r"\bof that your\b", "of that your prediction is", "the dashed line is"),
    Phrase(r"\bcannot be said\b", "how far you are cannot be said", "cannot be read, is not known"),
    Phrase(r"\bless than nothing\b", "it gives less than nothing", "is negative, is below zero"),
    Phrase(r"\bnot so much to give\b", "it has not so much to give", "not enough free memory"),
    Phrase(r"\bmust find the same\b", "programs must find the same", "must agree"),
    Phrase(r"\bwhat met\b", "what met a quarter of them", "a disturbance that hits"),
    Phrase(r"\bparted\b", "the groups are parted", "separated"),
    Phrase(r"(?<![\w-])hand-?overs?(?![\w-])", "200,000 hand-overs", "handoffs"),
    Phrase(r"\bin words\b", "say it in words", "as text"),
    Phrase(r"\b(told|tells?) (\S+ ){0,3}apart\b", "could tell the two apart", "distinguish"),
    Phrase(r"\breading taken from\b", "the second reading taken from it", "subtracted from"),
    Phrase(r"(?<![\w-])dear(er|est)?(?![\w-])", "how many times dearer", "costs more, expensive"),
    Phrase(r"\b[io]n the mean\b", "20 ticks in the mean", "on average"),
    Phrase(r"\bbears? (\S+ ){1,3}out\b", "your data bear this out", "supports"),
    Phrase(r"\basked(?: for)? is\b", "Asked is the slope", "the lab asks for"),
    Phrase(r"\bwithout a word\b", "it ended without a word", "without a message"),
    Phrase(r"\bby (its|their) own account\b", "by its own account", "states that"),
    Phrase(r"\blay (\S+ ){1,4}(beside|side by side)\b", "lay both side by side", "compare"),
)


_BLOCK_OF_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_OF_TEMPLATES = re.compile(r"<style.*?</style>|<[^>]*>|\{#.*?#\}|\{%.*?%\}", re.DOTALL)


class Text(NamedTuple):
    """A text that somebody reads, and where it is."""

    place: str
    text: str


def _as_text(node: ast.AST) -> str | None:
    """A string as it is read, with … where a value goes; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(map(str, parts))
    return None


def strings(path: Path) -> Iterator[Text]:
    """The strings of a module, docstrings left out."""
    place = path.relative_to(REPOSITORY)
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        text = _as_text(node)
        if text is not None and any(each.isspace() for each in text.strip()):
            yield Text(f"{place}:{node.lineno}", text)  # type: ignore[attr-defined]
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Expr) and _as_text(node.value) is not None:
            children = []
        if isinstance(node, ast.JoinedStr):
            children = [each for each in children if isinstance(each, ast.FormattedValue)]
        waiting.extend(children)


def kit() -> Iterator[Text]:
    """What the kit and its pages say."""
    for package in ("labs", "grader"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            yield from strings(path)
        for path in sorted((REPOSITORY / package).rglob("*.jinja")):
            for line in _OF_TEMPLATES.sub("\n", path.read_text(encoding="utf-8")).split("\n"):
                yield Text(str(path.relative_to(REPOSITORY)), line)


def pages() -> Iterator[Text]:
    """The paragraphs, items and cells of tables of the pages."""
    paths = [*sorted((REPOSITORY / "docs").rglob("*.md"))]
    for path in [*paths, REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]:
        text = _BLOCK_OF_CODE.sub("", path.read_text(encoding="utf-8"))
        for block in re.split(r"\n\s*\n|\n(?=[-|])|(?<=\|)|(?m:^#.*$)", text):
            if not block.startswith("    "):
                yield Text(path.name, block)


def lessons() -> Iterator[Text]:
    """The cells of the notebooks, and the hints."""
    for path in sorted((REPOSITORY / "notebooks").glob("*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            yield Text(path.stem, "".join(cell["source"]))
    for path in sorted((REPOSITORY / "labs" / "course" / "hints").glob("*.json")):
        yield Text(path.name, path.read_text(encoding="utf-8"))


def phrases_in(text: str) -> list[str]:
    """Each phrase that readers stumbled over, with what to write instead."""
    joined = " ".join(text.split())
    found = ((each, re.search(each.pattern, joined, re.IGNORECASE)) for each in PHRASES)
    return [f"{match[0]!r}: {phrase.instead}" for phrase, match in found if match]


def sentences(text: str) -> Iterator[str]:
    """The parts of a text between full stops, colons, semicolons and ends of lines of code."""
    for part in re.split(r"(?<=[.?!;:])\s", text):
        yield " ".join(part.split())


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.example)
def test_each_phrase_is_found_where_it_is_said(phrase: Phrase) -> None:
    assert phrase.instead in " ".join(phrases_in(f"Here {phrase.example}\nfor once."))
    assert phrases_in(phrase.instead) == []


def test_names_are_no_phrases() -> None:
    assert phrases_in("switch-which-is-dearer, clock-dearer-than-the-thing, own-hand-over") == []


@pytest.mark.slow
def test_the_kit_says_nothing_that_readers_stumbled_over() -> None:
    found = [(each.place, phrases_in(each.text)) for each in (*kit(), *pages())]
    assert len(found) > 1000
    assert [each for each in found if each[1]] == []


def test_notebooks_and_hints_say_nothing_of_it_either() -> None:
    found = [(place, phrases_in(text)) for place, text in lessons()]
    assert len(found) > 300
    assert [each for each in found if each[1]] == []


def test_no_sentence_of_the_kit_is_long() -> None:
    long = [
        (place, len(sentence.split()), sentence)
        for place, text in (*kit(), *pages())
        for sentence in sentences(text)
        if len(sentence.split()) > MOST_WORDS_OF_A_SENTENCE
    ]
    assert long == []


def test_a_long_sentence_is_found() -> None:
    text = "Short. " + "word " * MOST_WORDS_OF_A_SENTENCE + "end: then. More."
    assert max(len(each.split()) for each in sentences(text)) == MOST_WORDS_OF_A_SENTENCE + 1
