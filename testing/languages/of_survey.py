"""The sentences of `labs survey`, and of the page that `labs report` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from labs.course.lab_names import labs
from labs.survey import survey
from testing.languages.in_code import on_the_screen
from testing.languages.sentence import SURVEY, Sentence

ROOT = Path(__file__).resolve().parents[2]
_MODULES = (
    "labs/survey/survey_report.py",
    "labs/survey/compare_report.py",
    "grader/own_report/student_report.py",
)
_WORDS = (
    "compiled by different compilers",
    "distinguishable",
    "equal cost",
    "not stated",
    "nothing",
    "one task",
    "ratio",
)
#: How numbers and names are put together there.
_WITH_VALUES = (
    "{low} to {high}",
    "{heading}: B / A",
    "{number_1} operation",
    "{number_1} operations",
    "{number_1} ratio",
    "{number_1} ratios",
    "{number_1} times {variant}",
)
#: What a program reads, and pieces that have no words of their own.
_NOT_READ = re.compile(r"[●╌] |`labs measure |labs survey|labs report|system call$|machine\.cpu")


def sentences() -> Iterator[Sentence]:
    """What the survey and the report say, with the names of their parts."""
    yield from (Sentence(heading, SURVEY, "group of a survey") for heading, _ in survey.GROUPS)
    for name in labs():
        topic = name.partition("-")[2].replace("-", " ").capitalize()
        yield Sentence(topic, SURVEY, f"title of {name}")
    yield from (Sentence(text, SURVEY, "words of a survey") for text in _WORDS)
    yield from (Sentence(text, SURVEY, "words of a survey", True) for text in _WITH_VALUES)
    for where in _MODULES:
        for text, holds_values in on_the_screen(ROOT / where):
            if not _NOT_READ.match(text):
                yield Sentence(text, SURVEY, where, holds_values)
