"""What a reader sees: the language that was chosen, sentence by sentence, and English otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cases.verdict import Finding, Level, Outcome, Verdict
from grader.commands import cli as grader_cli
from grader.judging.presentation import as_html, as_text
from grader.notebook import Shown
from labs import html as warned
from labs import paths
from labs.commands import cli
from labs.course.student_copy import MANIFEST, update_copy
from labs.languages import chosen
from labs.languages.po_file import BadCatalogue, Catalogue, template
from labs.languages.words import ENGLISH, Words, of_language_named, words
from labs.messages import Message
from testing.paths import REPOSITORY

LAB = "01-timer-overhead"
NAME = f"{LAB}/{LAB}.ipynb"
GERMAN_TITLE = "# Was kostet eine Uhr?"


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}, "en"),
        ({"LANG": "de_DE", "TICKLAB_LANGUAGE": "es"}, "es"),
        ({"TICKLAB_LANGUAGE": ""}, "en"),
        ({"TICKLAB_LANGUAGE": "fr"}, "en"),
        ({"TICKLAB_LANGUAGE": "ES"}, "es"),
        ({"TICKLAB_LANGUAGE": "../../etc"}, "en"),
    ],
)
def test_which_language(environment: dict[str, str], language: str) -> None:
    assert chosen.language(environment) == language


def some() -> Words:
    gave = "You gave {value}; that is {much} than {value}."
    templates = [template(gave, "Sie gaben {value}; das ist {much} als {value}.")]
    templates += [template("{number_1} to {number_2} ns", "{number_1} bis {number_2} ns")]
    plain = {"larger": "größer", "Measure again.": "Messen Sie noch einmal.", "One. Two.": "Beide."}
    return Words("xx", Catalogue(plain, tuple(templates)))


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        ("", ""),
        ("Nobody knows this one.", "Nobody knows this one."),
        ("Measure again. Nobody knows.", "Messen Sie noch einmal. Nobody knows."),
        ("One. Two. Measure again.", "Beide. Messen Sie noch einmal."),
        (
            "You gave 2 to 3 ns; that is larger than 2 to 3 ns.",
            "Sie gaben 2 bis 3 ns; das ist größer als 2 bis 3 ns.",
        ),
        ("You gave 2; that is larger than 3.", "You gave 2; that is larger than 3."),
        ("You gave {x}; that is {0} than {x}.", "Sie gaben {x}; das ist {0} als {x}."),
        ("2 to 3 ns", "2 to 3 ns"),
        ("You gave 2. Or 3; that is 4 than 2. Or 3.", "You gave 2. Or 3; that is 4 than 2. Or 3."),
        (
            "You gave a to b ns; that is 2 than a to b ns.",
            "Sie gaben a to b ns; das ist 2 als a to b ns.",
        ),
        ("larger " * 2_000, "larger " * 2_000),
    ],
)
def test_sentences_with_and_without_values(english: str, shown: str) -> None:
    assert some()(english) == shown


@pytest.mark.parametrize("piece", ["a: b; ", "You gave 2; ", "a to b, c of d. ", "x ", "(1 to 2) "])
def test_no_text_takes_long(piece: str) -> None:
    """A pattern that can match in many ways would not end here."""
    for language in ("de", "es"):
        shown = of_language_named(language)
        for times in (20, 100, 700):
            shown(piece * times)
            shown(f"Your samples of {piece * times} take no time.")


def test_a_value_that_english_has_not_is_refused() -> None:
    with pytest.raises(BadCatalogue, match="wert"):
        template("You gave {value}.", "Sie gaben {wert}.")


def test_the_catalogue_that_a_reader_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    symptom = "The clock's own cost is part of the figure."
    assert words(symptom) == symptom
    for language, shown in {
        "de": "Die Kosten der Uhr selbst sind Teil des Messwerts.",
        "es": "El coste del propio reloj es parte de la cifra.",
    }.items():
        monkeypatch.setenv(chosen.VARIABLE, language)
        assert words(symptom) == shown
        assert shown in repr(Message("problem", symptom))
        assert shown in Message("note", "kept", (symptom,)).as_html()
        assert warned.warnings_as_lines([symptom])[0].endswith(
            shown
        ) and shown in warned.warnings_as_html([symptom])


VERDICT = Verdict(
    figure="timer-step",
    outcome=Outcome.FAILED,
    points=1.0,
    max_points=2.0,
    reason="The figure is off by a factor of two.",
    levels=dict.fromkeys(Level, (0.5, 0.5)),
    findings=(
        Finding(
            "half-or-double",
            Level.INTERPRETATION,
            "The figure is off by a factor of two.",
            "Nobody translates this.",
            "Some things come in pairs: a pair of readings has one overhead together, a round trip "
            "holds two switches.",
            "Write down what one sample contains, and which part of it your figure is.",
        ),
    ),
)


def test_a_check_is_in_the_language_and_what_is_kept_is_english(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, text, html = VERDICT.as_json(), as_text(VERDICT), as_html(VERDICT)
    monkeypatch.setenv(chosen.VARIABLE, "de")
    shown = repr(Shown(VERDICT))
    assert shown.startswith("✗ timer-step: nicht bestanden, 1 von 2 Punkten\n")
    assert "Zum Entscheiden: Schreiben Sie auf, was eine Einzelmessung enthält" in shown
    assert "In Ihren Daten: Nobody translates this." in shown
    assert "um den Faktor zwei falsch" in Shown(VERDICT)._repr_html_()
    assert (VERDICT.as_json(), as_text(VERDICT), as_html(VERDICT)) == (kept, text, html)


def test_the_command_shows_the_language_and_its_json_is_english(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(REPOSITORY / "tests/fixtures/pitfalls/unit-slip/wrong")
    monkeypatch.setenv(chosen.VARIABLE, "es")
    grader_cli.main(["check", folder])
    assert "La cifra está desviada por una potencia entera de mil." in capsys.readouterr().out
    grader_cli.main(["check", folder, "--json"])
    assert "The figure is off by a whole power of a thousand." in capsys.readouterr().out


def test_nothing_is_looked_up_for_english() -> None:
    assert of_language_named("en") is ENGLISH
    assert ENGLISH("The figure is off by a factor of two.").startswith("The figure")


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """The text of lab 01 as it is released, and a lab that nobody has translated."""
    folder = tmp_path / "released"
    source = json.loads((paths.released() / NAME).read_bytes())
    for name in (NAME, "09-other/09-other.ipynb"):
        (folder / name).parent.mkdir(parents=True)
    (folder / NAME).write_text(json.dumps(source))
    source["cells"] = [{**source["cells"][0], "source": ["Nobody has translated this."]}]
    (folder / "09-other/09-other.ipynb").write_text(json.dumps(source))
    return folder


def title(copy: Path) -> str:
    return "".join(json.loads((copy / NAME).read_bytes())["cells"][0]["source"]).splitlines()[0]


def test_a_copy_in_german_stays_german_until_another_is_asked_for(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    monkeypatch.setattr(paths, "released", lambda: released)
    monkeypatch.setenv(chosen.VARIABLE, "en")
    assert cli.main(["start", str(copy), "--no-lab", "--language", "de"]) == 0
    assert title(copy) == GERMAN_TITLE
    assert (copy / "09-other/09-other.ipynb").read_bytes() == (
        released / "09-other/09-other.ipynb"
    ).read_bytes()
    assert update_copy(released, copy).updated == [] and title(copy) == GERMAN_TITLE
    assert update_copy(released, copy, "en").updated == [NAME]
    assert title(copy) == "# What does a timer cost?"
    assert "language" not in json.loads((copy / MANIFEST).read_text())


def test_changed_words_are_kept_beside_the_other_language(released: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    update_copy(released, copy)
    changed = json.loads((copy / NAME).read_bytes())
    changed["cells"][1]["source"] = "my own"
    (copy / NAME).write_text(json.dumps(changed))
    done = update_copy(released, copy, "es")
    assert [yours for yours, _ in done.newer] == [NAME] and title(copy).startswith("# What")


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("no translation has this heading", "To do: no translation has this heading"),
        ("This cell stops here; the message says why.", "Zu tun: Diese Zelle"),
    ],
)
def test_the_first_line_of_a_message_is_in_one_language(
    heading: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "de")
    assert repr(Message("open", heading)).startswith(line)


def test_an_amount_ends_with_its_sentence() -> None:
    """Else "{first} is {ratio} times {second}." is found in two sentences about something else."""
    two = (
        "The median of the samples is 4,790 ns at k = 64. 1 sample (0.25 %) is longer than 10 "
        "times the median (often interrupts)."
    )
    assert of_language_named("de")(two) == (
        "Der Median der Einzelmessungen ist 4,790 ns bei k = 64. 1 Einzelmessung (0.25 %) ist mehr "
        "als 10-mal so lang wie der Median (oft Interrupts)."
    )
