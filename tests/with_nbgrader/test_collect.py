"""Which submission of a student counts, and that none is lost, whatever interrupts collecting."""

from __future__ import annotations

import datetime
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from traitlets.config import Config

from grader.submissions import safe_files
from grader.submissions.safe_files import opened, trouble_with_name
from grader.with_nbgrader import nbgrader_exchange
from grader.with_nbgrader.careful_course import read_time
from grader.with_nbgrader.nbgrader_exchange import CarefulCollect, Entry, _names_in_exchange, choose
from grader.with_nbgrader.settings import configure
from grader.with_nbgrader.student_folders import RECORD

LAB = "01-small"
DAYS = [datetime.datetime(2025, 1, day, 12) for day in range(1, 10)]
ADA, EVE = 1001, 1002


def entry(day: int, owner: int | None = ADA, *doubts: str, changed: int | None = None) -> Entry:
    """A submission of a day; folders change in the order of the days, unless it is said."""
    name = f"ada+{LAB}+{DAYS[day]}"
    return Entry(name, "ada", DAYS[day], owner, day if changed is None else changed, doubts)


@pytest.mark.parametrize(
    ("entries", "owner", "counts", "passed_over"),
    [
        pytest.param([entry(1), entry(2)], None, 1, [], id="the newest of one owner"),
        pytest.param([entry(1), entry(2, EVE)], None, 0, [1], id="an impostor later"),
        pytest.param([entry(1, EVE, changed=9), entry(2)], None, 1, [0], id="dated back"),
        pytest.param([entry(1, EVE), entry(2)], ADA, 1, [0], id="first, but not the login"),
        pytest.param([entry(1, EVE), entry(2)], None, 0, [1], id="first, and nothing else known"),
        pytest.param([entry(1, EVE)], ADA, 0, [], id="only the impostor's"),
        pytest.param([entry(1), entry(2, ADA, "empty")], None, 0, [1], id="a doubt later"),
        pytest.param([entry(1, ADA, "empty"), entry(2)], None, 1, [], id="a doubt before"),
        pytest.param([entry(1, ADA, "x"), entry(2, ADA, "x")], None, 1, [], id="doubts in both"),
        pytest.param([entry(1, None), entry(2, EVE)], None, 1, [], id="collected by hand"),
        pytest.param([entry(1, None), entry(2, EVE, "x")], None, 0, [1], id="by hand, and a doubt"),
    ],
)
def test_which_submission_counts(
    entries: list[Entry], owner: int | None, counts: int, passed_over: list[int]
) -> None:
    choice = choose(entries, owner)
    assert choice.entry == entries[counts]
    assert [each.name for each in choice.passed_over] == [entries[i].name for i in passed_over]


def test_the_last_one_before_the_due_date_counts() -> None:
    entries = [entry(1), entry(2), entry(3)]
    assert choose(entries, None, DAYS[2]).entry == entries[1]
    assert choose(entries, None, DAYS[0]).entry == entries[2]  # as nbgrader: the last, if all late


