"""A saved recording names the account that made it by hashes, if it is saved in a course."""

from __future__ import annotations

import asyncio
import json
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from labs.commands import cli, measure
from labs.course.account import (
    FILE_NAME,
    Account,
    BadCourse,
    account_of,
    course_of,
    name_hash,
    parse_account,
    read_course,
    stated_at,
)
from labs.machine import description as machine
from labs.notebook import measuring
from labs.notebook.panel import Panel
from labs.notebook.session import Session
from labs.recording.file import Recording, read
from labs.recording.file import parse as parse_recording
from labs.run import measure as run_measure
from labs.run.plan import Plan
from labs.survey import survey
from support import simulate

ID, OTHER_ID = "5e" * 16, "6f" * 16
LAB = "01-timer-overhead"


def course_file(folder: Path, course: str = ID) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stated = {"course": course, "since": "2026-09-01T08:00:00+00:00", "ticklab": "0.1.0"}
    (folder / FILE_NAME).write_text(json.dumps({"about": "the id of a course", **stated}))


@pytest.fixture(autouse=True)
def on_a_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of somebody who is not on a hub, with a cache that is still empty."""
    monkeypatch.delenv("JUPYTERHUB_USER", raising=False)
    called(monkeypatch, "grace")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))


def called(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name=name))


def made() -> Recording:
    """A run of timer_overhead, whose samples are made up."""
    text = simulate.run(simulate.Machine(samples=200), 1).as_bytes().decode()
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("# samples.sha256"))
    return parse_recording(plain.replace(simulate.VARIANT, "fenced").encode() + b"\n")


async def one_recording(*_: object) -> Recording:
    return made()


async def click(panel: Panel) -> None:
    panel.start()
    await panel.finished()


@pytest.mark.slow
def test_every_way_to_save_names_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course_file(tmp_path / LAB)
    lab, recordings = tmp_path / LAB, tmp_path / LAB / "recordings"
    monkeypatch.setattr(measuring, "measure_in_turns_now", lambda plans, *_: [made()])
    session = Session(LAB, lab)
    run = session.measure("timer_overhead", save="cell")  # a cell of C goes the same way
    session.figure("timer-overhead-fenced", 1, "ns", run)  # the run knows its recording again
    monkeypatch.setattr(run_measure, "measure", one_recording)
    panel = Panel(session, "timer_overhead", ("fenced",))
    asyncio.run(click(panel))
    assert panel.run is not None
    session.figure("timer-overhead-fenced", 1, "ns", panel.run)
    monkeypatch.setattr(measure, "carry_out", lambda *_: (made(),))
    of_line = ["timer_overhead", "--variant", "fenced", "--save", str(recordings / "line.csv")]
    assert cli.main(["measure", *of_line]) == 0
    one = survey.Measurement("timer_overhead", ("fenced",), (1, 1))
    monkeypatch.setattr(survey, "carry_out", lambda *_: [(one, made(), [])])
    cli.main(["survey", "--save", str(lab)])
    capsys.readouterr()
    files = sorted(recordings.glob("*.csv"))
    assert [file.stem for file in files] == ["cell", "line", "panel", "timer_overhead-fenced"]
    for file in files:
        stated = parse_account(read(file).conditions["account"])
        assert stated is not None and stated.name == name_hash(ID, "grace") and stated.place
        assert b"grace" not in file.read_bytes()


def test_naming_the_account_changes_nothing_else(tmp_path: Path) -> None:
    course_file(tmp_path)
    plain = made()
    session = Session(LAB, tmp_path)
    path = session.save(Plan("timer_overhead"), session.named(plain), "run")
    lines = (tmp_path / path).read_bytes().splitlines()
    assert [line for line in lines if not line.startswith(b"# account: ")] == (
        plain.as_bytes().splitlines()
    )
    assert len(lines) == len(plain.as_bytes().splitlines()) + 1
    assert read(tmp_path / path).intact is True


def test_the_file_of_the_course_lies_with_the_lab_or_with_all_labs(tmp_path: Path) -> None:
    path = tmp_path / "above" / "labs" / LAB / "recordings" / "run.csv"
    assert course_of(path) is None
    course_file(tmp_path / "above", OTHER_ID)
    assert course_of(path) is None
    course_file(tmp_path / "above" / "labs", OTHER_ID)
    found = course_of(path)
    assert found is not None and found.course == OTHER_ID
    course_file(path.parent.parent)
    found = course_of(path)
    assert found is not None and found.course == ID


def test_a_folder_of_no_course_names_nobody_and_says_so(tmp_path: Path) -> None:
    assert (
        Session(LAB, tmp_path).named(made()).conditions["account"]
        == "none: this folder is of no course"
    )
    assert not (tmp_path / "cache" / machine.PLACE_FILE).exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not valid JSON"),
        ("{}", "course is missing"),
        ('{"course": "5E"}', "course must be 32 hexadecimal digits"),
        ("x" * 10_000, "at most 4096 are read"),
    ],
)
def test_a_bad_course_file_costs_no_recording(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(BadCourse, match=said):
        read_course(tmp_path / FILE_NAME)
    assert stated_at(tmp_path / "run.csv") == f"none: {FILE_NAME} cannot be read"


def test_a_user_without_a_name_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    course_file(tmp_path)
    assert stated_at(tmp_path / "run.csv") == "none: the OS has no name for this user"


def test_on_a_hub_the_name_of_the_hub_counts_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course_file(tmp_path)
    called(monkeypatch, "jovyan")
    monkeypatch.setenv("JUPYTERHUB_USER", "grace")
    first = stated_at(tmp_path / "run.csv")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "other"))
    assert stated_at(tmp_path / "run.csv") == first == f"{name_hash(ID, 'grace')} on a hub"
    assert not list(tmp_path.rglob(machine.PLACE_FILE))


def test_the_account_is_stable_and_another_on_another_machine_or_in_another_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course_file(tmp_path / "one")
    course_file(tmp_path / "two", OTHER_ID)

    def named(folder: str = "one") -> Account:
        found = parse_account(stated_at(tmp_path / folder / "run.csv"))
        assert found is not None
        return found

    here = named()
    assert named() == here
    assert named("two").name != here.name and named("two").place != here.place
    called(monkeypatch, "ada")
    assert named().name != here.name and named().place != here.place
    called(monkeypatch, "grace")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "machine 2"))
    assert named().name == here.name and named().place != here.place
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "file"))
    assert named() == Account(here.name)


def test_a_broken_file_of_the_place_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / machine.PLACE_FILE).write_text("../../etc/passwd")
    first = machine.place_of_account()
    assert first == machine.place_of_account() and first is not None and len(first) == 32


def test_what_is_written_is_read() -> None:
    for account in (Account("a" * 32), Account("a" * 32, "b" * 32), account_of(ID, "Grace ", None)):
        assert parse_account(str(account)) == account


def test_another_form_names_nobody() -> None:
    for text in ("", "grace", "none: why", "A" * 32, f"{'a' * 32} on the moon", f"{'a' * 32}\n"):
        assert parse_account(text) is None


def test_letter_case_and_form_of_a_name_make_no_difference() -> None:
    assert name_hash(ID, "Ren\u00e9") == name_hash(ID, " rene\u0301")
    assert name_hash(ID, "rene") != name_hash(ID, "ren\u00e9")
