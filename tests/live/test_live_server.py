"""A class with its real server: joining, leaving, a restart, and who may do what."""

from __future__ import annotations

import http.client
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labs.commands.cli import main
from labs.course import in_class
from labs.course.in_class import Findings, Member, NoClass
from labs.html import Table
from labs.messages import Message
from support.live_class import LAB, LiveClass, counts, free_port, message, running
from support.paths import FIXTURES

#: A lab folder with honest figures and their recordings.
HONEST = FIXTURES / "honest_runs" / "03-system-call-counter-5-ghz"


@pytest.fixture(scope="module")
def wall(room: LiveClass) -> str:
    return room.cookie(room.wall_link)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    # In a class, a notebook sends again every 24 seconds.
    for name, seconds in (("_LOOK_S", 0.1), ("AGAIN_S", 0.5), ("_RETRY_S", 0.2)):
        monkeypatch.setattr(in_class, name, seconds)
    return Path(shutil.copytree(HONEST, tmp_path / LAB))


def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does; the time limit of the test is the only one."""
    while not true():
        time.sleep(0.05)


def member(lab: Path, room: LiveClass, told: list[Table] | None = None, code: str = "") -> Member:
    tell: Callable[[Table], None] = (lambda _: None) if told is None else told.append
    return Member(lab, code or room.code, room.address, no_findings, tell)


def digits_in(joined: Message) -> str:
    """The digits of the certificate that a student compares with those on the wall."""
    found = re.search(r"begins with ([0-9a-f]{4}(?: [0-9a-f]{4}){3})\.", str(joined))
    assert found is not None
    return found[1]


def no_findings(folder: Path) -> Findings:
    return {}


def measured(room: LiveClass, wall: str) -> int:
    return counts(room.wall(wall))["measured"]


def test_a_student_joins_shares_and_leaves(room: LiveClass, wall: str, lab: Path) -> None:
    before = counts(room.wall(wall))
    told: list[Table] = []
    one = member(lab, room, told)
    assert digits_in(one.join()) in room.said
    (table,) = told
    assert "system-call-getppid" in table.as_text()
    assert "95 % interval" in table.header
    until(lambda: measured(room, wall) == before["measured"] + 1)
    assert one.leave().tone == "done"
    assert counts(room.wall(wall)) == before


def test_who_has_nothing_yet_sees_that(room: LiveClass, tmp_path: Path, lab: Path) -> None:
    for name in ("figures.json", "predictions.json"):
        (lab / name).unlink(missing_ok=True)
    told: list[Table] = []
    one = member(lab, room, told)
    one.join()
    assert "nothing yet" in told[0].as_text(80)
    assert one.leave().tone == "done"


def test_joining_again_is_the_same_student(room: LiveClass, wall: str, lab: Path) -> None:
    first, again = member(lab, room), member(lab, room)
    first.join()
    here = counts(room.wall(wall))["here"]
    first.end()
    again = member(lab, room)
    again.join()
    assert counts(room.wall(wall))["here"] == here
    assert again.name == first.name
    assert again.leave().tone == "done"


def test_a_wrong_code_or_lab_is_explained(room: LiveClass, lab: Path, tmp_path: Path) -> None:
    with pytest.raises(NoClass, match="not the code on the wall"):
        member(lab, room, code="kiwi-0000").join()
    other = tmp_path / "01-timer-overhead"
    other.mkdir()
    with pytest.raises(NoClass, match=f"works on {LAB}"):
        member(other, room).join()


def test_another_certificate_is_refused_before_anything_is_sent(
    room: LiveClass, wall: str, lab: Path, tmp_path: Path
) -> None:
    one = member(lab, room)
    digits = digits_in(one.join())
    one.end()
    here = counts(room.wall(wall))["here"]
    kept = next((tmp_path / "cache" / "live").glob("member-*"))
    kept.write_text(kept.read_text().replace(digits, "0000 0000 0000 0000"))
    with pytest.raises(NoClass, match=f"another class than before.*{digits}.*0000"):
        member(lab, room).join()
    assert "another class than before" in str(member(lab, room).leave())
    assert counts(room.wall(wall))["here"] == here


@pytest.mark.parametrize("address", ["", "nowhere:port", "ftp://127.0.0.1:1", "http://[::1"])
def test_an_address_that_is_none_is_explained(lab: Path, address: str) -> None:
    with pytest.raises(NoClass, match="address"):
        Member(lab, "kiwi-4207", address, no_findings, lambda _: None)


def test_nobody_there_is_explained(lab: Path) -> None:
    with pytest.raises(NoClass, match="nobody answers"):
        Member(lab, "kiwi-4207", "http://127.0.0.1:9", no_findings, lambda _: None).join()


def test_a_hub_gives_address_and_code(
    room: LiveClass, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKLAB_LIVE", f"{room.address}#{room.code}")
    one = Member(lab, "", "", no_findings, lambda _: None)
    one.join()
    assert one.leave().tone == "done"


@pytest.mark.slow
def test_a_notebook_that_begins_anew_replaces_what_it_shared_before(
    room: LiveClass, wall: str, lab: Path
) -> None:
    before = measured(room, wall)
    one = member(lab, room)
    one.join()
    until(lambda: measured(room, wall) == before + 1)
    one.end()
    (lab / "figures.json").unlink()
    one = member(lab, room)
    one.join()
    until(lambda: measured(room, wall) == before)
    assert one.leave().tone == "done"


@pytest.mark.slow
def test_behind_a_hub_all_is_below_its_path(
    tmp_path: Path, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    hub = f"http://127.0.0.1:{port}"
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", hub)
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/services/live/")
    with running(tmp_path / "server", port=port) as room:
        assert room.desk_link.startswith("/services/live/desk?key=")
        stated = next(line for line in room.said.splitlines() if "TICKLAB_LIVE=" in line)
        monkeypatch.setenv("TICKLAB_LIVE", stated.partition("=")[2])
        one = Member(lab, "", "", no_findings, lambda _: None)
        one.join()
        assert one.leave().tone == "done"
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", room.desk_link)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Location")) == (303, "/services/live/desk")
        assert "Path=/services/live/" in (answer.getheader("Set-Cookie") or "")
        connection.close()


def test_the_terminal_shows_what_would_leave(
    room: LiveClass, lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["join", room.code, room.address, "--dir", str(lab), "--show"]) == 0
    shown = capsys.readouterr().out
    assert "What leaves this machine" in shown
    assert str(lab.parent) not in shown
    assert main(["join", "kiwi-0000", room.address, "--dir", str(lab)]) == 1
    assert "not the code" in capsys.readouterr().err


def test_the_instructors_link_opens_once_and_buttons_work(tmp_path: Path) -> None:
    with running(tmp_path) as room:
        wall, desk = room.cookie(room.wall_link), room.cookie(room.desk_link)
        assert wall
        assert desk
        assert room.cookie(room.desk_link) == ""
        assert room.press(wall, "reveal") == 403
        assert room.press(desk, "reveal") == 204
        assert room.wall(wall)["revealed"]
        assert room.press(desk, "hide") == 204
        assert room.press(desk, "next") == 204
        assert room.wall(wall)["place"].startswith("Question 2")
        assert room.press(desk, "no such button") == 400
        assert room.press(desk, "close") == 204
        status, content, _ = room.join()
        assert (status, b"closed" in content) == (403, True)
        assert room.wall(wall)["join"] == ""


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [False, True])
def test_a_restart_loses_nothing(tmp_path: Path, lab: Path, keeps: bool) -> None:
    """A kept class has everything at once; else students' notebooks bring it again."""
    options = ("--keep", str(tmp_path / "kept")) if keeps else ()
    with running(tmp_path / "server", "--share", "127.0.0.1", *options) as room:
        wall, desk = room.cookie(room.wall_link), room.cookie(room.desk_link)
        silent = room.enter()
        assert room.share(silent, message()) == 200
        one = member(lab, room)
        digits = digits_in(one.join())
        until(lambda: measured(room, wall) == 2)
        assert room.press(desk, "next") == 204
        code = room.code
        room.stop(kill=True)
        room.start()
        assert (room.code, digits in room.said) == (code, True)
        assert room.wall(wall)["place"].startswith("Question 2")
        assert room.press(desk, "previous") == 204
        if keeps:
            assert measured(room, wall) == 2
        else:
            until(lambda: measured(room, wall) == 1)
            assert room.share(silent, message()) == 200
            assert measured(room, wall) == 2
        assert one.leave().tone == "done"
        assert measured(room, wall) == 1


