"""What a run says of itself is in one language: no clause of a warning stays English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from labs.languages import chosen
from labs.languages.po_file import languages
from labs.recording.file import BadRecording, read
from labs.results import remarks
from labs.results.result import Result, result_of
from testing.languages.left import left_in_english
from testing.paths import FIXTURES

#: What keeps its name: programs, functions, and what C says of an error of the OS.
NAMES = {"strace", "plot_processes", "CPU", "GHz", "ticks", "Operation not permitted"}


@dataclass(frozen=True)
class Said:
    """Sentences and clauses of saved runs, one of each kind, with the names that occur in them."""

    sentences: dict[str, frozenset[str]]
    clauses: dict[str, frozenset[str]]
    codes: frozenset[str]
    symptoms: frozenset[str]


def results() -> Iterator[list[Result]]:
    """The results of each saved run, for a terminal and for a notebook."""
    for file in sorted(FIXTURES.rglob("*.csv")):
        try:
            recording = read(file)
            some = [result_of(recording, name) for name in recording.variants]
        except (BadRecording, ValueError):
            continue
        yield some
        yield [each.for_python() for each in some]


def kind(text: str, names: frozenset[str]) -> str:
    """The same for two sentences that differ in names and numbers only."""
    named = re.compile("|".join(re.escape(each) for each in sorted(names, key=len, reverse=True)))
    return re.sub(r"[\d,.]+", "0", named.sub("x", text))


@pytest.fixture(scope="module")
def said() -> Said:
    sentences: dict[str, tuple[str, frozenset[str]]] = {}
    clauses: dict[str, tuple[str, frozenset[str]]] = {}
    codes, symptoms = set(), set()
    for some in results():
        names = frozenset({*some[0].recording.variants, some[0].recording.kernel})
        shown = remarks.of_results(some)
        for text in (*shown.warnings, *(each.sentence() for each in some)):
            sentences.setdefault(kind(text, names), (text, names))
        for text in (*shown.facts, *shown.quiet):
            clauses.setdefault(kind(text, names), (text, names))
        for each in some:
            for warning in each.warnings:
                codes.add(warning.code)
                symptoms.add(warning.symptom)
                text = f"{each.variant}: {warning}"
                sentences.setdefault(kind(text, names), (text, names))
    return Said(
        dict(sentences.values()),
        dict(clauses.values()),
        frozenset(codes),
        frozenset(symptoms),
    )


@pytest.mark.parametrize("language", languages())
def test_no_clause_of_a_warning_stays_english(said: Said, language: str) -> None:
    left = {
        text: found
        for text, names in said.sentences.items()
        if (found := left_in_english(text, language, names | NAMES))
    }
    left |= {
        text: found
        for text, names in said.clauses.items()
        if (found := left_in_english(text, language, names | NAMES, heading=True))
    }
    assert not left
    assert len(said.codes) > 14 and len(said.sentences) > 150, "else this test has seen little"


def test_a_symptom_ends_where_its_cause_begins(said: Said) -> None:
    """A warning is its symptom, a semicolon and its cause; a catalogue separates them there."""
    assert not [each for each in said.symptoms if ";" in each]


def test_what_stays_english_is_seen() -> None:
    known = "fenced: other programs were running; close them and measure again. "
    unknown = "fenced: other programs were running; the moon was full. Try: --samples 2000."
    assert left_in_english(f"{known}Try: --samples 2000.", "de", {"fenced"}) == []
    assert left_in_english(unknown, "de", {"fenced"}) == ["the moon was full"]
    assert left_in_english("The moon was full.", "de", ()) == ["The moon was full."]
    assert left_in_english("virtual machine", "de", (), heading=True) == []
    assert left_in_english("virtual moon", "de", (), heading=True) == ["virtual moon"]


def test_the_conditions_are_in_the_language(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = remarks.Remarks((), ("virtual machine", "1 of 2 CPUs busy"), ("fenced: no such words",))
    assert shown.conditions == (
        "Conditions: virtual machine, 1 of 2 CPUs busy; fenced: no such words."
    )
    monkeypatch.setenv(chosen.VARIABLE, "de")
    assert shown.conditions == (
        "Bedingungen: virtuelle Maschine, 1 von 2 CPUs beschäftigt; fenced: no such words."
    )