class Exchange:
    """A course folder and an exchange, without nbgrader's start."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.exchange = folder / "course", folder / "exchange"
        self.inbound = self.exchange / "ticklab" / "inbound"
        self.inbound.mkdir(parents=True)
        self.folder.mkdir()
        self.course = self.folder / "submitted" / "ada" / LAB
        self.said: list[str] = []

    def hand_in(self, day: int, text: str, student: str = "ada") -> Path:
        folder = self.inbound / f"{student}+{LAB}+{DAYS[day]} UTC+cmFuZG9t"
        (folder / "recordings").mkdir(parents=True)
        (folder / "figures.json").write_text(text)
        (folder / "recordings" / "run.csv").write_text(text * 10_000)
        (folder / "timestamp.txt").write_text(f"{DAYS[day]} UTC")
        (folder / "submission_secret.txt").write_text(f"secret of {student}")
        return folder

    def collect(self, **settings: Any) -> bool:
        """Whether everything was collected; what it said is in `said`."""
        config = Config()
        configure(config, self.folder)
        config.CourseDirectory.assignment_id = LAB
        config.CourseDirectory.student_id = "*"
        course = CourseDirectory(config=config)
        collecting = CarefulCollect(coursedir=course, config=config, **settings)
        collecting.root = str(self.exchange)
        collecting.log = Log(self.said)
        try:
            collecting.start()
        except ExchangeError:
            return False
        return True

    def versions(self) -> list[str]:
        """What was collected of Ada before, oldest first."""
        earlier = sorted((self.folder / "submitted" / ".earlier" / "ada" / LAB).glob("*"))
        return [(version / "figures.json").read_text() for version in earlier]


class Log:
    """Keeps the lines that are more than information."""

    def __init__(self, said: list[str]) -> None:
        self._said = said

    def info(self, *_: object) -> None: ...

    def warning(self, text: str, *arguments: object) -> None:
        self._said.append(text % arguments if arguments else text)

    error = critical = fatal = warning


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exchange:
    # Traitlets wants a logger of its own kind; ours only keeps lines.
    monkeypatch.setattr(CarefulCollect, "log", None)
    return Exchange(tmp_path)


def test_an_earlier_version_is_kept_when_a_newer_one_is_collected(exchange: Exchange) -> None:
    exchange.hand_in(1, "first")
    assert exchange.collect()
    exchange.hand_in(2, "second")
    assert exchange.collect() and (exchange.course / "figures.json").read_text() == "first"
    assert exchange.collect(update=True)
    exchange.hand_in(3, "third")
    assert exchange.collect(update=True)
    assert (exchange.course / "figures.json").read_text() == "third"
    assert exchange.versions() == ["first", "second"]


def test_a_record_says_which_submission_it_is_and_what_was_copied(exchange: Exchange) -> None:
    folder = exchange.hand_in(1, "first")
    assert exchange.collect()
    record = json.loads((exchange.course / RECORD).read_text())
    assert record["entry"] == folder.name and record["owner"] == folder.stat().st_uid
    for name, digest in record["sha256"].items():
        assert safe_files.hash_of(exchange.course / name) == digest
    assert set(record["sha256"]) >= {"figures.json", str(Path("recordings", "run.csv"))}


def test_owners_are_compared_with_what_was_collected(exchange: Exchange) -> None:
    """The honest folder is no longer in the exchange when the impostor's comes."""
    folder = exchange.hand_in(1, "first")
    assert exchange.collect()
    record = json.loads((exchange.course / RECORD).read_text())
    (exchange.course / RECORD).write_text(json.dumps({**record, "owner": record["owner"] + 7}))
    shutil.rmtree(folder)
    exchange.hand_in(2, "an impostor's")
    assert not exchange.collect(update=True)
    assert (exchange.course / "figures.json").read_text() == "first"
    assert any("it belongs to" in line for line in exchange.said)
    assert any(line.startswith("A person must look") for line in exchange.said)
    # Where every student has the same uid or none means anything, owners are not compared.
    assert exchange.collect(update=True, check_owner=False)
    assert (exchange.course / "figures.json").read_text() == "an impostor's"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_an_impostor_with_a_perfect_folder_is_told_by_its_owner(exchange: Exchange) -> None:
    honest, forged = exchange.hand_in(1, "honest"), exchange.hand_in(2, "forged")
    os.chown(honest, ADA, ADA)
    os.chown(forged, EVE, EVE)
    assert not exchange.collect()
    assert (exchange.course / "figures.json").read_text() == "honest"
    assert any(f"uid {EVE}" in line and forged.name in line for line in exchange.said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_second_name_of_somebody_elses_file_is_left_out(exchange: Exchange) -> None:
    theirs = exchange.hand_in(1, "theirs", "grace") / "figures.json"
    os.chown(theirs, EVE, EVE)
    mine = exchange.hand_in(1, "mine")
    (mine / "copied.json").hardlink_to(theirs)
    assert exchange.collect()
    assert not (exchange.course / "copied.json").exists()
    assert any("copied.json: a second name of somebody else" in line for line in exchange.said)


def full_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when so many files have been copied."""
    done: list[Path] = []
    copy = safe_files.copy_of

    def limited(source: int, target: Path, most: int) -> tuple[int, str]:
        if len(done) >= count:
            target.write_text("half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        done.append(target)
        return copy(source, target, most)

    monkeypatch.setattr(safe_files, "copy_of", limited)


@pytest.mark.parametrize("count", range(8))
def test_a_full_disk_leaves_whole_submissions_and_the_next_collect_ends_it(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    exchange.hand_in(1, "of ada")
    exchange.hand_in(1, "of grace", "grace")
    with monkeypatch.context() as patch:
        full_after(count, patch)
        assert not exchange.collect()
    assert any("The disk is full: free some space" in line for line in exchange.said)
    for folder in (exchange.folder / "submitted").glob(f"*/{LAB}"):
        assert len([path for path in folder.rglob("*") if path.is_file()]) == 5
    assert exchange.collect()
    for student in ("ada", "grace"):
        text = (exchange.folder / "submitted" / student / LAB / "figures.json").read_text()
        assert text == f"of {student}"
    assert not (exchange.folder / "submitted" / ".collecting").exists()


def test_a_full_disk_does_not_cost_the_earlier_version(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange.hand_in(1, "first")
    assert exchange.collect()
    exchange.hand_in(2, "second")
    with monkeypatch.context() as patch:
        full_after(2, patch)
        assert not exchange.collect(update=True)
    assert (exchange.course / "figures.json").read_text() == "first" and not exchange.versions()
    assert exchange.collect(update=True)
    assert (exchange.course / "figures.json").read_text() == "second"


def test_what_an_interrupted_collect_left_is_removed(exchange: Exchange) -> None:
    exchange.hand_in(1, "of ada")
    left = exchange.folder / "submitted" / ".collecting" / LAB / "ada"
    left.mkdir(parents=True)
    (left / "figures.json").write_text("ha")
    (left / "stale").write_text("")
    assert exchange.collect()
    assert (exchange.course / "figures.json").read_text() == "of ada"
    assert not (exchange.course / "stale").exists() and not left.exists()


def test_a_copy_that_differs_is_not_collected(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As some network disks lose what was written, and say nothing."""
    exchange.hand_in(1, "of ada")
    with monkeypatch.context() as patch:
        patch.setattr(safe_files, "hash_of", lambda path: "0" * 64)
        assert not exchange.collect()
    assert any("differs from what was read" in line for line in exchange.said)
    assert not exchange.course.exists()
    assert exchange.collect() and exchange.course.exists()


def test_two_collects_at_a_time_do_not_meet(exchange: Exchange) -> None:
    exchange.hand_in(1, "of ada")
    config = Config()
    configure(config, exchange.folder)
    with nbgrader_exchange.Collected(CourseDirectory(config=config), LAB).alone():
        assert not exchange.collect()
    assert any("Another collect of this lab is running" in line for line in exchange.said)
    assert exchange.collect()


def test_a_time_in_the_future_is_a_doubt(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange.hand_in(1, "honest")
    late = exchange.hand_in(5, "dated ahead")
    monkeypatch.setattr(nbgrader_exchange, "now", lambda: DAYS[2])
    assert not exchange.collect()
    assert (exchange.course / "figures.json").read_text() == "honest"
    assert f"Not collected: {late.name}: its time lies in the future" in exchange.said


def test_a_time_of_another_than_the_name_is_a_doubt(exchange: Exchange) -> None:
    exchange.hand_in(1, "honest")
    (exchange.hand_in(5, "copied") / "timestamp.txt").write_text(f"{DAYS[1]} UTC")
    assert not exchange.collect()
    assert (exchange.course / "figures.json").read_text() == "honest"


def lay_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("lay", "why"),
    [
        (lambda path: path.write_text("yesterday, I think"), "no time: yesterday, I think"),
        (lambda path: path.write_text("a\x1b[2Jb"), r"no time: a\?\[2Jb"),
        (lambda path: path.write_text("9" * 150), "no time: 999"),
        (lambda path: path.write_text("2025 " * 1_000_000), "longer than 200 bytes"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "not UTF-8"),
        (lambda path: path.write_text(""), "it is empty"),
        (lambda path: path.write_text("0001-01-01 00:00:00 UTC"), "the year 1 cannot be"),
        (lambda path: path.write_text("9999-12-31 23:59:59 UTC"), "the year 9999 cannot be"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lay_link, "cannot be read"),
        (os.mkfifo, "not a regular file"),
    ],
)
def test_a_time_that_is_none_is_told(
    tmp_path: Path, lay: Callable[[Path], object], why: str
) -> None:
    assert read_time(tmp_path) is None
    lay(tmp_path / "timestamp.txt")
    with pytest.raises(ValueError, match=why):
        read_time(tmp_path)


@pytest.mark.parametrize(
    ("secret", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"x" * 5000, "longer than 4096 bytes"),
        (b"\xff\xfe", "not UTF-8"),
        (None, "handed in no"),
    ],
)
def test_a_secret_that_cannot_be_used_is_told(
    tmp_path: Path, secret: bytes | None, why: str
) -> None:
    if secret is not None:
        (tmp_path / "submission_secret.txt").write_bytes(secret)
    with pytest.raises(ValueError, match=why):
        _names_in_exchange(tmp_path)


