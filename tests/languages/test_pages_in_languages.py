"""The survey, the page of a recording and the report are in one language: no word of ours stays
English, on a page or in a terminal. Recordings, and what a student wrote, are as they are."""

from __future__ import annotations

import dataclasses
import html.parser
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from grader.own_report import student_report
from grader.own_report.student_report import page as report_page
from grader.pitfalls import CATALOGUE
from labs.commands import show
from labs.course import comparison, published
from labs.languages import chosen
from labs.languages.po_file import languages
from labs.notebook.run import Run
from labs.recording.file import Recording, read
from labs.results.result import result_of
from labs.survey import compare_report, survey_report
from labs.survey.compare_report import Saved
from labs.survey.survey import Measurement, Row
from testing.languages.vocabulary import unknown_words
from testing.paths import FIXTURES
from testing.plain_machine import PLAIN

HONEST = FIXTURES / "honest"
CALLS, COLD, SWITCHES = (
    read(HONEST / lab / "recordings" / f"{name}.csv")
    for lab, name in (
        ("03-system-call", "calls"),
        ("02-first-iteration", "cold"),
        ("06-process-and-thread-switch", "process"),
    )
)
#: What has the same name in every language.
NAMES = frozenset(
    (
        *("Ticklab", "labs", "survey", "show", "report", "compare", "MHz", "GHz", "KiB", "MiB"),
        *("UTC", "Student", "ipynb", "ECDF", "one", "other", "broken.csv", "rdtsc"),
        *("CPUs", "QEMU guest"),
    )
)
_IN_TEXT = ("alt", "aria-label", "title")
_NAME = re.compile(r"[\w./-]*[^\W\d_][\w./-]*")


class Text(html.parser.HTMLParser):
    """What a reader of a page reads or hears; `lang` is the language that the page states."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.lang = ""
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "blockquote"):
            self._silent = tag
        self.lang = dict(attrs).get("lang") or self.lang
        self.parts += [value for name, value in attrs if name in _IN_TEXT and value]

    def handle_endtag(self, tag: str) -> None:
        if tag == self._silent:
            self._silent = ""

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def text_of(page: str, language: str) -> str:
    found = Text()
    found.feed(page)
    assert found.lang == language
    return "\n".join(found.parts)


def names_of(recordings: Iterable[Recording]) -> frozenset[str]:
    """The names in recordings: C kernels, variants, and what they state of their machine."""
    found = set(NAMES)
    for each in recordings:
        found |= {each.kernel, *each.variants, each.kernel.removesuffix("_switch")}
        for key in ("machine.cpu", "os", "libc", "compiler", "machine.clock_source", "counter"):
            found |= {*_NAME.findall(each.conditions.get(key, ""))}
        found |= {*_NAME.findall(each.conditions.get("machine.container", ""))}
    for known in published.figures():
        found |= {*re.findall(r"[\w.-]*[A-Z\d][\w.-]*", known.machine)}
    return frozenset(found)


def rows_of(*recordings: Recording) -> list[Row]:
    """The rows of a survey that had made these recordings, and one that could not be measured."""
    quantities = {"getppid": "system call getpid", "setuid": "system call setuid"}
    rows = []
    for recording in recordings:
        one = Measurement("", recording.kernel, recording.variants, (1, 1))
        for name in recording.variants:
            result = result_of(recording, name)
            quantity = quantities.get(name)
            found = published.settled(published.figures(quantity)) if quantity else ()
            rows.append(Row(one, name, result, result.no_figure, found))
    few = "getppid: 10 samples are too few for 3 batch sizes; raise --samples."
    return [*rows, Row(rows[0].measurement, "getppid", None, few, ())]


def saved_as(name: str, *changed: dict[str, str]) -> Saved:
    """A survey of two recordings, whose conditions are changed."""
    both = [CALLS, SWITCHES]
    for number, changes in enumerate(changed):
        both[number] = dataclasses.replace(
            both[number], conditions={**both[number].conditions, **changes}
        )
    results = {
        (each.kernel, variant, "-O2"): result_of(each, variant)
        for each in both
        for variant in each.variants
    }
    return Saved(name, results, tuple(both), (("broken.csv", "is empty"),))


UNBOUND = {"cpu.allowed": "0-1", "cpu.pinning": "none: this system offers no pinning"}
PAIRS: tuple[tuple[dict[str, str], dict[str, str]], ...] = (
    ({}, {}),
    ({"ticklab": "9.9", "compiler": "tcc"}, UNBOUND),
    ({"source.sha256": "00"}, {"ticklab": "9.9", "source.sha256": "00"}),
    ({"variant.getppid.baseline_times": "2"}, {}),
    ({"variant.getppid.estimand": "overhead"}, {}),
)


@pytest.mark.parametrize("language", languages())
def test_no_word_of_a_survey_stays_english(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(CALLS, COLD, SWITCHES)
    monkeypatch.setenv(chosen.VARIABLE, language)
    names = names_of((CALLS, COLD, SWITCHES))
    card = {"Linux", "SMT", "Seccomp", "performance", "Governor", "Turbo"}
    shown = text_of(survey_report.page(rows, PLAIN), language)
    assert unknown_words(shown, language, names | card) == []
    assert unknown_words(survey_report.text(rows), language, names) == []


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("changes", PAIRS, ids=range(len(PAIRS)))
def test_no_word_of_two_surveys_stays_english(
    changes: tuple[dict[str, str], dict[str, str]], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = saved_as("one"), saved_as("other", *changes)
    monkeypatch.setenv(chosen.VARIABLE, language)
    names = names_of((*one.recordings, *other.recordings))
    shown = text_of(compare_report.page(one, other), language)
    assert unknown_words(shown, language, names) == []
    assert unknown_words(compare_report.text(one, other), language, names) == []


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("recording", [CALLS, COLD], ids=["line", "first times"])
def test_no_word_of_a_shown_recording_stays_english(
    recording: Recording, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chosen.VARIABLE, language)
    shown = text_of(show.page_of(Run.of(recording), "run.csv"), language)
    assert unknown_words(shown, language, names_of([recording])) == []


@pytest.mark.parametrize("language", languages())
def test_no_word_of_a_report_stays_english(
    language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its questions of labs that are not translated are English, as they are in these labs."""
    monkeypatch.setenv(chosen.VARIABLE, language)
    first = "01-timer-overhead"
    (tmp_path / first).symlink_to(HONEST / first)
    labs = student_report.labs_in(tmp_path)
    shown = text_of(report_page(labs, comparison.of_labs(tmp_path), "A. Student"), language)
    recordings = [each for lab in labs for each in lab.recordings]
    codes = {each.code for each in CATALOGUE}
    ids = {row.spec.id for lab in labs for row in lab.rows}
    names = names_of(recordings) | codes | ids | {lab.name for lab in labs}
    assert unknown_words(shown, language, names) == []


def test_english_stays_as_it_is() -> None:
    assert text_of(show.page_of(Run.of(COLD), "run.csv"), "en").count("The recording run.csv") == 2
