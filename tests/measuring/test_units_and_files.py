"""Units and their conversion; files written whole or not at all."""

from __future__ import annotations

import math
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.files import CannotWrite, read_bounded, with_ending, write_atomically
from labs.plots.scale import axis_number
from labs.units import NAMES, Clock, UnknownUnit, canonical, fixed, plural, rounded, with_unit
from testing.paths import REPOSITORY

CLOCK = Clock(2_596_000_000.0, 26, 0.7)
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

# Units


@given(st.floats(-1e12, 1e12), st.sampled_from(sorted(NAMES)), st.sampled_from(sorted(NAMES)))
def test_there_and_back_is_the_same(value: float, one: str, other: str) -> None:
    back = CLOCK.convert(CLOCK.convert(value, one, other), other, one)
    assert back == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_conversions_known_by_hand() -> None:
    assert CLOCK.convert(26, "ticks", "ns") == pytest.approx(10.0154, rel=1e-5)
    assert CLOCK.convert(26, "ticks", "cycles") == pytest.approx(37.142857)
    assert CLOCK.convert(1500, "ns", "us") == pytest.approx(1.5)
    assert CLOCK.convert(2, "s", "ms") == pytest.approx(2000)
    assert Clock(1e6, 1).convert(1, "ticks", "ns") == pytest.approx(1000)


@pytest.mark.parametrize(("spelt", "meant"), [("µs", "us"), ("μs", "us"), (" ns ", "ns"),
                                              ("cycle", "cycles"), ("usec", "us"),
                                              ("nanosecond", "ns"), ("microseconds", "us"),
                                              ("core cycles", "cycles")])  # fmt: skip
def test_other_spellings_mean_the_same(spelt: str, meant: str) -> None:
    assert canonical(spelt) == meant


@pytest.mark.parametrize("unit", ["", "NS", "minutes", "hz", "n s", "ns\0"])
def test_an_unknown_unit_is_refused_with_those_there_are(unit: str) -> None:
    with pytest.raises(UnknownUnit, match="ticks, cycles, ns"):
        canonical(unit)


def test_cycles_are_refused_where_their_length_is_not_known() -> None:
    with pytest.raises(ValueError, match="ask for ns"):
        Clock(1e9, 1).ticks_in("cycles")


@given(st.floats(1e-6, 1e9))
def test_rounding_keeps_three_digits(value: float) -> None:
    text = rounded(value)
    assert "e" not in text or value < 1e-3
    assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.006)


def test_a_small_count_for_each_operation_has_no_exponent() -> None:
    assert [rounded(v) for v in (9.58084e-5, 4.2e-6, -1e-7)] == [
        "0.0000958", "0.0000042", "-0.0000001",
    ]  # fmt: skip
    assert rounded(3e-8) == "3e-08"


def test_rounding_known_by_hand() -> None:
    assert [rounded(v) for v in (0, 16.3812, 0.76923, 1234567, -20.5555, 999.9)] == [
        "0", "16.4", "0.769", "1,230,000", "-20.6", "1000",
    ]  # fmt: skip


# Files


def test_what_is_written_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["file"]


def test_a_name_gets_its_ending_once_and_a_folder_none(tmp_path: Path) -> None:
    assert with_ending(tmp_path / "run", ".csv") == tmp_path / "run.csv"
    assert with_ending(tmp_path / "run.2", ".csv") == tmp_path / "run.2.csv"
    for as_it_is in (tmp_path / "run.csv", tmp_path / "RUN.CSV", tmp_path, Path(), Path("/")):
        assert with_ending(as_it_is, ".csv") == as_it_is


def test_permissions_are_those_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", b"")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(CannotWrite, match="cannot write"):
        write_atomically(tmp_path / "file", b"x")
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_a_file_where_a_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(CannotWrite, match="a part of that path is a file"):
        write_atomically(tmp_path / "a" / "b", b"x")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not AS_ROOT or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_file(full_disk: Path) -> None:
    path = full_disk / "run.csv"
    write_atomically(path, b"old")
    with pytest.raises(CannotWrite, match="the disk is full: free some space"):
        write_atomically(path, b"x" * 100_000)
    assert path.read_bytes() == b"old"
    assert [item.name for item in full_disk.iterdir()] == ["run.csv"]


