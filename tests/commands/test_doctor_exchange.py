"""What `labs doctor --administrator` says of the folder of nbgrader's exchange."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labs.hand_in import exchange
from labs.hand_in.exchange import NotSubmitted, check_exchange, root_of_exchange
from support.paths import REPOSITORY

MAKE = "sudo install -d -m 1777"


def made(root: Path, mode: int = 0o1777, inbound: int = 0o2733, outbound: int = 0o755) -> Path:
    """An exchange with the folders of one course, as nbgrader makes them."""
    for name, wanted in (("inbound", inbound), ("outbound", outbound)):
        folder = root / "ticklab" / name
        folder.mkdir(parents=True)
        folder.chmod(wanted)
    (root / "ticklab").chmod(0o755)
    root.chmod(mode)
    return root


@pytest.fixture(autouse=True)
def as_for_every_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged by the mode, as for an administrator: the owner of these folders may do anything."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_an_exchange_as_nbgrader_makes_it_passes(tmp_path: Path) -> None:
    root = made(tmp_path / "exchange")
    assert (found := check_exchange(root)).status == "PASS"
    assert found.administrator is None


@pytest.mark.parametrize(
    ("modes", "named", "advice"),
    [
        ({"mode": 0o755}, "may not write to", "install -d -m 1777"),
        ({"inbound": 0o755}, "inbound", "mode 733"),
        ({"outbound": 0o700}, "outbound", "with 755"),
    ],
)
def test_a_folder_that_students_cannot_use_is_named(
    tmp_path: Path, modes: dict[str, int], named: str, advice: str
) -> None:
    found = check_exchange(made(tmp_path / "exchange", **modes))
    assert found.status == "CAUTION"
    assert named in found.seen
    assert advice in (found.administrator or "")
    assert "uploading" in (found.remedy or "")


def test_a_course_that_students_may_not_enter_is_named(tmp_path: Path) -> None:
    root = made(tmp_path / "exchange")
    (root / "ticklab").chmod(0o700)
    assert check_exchange(root).seen == f"students cannot use {root / 'ticklab'}"


def test_without_an_exchange_students_lack_nothing(tmp_path: Path) -> None:
    found = check_exchange(tmp_path / "none")
    assert found.status == "SKIPPED" and found.remedy is None
    assert (found.administrator or "").endswith(f"{MAKE} {tmp_path / 'none'}")
    assert check_exchange(None).status == "SKIPPED"
    page = (REPOSITORY / "docs" / "instructors" / "hub-and-laptops.md").read_text(encoding="utf-8")
    assert f"\n{MAKE} /usr/local/share/nbgrader/exchange\n" in page


@pytest.mark.slow
def test_the_folder_is_the_one_that_nbgrader_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nbgrader_config.py").write_text('c.Exchange.root = "/srv/exchange"\n')
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    assert root_of_exchange() == Path("/srv/exchange")

    def fails(*words: str) -> str:
        raise NotSubmitted("nbgrader ended with status 1")

    monkeypatch.setattr(exchange, "run_python", fails)
    assert root_of_exchange() is None
    monkeypatch.setattr(exchange, "run_python", lambda *words: "null\n")
    assert root_of_exchange() is None