@pytest.mark.slow
def test_a_notebook_goes_on_without_the_class_and_catches_up(tmp_path: Path, lab: Path) -> None:
    figures = (lab / "figures.json").read_text()
    (lab / "figures.json").unlink()
    with running(tmp_path / "server") as room:
        wall = room.cookie(room.wall_link)
        one = member(lab, room)
        one.join()
        until(lambda: counts(room.wall(wall))["here"] == 1)
        room.stop(kill=True)
        (lab / "figures.json").write_text(figures)  # measured while the server is away
        room.start()
        until(lambda: measured(room, wall) == 1)
        one.end()


def test_nothing_is_stored_unless_the_instructor_keeps_it(tmp_path: Path) -> None:
    with running(tmp_path) as room:
        token, old = room.enter(), room.code
        assert room.press(room.cookie(room.desk_link), "new-code") == 204
        assert room.share(token, message(value=123456.75)) == 200, "who is in stays in"
        assert room.join(code=old)[0] == 403
        assert room.stop() == 0
    stored = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in stored] == [f"class-{LAB}.json"]
    assert "123456" not in stored[0].read_text()
    assert stored[0].stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_kept_class_ends_with_its_data_set(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with running(tmp_path, "--keep", str(kept)) as room:
        for n in range(5):
            assert room.share(room.enter(), message(value=100.0 + n)) == 200
        gone = room.enter()
        assert room.share(gone, message(value=987654.5)) == 200
        assert room.leave(gone) == 200
        assert room.stop() == 0
    assert [path.name for path in sorted(kept.iterdir())] == ["class.csv", "class.sqlite3"]
    assert b"987654" not in (kept / "class.sqlite3").read_bytes()
    assert (kept / "class.csv").read_text().count("system-call-getppid") == 2
    assert (kept / "class.sqlite3").stat().st_mode & 0o077 == 0
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_rehearsal_plays_a_class(tmp_path: Path) -> None:
    folder = tmp_path / "live" / f"rehearsal-{LAB}"
    folder.parent.mkdir()
    shutil.copytree(HONEST, folder)
    with running(tmp_path, "--rehearse", "12", "--within", "1") as room:
        wall = room.cookie(room.wall_link)
        until(lambda: measured(room, wall) == 12)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["live", "no-such-lab"], 2),
        (["live", LAB, "--rehearse", "0"], 2),
        (["live", LAB, "--port", "65535"], 2),
        (["live", LAB, "--share", "192.0.2.1"], 1),
    ],
)
def test_what_cannot_be_served_is_explained(
    words: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from grader.commands.cli import main

    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path))
    assert main(words) == status
    assert capsys.readouterr().err.startswith("grader live: ")