def test_names_of_students_are_taken() -> None:
    for name in (
        "ada",
        "o'brien",
        "josé",
        "a.b@c.example",
        "x+y",
        "1234",
        "李",
        "李 ada",
        "олена",
        "αδα",
    ):
        assert trouble_with_name(name) is None


def test_names_that_nbgrader_cannot_hold_are_not_taken() -> None:
    for name in (
        "", ".", "..", ".x", "a/b", "a\nb", "a\x1b[0m", "\udcff", "a\u202eb", " a", "a ", "*", "a?",
        "[a]", "a,b", "<b>", "a&b", 'a"b', "a\\b", "x" * 151, "=1-2", "+1", "-x", "@a", "a#b",
        "a%2fb", "a\xadda", "ada\u3164", "ada\ufe0f", "ad\u0430", "\u0391da", "\uff41da",
    ):  # fmt: skip
        assert trouble_with_name(name)


def test_a_folder_is_opened_through_no_link_at_any_level(tmp_path: Path) -> None:
    (tmp_path / "real" / "lab").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "lab").symlink_to("../real/lab")
    with opened(tmp_path / "real" / "lab", tmp_path) as descriptor:
        assert os.path.samestat(os.fstat(descriptor), (tmp_path / "real" / "lab").stat())
    for folder in (tmp_path / "linked" / "lab", tmp_path / "student" / "lab"):
        assert folder.is_dir()
        with (
            pytest.raises(OSError, match="links are not followed"),
            opened(folder, tmp_path) as descriptor,
        ):
            pass
        with pytest.raises(OSError, match="links are not followed"):
            safe_files.copy(folder, tmp_path / "copy", trusted=tmp_path)
    assert not (tmp_path / "copy").exists()
    # The part above is the instructor's, who may keep submissions on another disk.
    with opened(tmp_path / "linked" / "lab"):
        pass


def test_a_folder_that_becomes_a_link_while_it_is_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "secret.csv").write_text("theirs")
    mine = tmp_path / "mine"
    (mine / "recordings").mkdir(parents=True)
    below = safe_files._below

    def swapped(path: Path, *arguments: Any) -> Iterator[Any]:
        (mine / "recordings").rename(mine / "before")
        (mine / "recordings").symlink_to("../theirs")
        return below(path, *arguments)

    monkeypatch.setattr(safe_files, "_below", swapped)
    notes = safe_files.copy(mine, tmp_path / "copy").left_out
    assert notes == ["recordings: cannot be opened: a link; links are not followed"]
    assert not list((tmp_path / "copy").rglob("*.csv"))


def test_a_record_reads_as_it_was_written() -> None:
    for each in (entry(1), entry(2, None, "a doubt"), replace(entry(3), owner=0)):
        assert Entry.from_json(json.loads(json.dumps(each.as_json())), "ada") == each
