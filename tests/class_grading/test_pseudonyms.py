"""Pseudonyms are random, stay the same, and only the instructor can resolve them."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from grader.class_grading.class_roster import PSEUDONYMS, BadPseudonyms, pseudonyms_of


def test_a_pseudonym_stays_and_a_new_student_gets_a_new_one(tmp_path: Path) -> None:
    first = pseudonyms_of(tmp_path, ["ada", "bob"])
    second = pseudonyms_of(tmp_path, ["zoe", "bob", "ada"])
    assert {student: second[student] for student in first} == first
    assert len(set(second.values())) == 3


def test_they_are_random_and_not_made_from_names(tmp_path: Path) -> None:
    for course in ("a", "b"):
        (tmp_path / course).mkdir()
    one, other = (pseudonyms_of(tmp_path / course, ["ada"]) for course in ("a", "b"))
    assert one != other


def test_only_the_owner_may_read_who_is_who(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        pseudonyms_of(tmp_path, ["ada"])
        pseudonyms_of(tmp_path, ["ada", "bob"])
    finally:
        os.umask(before)
    assert (tmp_path / PSEUDONYMS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["", "ada,b\n", "pseudonym,student\nx,ada\nx,bob\n", "pseudonym,student\nx\n", "\xff"]
)
def test_a_damaged_file_stays_and_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / PSEUDONYMS
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadPseudonyms, match=PSEUDONYMS):
        pseudonyms_of(tmp_path, ["ada"])
    assert file.read_bytes() == text.encode("latin-1")


def _add(course: Path, name: str) -> None:
    pseudonyms_of(course, [name])


def test_two_reports_at_once_lose_no_pseudonym(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    started = [
        context.Process(target=_add, args=(tmp_path, f"student-{number}")) for number in range(8)
    ]
    for process in started:
        process.start()
    for process in started:
        process.join()
    known = (tmp_path / PSEUDONYMS).read_text().splitlines()
    assert len(known) == 9