def test_a_read_only_file_system_is_told(full_disk: Path) -> None:
    write_atomically(full_disk / "run.csv", b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(full_disk)], check=True)
    with pytest.raises(CannotWrite, match="the folder is read-only: work in a copy"):
        write_atomically(full_disk / "run.csv", b"new")
    assert (full_disk / "run.csv").read_bytes() == b"old"


WRITE = (
    "import sys; from pathlib import Path; from labs.files import *\n"
    "try: write_atomically(Path(sys.argv[1]), b'x' * 100_000)\n"
    "except CannotWrite as error: print(error.strerror)\n"
)


def test_a_file_larger_than_allowed_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(b"old")

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(path)],
        capture_output=True, text=True, cwd=REPOSITORY, preexec_fn=small_files, check=True,
    )  # fmt: skip
    assert "File too large" in done.stdout
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["run.csv"]


def test_a_folder_of_somebody_else_is_told(tmp_path: Path) -> None:
    setpriv = shutil.which("setpriv")
    if not AS_ROOT or setpriv is None:
        pytest.skip("needs root and setpriv to act as somebody else")
    (tmp_path / "run.csv").write_bytes(b"old")
    # Root without its capabilities, in a folder that belongs to another.
    os.chown(tmp_path, 65534, 65534)
    tmp_path.chmod(0o755)
    plain_root = [setpriv, "--bounding-set", "-all", "--inh-caps", "-all"]
    done = subprocess.run(
        [*plain_root, sys.executable, "-c", WRITE, str(tmp_path / "run.csv")],
        capture_output=True, text=True, cwd=REPOSITORY, check=True,
    )  # fmt: skip
    assert "Permission denied; you may not write there: work in a copy" in done.stdout
    assert (tmp_path / "run.csv").read_bytes() == b"old"


def test_an_end_in_mid_write_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(b"old")
    code = (
        "import os, sys; from pathlib import Path; from labs import files\n"
        "files.os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "files.write_atomically(Path(sys.argv[1]), b'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=REPOSITORY, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


def test_reading_stops_at_the_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="at most 4"):
        read_bounded(tmp_path / "file", 4)


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        ("1", "cycles", "1 cycle"),
        ("1", "ticks", "1 tick"),
        ("1.0", "cycles", "1.0 cycles"),
        ("2", "cycles", "2 cycles"),
        ("1", "ns", "1 ns"),
        ("1", "s", "1 s"),
        ("1", "times", "1 times"),
    ],
)
def test_a_unit_after_one_is_singular(number: str, unit: str, text: str) -> None:
    assert with_unit(number, unit) == text


@pytest.mark.parametrize("decimals", range(4))
@pytest.mark.parametrize("tiny", [-0.0, 0.0, -1e-9, 1e-9, -4e-5])
def test_what_rounds_to_zero_has_no_sign(tiny: float, decimals: int) -> None:
    for signed in (False, True):
        text = fixed(tiny, decimals, signed=signed)
        assert float(text) == 0 and text[0] == "0" and len(text.partition(".")[2]) == decimals
    assert rounded(-0.0) == "0" and axis_number(-0.0) == "0"


@pytest.mark.parametrize("value", [-1234.567, -0.5, 0.06, 1234.567])
def test_any_other_number_keeps_its_sign(value: float) -> None:
    plain, signed = fixed(value, 2), fixed(value, 2, signed=True)
    assert float(plain.replace(",", "")) == float(signed.replace(",", "")) == round(value, 2)
    assert signed[0] == ("-" if value < 0 else "+") and plain in signed


def test_a_count_has_its_noun_in_the_singular_or_in_the_plural() -> None:
    counts = [plural(1, "process"), plural(2_000, "process"), plural(0, "figure")]
    assert counts == ["1 process", "2,000 processes", "0 figures"]
    assert [plural(1.0, "CPU"), plural(0.5, "CPU")] == ["1 CPU", "0.5 CPUs"]
