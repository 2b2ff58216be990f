"""Recordings that name somebody else's account are flagged; those of an honest class never."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from grader.judging.flags import (
    GENERIC,
    MALFORMED,
    MISSING,
    MOST_OF_ONE_ACCOUNT,
    NONE,
    OF_ANOTHER,
    SHARED,
    AccountFlags,
    Stated,
    flags_of_class,
)
from grader.with_nbgrader.class_flags import stated_by
from labs.course.account import Course, account_of
from support.paths import FIXTURES

ID = "5e" * 16
COURSE = Course(course=ID, since="2026-09-01T08:00:00+00:00", ticklab="0.1.0")
LATER, EARLIER = "2026-10-01T08:00:00+00:00", "2026-08-01T08:00:00+00:00"
RUN, OTHER = "recordings/fenced.csv", "recordings/clocks.csv"
CLASS = [f"student{number:02}" for number in range(20)]

Class = dict[str, dict[str, Stated]]


def on(name: str, place: str | None) -> Stated:
    """What a recording states that was made under an account of the OS."""
    return Stated(str(account_of(ID, name, place)), LATER, "0.1.0")


def on_hub(name: str) -> Stated:
    return Stated(str(account_of(ID, name, None, on_hub=True)), LATER, "0.1.0")


def flagged(stated: Class, ids: Iterable[str] = ()) -> dict[tuple[str, str], list[str]]:
    """The words of the flags by student and recording."""
    return words_of(flags_of_class(COURSE, stated, ids))


def words_of(found: AccountFlags) -> dict[tuple[str, str], list[str]]:
    return {
        (student, path): [flag.words for flag in flags]
        for student, recordings in found.of.items()
        for path, flags in recordings.items()
        if flags
    }


def own_laptops() -> Class:
    """Ids say nothing of the accounts, and two of the names occur on several machines."""
    names = {"student03": "max", "student04": "max", "student05": "max", "student06": "anna"}
    return {s: {RUN: on(names.get(s, f"my-{s}"), f"laptop of {s}")} for s in CLASS}


def own_logins() -> Class:
    """The accounts of a room, which are the ids; the home folder is the same on each machine."""
    return {s: {RUN: on(s, f"home of {s}"), OTHER: on(s, f"home of {s}")} for s in CLASS}


def hub() -> Class:
    return {s: {RUN: on_hub(s)} for s in CLASS}


def one_account_for_all() -> Class:
    """A room with 7 machines, on which all are called the same."""
    return {s: {RUN: on("os-room", f"machine {n % 7}")} for n, s in enumerate(CLASS)}


def one_image_for_all() -> Class:
    """A disk image in which the kit has run before it was copied."""
    return {s: {RUN: on("os-course", "image")} for s in CLASS}


def containers() -> Class:
    """Three use a public image; the others their own machines."""
    return {**own_laptops(), **{s: {RUN: on("jovyan", "image")} for s in CLASS[7:10]}}


def two_machines() -> Class:
    """Everybody has a laptop too, and one student has a third machine."""
    both = own_logins()
    for student in CLASS:
        both[student][OTHER] = on("me", f"laptop of {student}")
    both["student02"]["recordings/third.csv"] = on("pc", "at home")
    return both


def hub_and_laptops() -> Class:
    """On the hub they are called by their ids. One laptop's account is called as another's id."""
    mixed = hub()
    for student in CLASS[:6]:
        mixed[student][OTHER] = on("student09" if student == "student01" else "me", student)
    return mixed


def room_and_laptops() -> Class:
    """As own logins, but two laptops' accounts are called as somebody else's id."""
    both = own_logins()
    for student, other in (("student01", "student09"), ("student02", "student09")):
        both[student][OTHER] = on(other, f"laptop of {student}")
    return both


def without_place() -> Class:
    return {s: {RUN: on("max" if s in CLASS[:2] else f"my-{s}", None)} for s in CLASS}


def no_course() -> Class:
    return {s: {RUN: Stated("none: this folder is of no course", LATER, "0.1.0")} for s in CLASS}


HONEST = [
    own_laptops, own_logins, hub, one_account_for_all, one_image_for_all, containers, two_machines,
    hub_and_laptops, room_and_laptops, without_place, no_course,
]  # fmt: skip


@pytest.mark.parametrize("make", HONEST)
@pytest.mark.parametrize("handed_in", [1, 2, 3, 4, 5, 10, 20])
def test_an_honest_class_has_no_flag_however_many_have_handed_in(
    make: Callable[[], Class], handed_in: int
) -> None:
    first = dict(list(make().items())[:handed_in])
    assert flagged(first, CLASS) == {}


def test_an_account_of_all_is_told_once_and_not_as_a_flag() -> None:
    for make in (one_account_for_all, one_image_for_all):
        assert flags_of_class(COURSE, make(), CLASS).shared == (20,)


def test_own_accounts_are_nothing_to_tell() -> None:
    for make in (
        own_laptops,
        own_logins,
        hub,
        two_machines,
        hub_and_laptops,
        without_place,
        no_course,
    ):
        assert flags_of_class(COURSE, make(), CLASS).shared == ()


def test_where_ids_are_logins_a_friends_recording_is_flagged_for_the_one() -> None:
    for make in (own_logins, hub, two_machines):
        stated = make()
        stated["student07"]["recordings/mine.csv"] = stated["student03"][RUN]
        assert flagged(stated) == {("student07", "recordings/mine.csv"): [OF_ANOTHER]}, make
        (flag,) = flags_of_class(COURSE, stated, ()).of["student07"]["recordings/mine.csv"]
        assert flag.students == ("student03",), make


def test_however_many_copy_the_owner_is_known() -> None:
    """On a hub also if the owner hands in nothing."""
    for make, absent in ((hub, True), (hub, False), (own_logins, False)):
        stated = make()
        run = stated["student03"][RUN]
        if absent:
            del stated["student03"]
        for student in CLASS[10:]:
            stated[student]["recordings/mine.csv"] = run
        found = flagged(stated, CLASS)
        assert found == {(s, "recordings/mine.csv"): [OF_ANOTHER] for s in CLASS[10:]}, make
        assert flags_of_class(COURSE, stated, CLASS).shared == (), make


def test_on_laptops_a_friends_recording_is_flagged_for_both() -> None:
    """Nothing in a file says who of them made it."""
    stated = own_laptops()
    stated["student07"][OTHER] = stated["student08"][RUN]
    assert flagged(stated, CLASS) == {
        ("student07", OTHER): [SHARED],
        ("student08", RUN): [SHARED],
    }
    found = flags_of_class(COURSE, stated, CLASS).of
    assert found["student07"][OTHER][0].students == ("student08",)
    assert found["student08"][RUN][0].students == ("student07",)


@pytest.mark.parametrize("copies", range(1, 6))
def test_what_more_than_a_few_students_name_is_no_flag(copies: int) -> None:
    stated = own_laptops()
    for student in CLASS[10 : 10 + copies]:
        stated[student] = {RUN: stated["student08"][RUN]}
    found = flags_of_class(COURSE, stated, CLASS)
    if copies + 1 <= MOST_OF_ONE_ACCOUNT:
        assert len(words_of(found)) == copies + 1 and found.shared == ()
    else:
        assert words_of(found) == {} and found.shared == (copies + 1,)


@pytest.mark.parametrize("name", GENERIC)
def test_two_of_a_generic_account_on_one_machine_need_not_know_each_other(name: str) -> None:
    stated = own_laptops()
    for student in ("student10", "student11"):
        stated[student] = {RUN: on(name.upper(), "machine 4 of the room")}
    assert flagged(stated, [*CLASS, name]) == {}


def test_letter_case_of_an_id_makes_no_difference() -> None:
    stated = {s.upper(): {RUN: on_hub(s)} for s in CLASS}
    assert flagged(stated) == {}


# Recordings without an account


def test_a_line_that_was_taken_out_or_changed() -> None:
    for stated, flags in (
        (Stated(None, LATER, "0.1.0"), [MISSING]),
        (Stated(None, LATER, "0.2.0"), [MISSING]),
        (Stated(None, LATER, None), [MISSING]),
        (Stated(None, None, "0.1.0"), []),
        (Stated(None, "yesterday", "0.1.0"), []),
        (Stated(None, EARLIER, "0.1.0"), []),
        (Stated(None, "2026-10-01T08:00:00", "0.1.0"), []),
        (Stated("none: the OS has no name for this user", LATER, "0.1.0"), []),
        (Stated("", LATER, "0.1.0"), [MALFORMED]),
        (Stated("ada", LATER, "0.1.0"), [MALFORMED]),
    ):
        found = flagged({"ada": {RUN: stated}, "bob": {RUN: on_hub("bob")}})
        assert found == ({("ada", RUN): flags} if flags else {})


NO_COURSE = "none: this folder is of no course"


def test_no_account_is_flagged_where_most_students_name_one() -> None:
    for reason, created, flags in (
        (NO_COURSE, LATER, [NONE]),
        ("none: the OS has no name for this user", LATER, [NONE]),
        (NO_COURSE, EARLIER, []),
    ):
        for make in (own_laptops, hub, one_account_for_all):
            stated = make()
            stated["student07"][OTHER] = Stated(reason, created)
            assert flagged(stated, CLASS) == ({("student07", OTHER): flags} if flags else {})


def test_no_account_is_no_flag_where_most_students_have_none() -> None:
    for without, flags in ((9, 9), (10, 0), (19, 0)):
        stated = {**own_laptops(), **{s: {RUN: Stated(NO_COURSE, LATER)} for s in CLASS[:without]}}
        assert flagged(stated, CLASS) == {(s, RUN): [NONE] for s in CLASS[:flags]}


def test_no_saved_recording_is_flagged_for_what_it_does_not_state() -> None:
    """A course that began after all of them asks none of them for an account."""
    course = COURSE.model_copy(update={"since": "2030-01-01T00:00:00+00:00"})
    files = sorted(FIXTURES.glob("honest*/*/recordings/*.csv"))
    assert len(files) > 100
    stated: Class = {}
    for file in files:
        head = file.read_bytes()[: 64 * 1024]
        student = f"{file.parts[-4]} {file.parts[-3]}"
        stated.setdefault(student, {})[f"recordings/{file.name}"] = stated_by(head)
    assert sum(one.created is not None for each in stated.values() for one in each.values()) > 100
    found = flags_of_class(course, stated, stated)
    assert words_of(found) == {} and found.shared == ()


# The head of a recording


def test_the_head_ends_where_processes_begin() -> None:
    head = b"# ticklab recording: 1\r\n# account: none: x\r\n# process.0: {}\n# created: now\n"
    assert stated_by(head) == Stated("none: x", None, None)
    assert stated_by(b"\xef\xbb\xbf" + head).account == "none: x"
    assert stated_by(b"variant,process\n# account: x\n") == Stated(None)
    assert stated_by(b"# account: \xff\n") == Stated("\ufffd")
    assert stated_by(b"") == Stated(None)
