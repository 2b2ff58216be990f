"""The catalogues: complete where they must be, without a value or a piece of code lost."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from labs.languages import po_file
from labs.languages.po_file import BadCatalogue, entries, languages
from labs.languages.words import in_language, is_translated, of_language_named
from testing.languages.in_code import in_functions, is_sentence, on_the_screen
from testing.languages.sentence import EVIDENCE, Sentence, lost
from testing.languages.sources import sentences
from testing.languages.update import missing, take, updated
from testing.paths import REPOSITORY

EVERY = sentences()
LAB = "01-timer-overhead"
NOTEBOOK = REPOSITORY / "notebooks" / LAB / f"{LAB}.ipynb"


def test_these_languages_are_there() -> None:
    assert {"de", "es"} <= {*languages()}


@pytest.mark.parametrize("language", languages())
def test_nothing_is_missing(language: str) -> None:
    """If this fails: `python -m testing.languages`, then translate what it prints in the `.po`
    file. Where it kept the translation of a reworded sentence, mend it and remove `#, fuzzy`."""
    lacks = [each.english for each in missing(po_file.FOLDER / f"{language}.po", EVERY)]
    assert not lacks, f"{language} has no translation of {len(lacks)} sentences: {lacks}"


@pytest.mark.parametrize("language", languages())
def test_every_sentence_is_in_the_catalogue(language: str) -> None:
    """If this fails: `python -m testing.languages`."""
    text = (po_file.FOLDER / f"{language}.po").read_text(encoding="utf-8")
    assert {each.english for each in EVERY} == {each.english for each in entries(text)} - {""}


def test_a_new_message_is_found(tmp_path: Path) -> None:
    code = tmp_path / "one.py"
    code.write_text(
        '_HEADER = ("cost",)\n'
        "async def f(n):\n"
        '    say(f"{n} runs were measured.", "2px 8px")\n'
        '    return Message("note", "saved", (), n)\n'
    )
    found = {("cost", False), ("{n} runs were measured.", True), ("saved", False)}
    assert {*on_the_screen(code)} == found


@pytest.mark.parametrize("language", languages())
def test_no_translation_loses_a_value_or_code(language: str) -> None:
    known = {each.english: each for each in EVERY}
    text = (po_file.FOLDER / f"{language}.po").read_text(encoding="utf-8")
    troubles = {
        each.english: found
        for each in entries(text)
        if each.translated and each.english in known
        if (found := list(lost(known[each.english], each.translated)))
    }
    assert not troubles


def test_what_is_lost_is_seen() -> None:
    holds = Sentence("You gave {value}: see `x`.", EVIDENCE, "", holds_values=True)
    assert list(lost(holds, "Sie gaben {value}: siehe `x`.")) == []
    assert list(lost(holds, "Sie gaben: siehe `x`.")) == ["{value}"]
    assert list(lost(holds, "Sie gaben {wert}, {value}: `y`.")) == ["{wert}", "`x`", "`y`"]
    link = Sentence("[a](b.ipynb) and [c](#d)", EVIDENCE, "")
    assert list(lost(link, "[a](b.ipynb) und [c](#e)")) == []
    assert list(lost(link, "[a](z.ipynb) und [c](#e)")) == ["b.ipynb", "z.ipynb"]


@pytest.mark.parametrize("language", languages())
def test_our_reader_finds_what_babel_finds(language: str) -> None:
    content = (po_file.FOLDER / f"{language}.po").read_bytes()
    theirs = {
        message.id: (message.string, message.fuzzy)
        for message in read_po(io.BytesIO(content))
        if message.id
    }
    ours = {
        each.english: (each.translated, "fuzzy" in each.flags)
        for each in entries(content.decode())
        if each.english
    }
    assert ours == theirs and len(ours) > len(EVERY) * 0.9


def test_a_pattern_is_compiled_only_for_a_text_that_may_match() -> None:
    """A command shows few of all sentences: compiling each of them would take the longest."""
    one = po_file.template("You gave {value}", "Sie gaben {value}")
    assert "english" not in vars(one)
    assert one.english.fullmatch("You gave 20 ns") and "english" in vars(one)


@pytest.mark.parametrize(
    "text",
    ['msgid "a', 'msgid a"\nmsgstr ""', '"a"', 'msgctxt "a"\nmsgid "b"\nmsgstr ""', "nothing"],
)
def test_a_line_that_is_not_of_gettext_is_refused(text: str) -> None:
    with pytest.raises(BadCatalogue):
        list(entries(text))


def test_a_translation_is_taken_from_another_file(tmp_path: Path) -> None:
    path, given = tmp_path / "de.po", tmp_path / "given.po"
    clock = Sentence("The clock costs more than the operation that it times.", EVIDENCE, "")
    much = Sentence("The clock costs much more than the operation that it times.", EVIDENCE, "")
    brace = Sentence("A { of your C has no } that closes it.", EVIDENCE, "")
    updated(path, [clock, brace])
    given.write_text(f'msgid "{clock.english}"\nmsgstr "Die Uhr kostet mehr."\n')
    assert take(path, given, [clock, brace]) == []
    assert list(missing(path, [clock])) == []
    assert po_file.HOLDS_VALUES not in path.read_text()
    updated(path, [clock, much])  # babel guesses the translation of the second
    assert list(missing(path, [clock, much])) == [much]
    given.write_text(f'msgid "{much.english}"\nmsgstr "Die Uhr kostet viel mehr."\n')
    assert take(path, given, [clock, much]) == []
    assert list(missing(path, [clock, much])) == []
    text = path.read_text()
    assert "Die Uhr kostet mehr." in text and "fuzzy" not in text and "#|" not in text
    given.write_text('msgid "Nobody says this."\nmsgstr "Niemand."\n')
    assert take(path, given, [clock, much]) == ["Nobody says this."]
    assert path.read_text() == text


def test_a_reworded_sentence_keeps_its_translation_for_a_person_to_look_at(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    old = Sentence("The clock costs more than the operation that it times.", EVIDENCE, "")
    updated(path, [old])
    content = path.read_text().replace('times."\nmsgstr ""', 'times."\nmsgstr "Die Uhr."')
    path.write_text(content)
    assert list(missing(path, [old])) == []
    new = Sentence("The clock costs much more than the operation that it times.", EVIDENCE, "")
    updated(path, [new])
    assert "Die Uhr." in path.read_text() and "fuzzy" in path.read_text()
    assert list(missing(path, [new])) == [new]


def test_sentences_are_found_in_code(tmp_path: Path) -> None:
    code = tmp_path / "one.py"
    code.write_text(
        'NOT = "Not in a function at all."\n'
        "def f(c, n):\n"
        '    """Not this sentence, a docstring."""\n'
        '    name = "not-a-sentence"\n'
        '    return f"You gave {c.value:g} and {rounded(n)}, not {c.value:.1f} {{x}}." + name\n'
    )
    assert list(in_functions(code, is_sentence)) == [
        ("You gave {value} and {n}, not {value} {{x}}.", True)
    ]
    assert not is_sentence("{a}, {b} and {c}.")


@pytest.mark.parametrize("language", languages())
def test_the_notebook_has_other_words_and_the_same_cells(language: str) -> None:
    english = NOTEBOOK.read_bytes()
    before = json.loads(english)
    after = json.loads(in_language(english, of_language_named(language)))
    assert {key: before[key] for key in before if key != "cells"} == {
        key: after[key] for key in after if key != "cells"
    }
    for one, other in zip(before["cells"], after["cells"], strict=True):
        assert {**one, "source": ""} == {**other, "source": ""}
        assert (one["source"] != other["source"]) == is_translated(one)


@pytest.mark.parametrize("language", languages())
def test_its_links_lead_to_its_own_headings(language: str) -> None:
    cells = json.loads(in_language(NOTEBOOK.read_bytes(), of_language_named(language)))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    headings = {line.replace(" ", "-") for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(links) == 6 and {*links} <= headings


def test_a_notebook_without_translation_keeps_its_bytes() -> None:
    lab = "08-five-reports-on-trial"
    content = (REPOSITORY / "notebooks" / lab / f"{lab}.ipynb").read_bytes()
    assert in_language(content, of_language_named("de")) == content


def prose() -> Iterator[str]:
    """Sentences of notebooks and docs that no catalogue has: nobody translates them."""
    known = {each.english for each in EVERY}
    texts: list[str] = []
    for path in sorted((REPOSITORY / "notebooks").glob("*/*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(each["source"]) for each in cells if each["cell_type"] == "markdown"]
    for path in sorted((REPOSITORY / "docs").rglob("*.md")):
        texts += path.read_text(encoding="utf-8").split("\n\n")
    for text in texts:
        yield from (each for each in re.split(r"(?<=[.?!]) (?=[^a-z])", text) if each not in known)


@pytest.mark.parametrize("language", languages())
def test_no_sentence_is_taken_for_another(language: str) -> None:
    """A sentence with values that has few words of its own is found in others. If this fails: say
    in `labs.languages.po_file._KINDS` what its values are."""
    shown = of_language_named(language)
    sentences = set(prose())
    assert len(sentences) > 1_000
    assert not {each: shown(each) for each in sentences if shown(each) != each}


@pytest.mark.parametrize("language", languages())
def test_each_sentence_is_found_as_itself(language: str) -> None:
    """With its own names as values, no template comes before the one that was meant."""
    found = of_language_named(language)
    own = {each.english: each.translated.strip() for each in of_catalogue(language)}
    plain = [each.english for each in EVERY if not each.holds_values and len(each.english) < 800]
    assert not [each for each in plain if found.heading(each.strip()) != own[each]]


def of_catalogue(language: str) -> list[po_file.Entry]:
    return list(entries((po_file.FOLDER / f"{language}.po").read_text(encoding="utf-8")))
