"""Recordings: what is written and read, its units, and what is kept of it."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labs import limits
from labs.files import CannotWrite, read_bounded, with_ending, write_atomically
from labs.plots.scale import axis_number
from labs.recording.counts import Switches
from labs.recording.file import BadRecording, Recording, memoized, parse, read, read_table
from labs.run.c_process import COLUMNS, gather, parse_run
from labs.units import NAMES, Clock, UnknownUnit, canonical, fixed, plural, rounded, with_unit
from support import simulate
from support.paths import FIXTURES, REPOSITORY
from support.programs import call

# Recordings: what is written comes back, and whatever else is handed in is refused in words.


HEAD = (
    b"# ticklab recording: 1\n# kernel: timer_overhead\n# clock.fenced.frequency_hz: 2600000000.0\n"
    b'# clock.fenced.step: 2\n# process.0: {"seed": "1"}\n'
)
COLUMN_LINE = b"variant,process,sample,batch,ticks\n"
ROWS = b"fenced,0,-1,0,50\nfenced,0,0,64,92\nfenced,0,1,0,46\n"
GOOD = HEAD + COLUMN_LINE + ROWS


def equal(one: Recording, other: Recording) -> bool:
    arrays = ("variant_index", "process", "sample", "batch", "ticks")
    return one.variants == other.variants and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays
    )


# Round trips


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.csv")), ids=lambda path: path.stem)
def test_a_saved_recording_reads_back_to_the_same_bytes(path: Path) -> None:
    assert read(path).as_bytes() == path.read_bytes()
    assert read(path).intact is True


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    written = simulate.run(simulate.Machine(samples=500), 1)
    written.write(tmp_path / "folder" / "run.csv")
    back = read(tmp_path / "folder" / "run.csv")
    assert equal(written, back)
    assert back.processes == written.processes
    assert {**written.conditions}.items() <= {**back.conditions}.items()
    assert back.intact is True


def test_a_path_that_is_not_utf8_costs_no_recording(tmp_path: Path) -> None:
    made = parse(GOOD)
    written = replace(made, conditions={"command": "labs measure d\udcff/own.c"})
    written.write(tmp_path / "run.csv")
    assert read(tmp_path / "run.csv").conditions["command"] == "labs measure d?/own.c"


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map(str.strip)
names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,39}", fullmatch=True)


@pytest.mark.slow
@given(
    variants=st.lists(names, min_size=1, max_size=4, unique=True),
    kernel=names,
    conditions=st.dictionaries(st.from_regex(r"[a-z][a-z0-9.]{0,20}", fullmatch=True), texts),
    process=st.dictionaries(st.text(max_size=10), st.text(max_size=20), max_size=3),
    rows=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.integers(-(10**8) + 1, 10**8 - 1),
            st.integers(0, 10**10 - 1),
            st.integers(0, 10**18 - 1),
        ),
        min_size=1,
        max_size=30,
    ),
)
def test_any_recording_comes_back(
    variants: list[str],
    kernel: str,
    conditions: dict[str, str],
    process: dict[str, str],
    rows: list[tuple[int, int, int, int]],
) -> None:
    own = {"kernel", "process", "samples.count", "samples.sha256"}
    conditions = {
        key: value
        for key, value in conditions.items()
        if key not in own and not key.startswith("process.")
    }
    table = np.array(rows, dtype=np.int64)
    index = table[:, 0] % len(variants)
    # A reader meets the names in the order of the rows.
    order = list(dict.fromkeys(index.tolist()))
    written = Recording(
        kernel,
        MappingProxyType(conditions),
        (MappingProxyType(process),),
        tuple(variants[i] for i in order),
        np.array([order.index(i) for i in index.tolist()], dtype=np.int64),
        np.zeros(len(table), dtype=np.int64),
        table[:, 1],
        table[:, 2],
        table[:, 3],
    )
    back = parse(written.as_bytes())
    assert equal(written, back)
    assert back.kernel == kernel
    assert dict(back.processes[0]) == process
    assert all(back.conditions[key].split() == value.split() for key, value in conditions.items())


def test_a_spreadsheet_that_saved_with_crlf_is_read() -> None:
    assert equal(parse(GOOD.replace(b"\n", b"\r\n")), parse(GOOD))


def test_variants_may_be_called_by_numbers() -> None:
    back = parse(HEAD + COLUMN_LINE + b"1,0,0,64,92\n0,0,1,64,93\n")
    assert back.variants == ("1", "0")
    assert back.variant_index.tolist() == [0, 1]


def test_a_byte_order_mark_does_no_harm() -> None:
    assert equal(parse(b"\xef\xbb\xbf" + GOOD), parse(GOOD))


def test_a_last_line_without_its_end_is_read() -> None:
    assert equal(parse(GOOD[:-1]), parse(GOOD))


def test_a_changed_sample_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    simulate.run(simulate.Machine(samples=100), 1).write(path)
    head, columns, rows = path.read_bytes().partition(COLUMN_LINE)
    first = rows.split(b"\n")[0]
    changed = first[:-1] + (b"1" if first[-1:] != b"1" else b"2")
    assert parse(head + columns + rows.replace(first, changed, 1)).intact is False


def test_a_recording_without_a_hash_is_neither_intact_nor_changed() -> None:
    assert parse(GOOD).intact is None


# Bad content: every case names the line, where one line is to blame

BAD: dict[str, tuple[bytes, int | None]] = {
    "empty": (b"", None),
    "blank": (b"\n\n \n", None),
    "only conditions": (HEAD, 6),
    "no format line": (GOOD.partition(b"\n")[2], 1),
    "a later version": (GOOD.replace(b"recording: 1", b"recording: 2"), 1),
    "no kernel": (GOOD.replace(b"# kernel: timer_overhead\n", b""), None),
    "another table": (b"a,b\n1,2\n", 1),
    "columns in another order": (GOOD.replace(b"variant,process", b"process,variant"), 6),
    "four columns": (GOOD.replace(b"fenced,0,0,64,92", b"fenced,0,64,92"), 8),
    "six columns": (GOOD.replace(b"fenced,0,0,64,92", b"fenced,0,0,64,92,1"), 8),
    "a million columns": (HEAD + COLUMN_LINE + b"fenced" + b",1" * 1_000_000 + b"\n", 7),
    "NaN": (GOOD.replace(b"64,92", b"64,nan"), 8),
    "infinite": (GOOD.replace(b"64,92", b"64,inf"), 8),
    "a fraction": (GOOD.replace(b"64,92", b"64,92.5"), 8),
    "an exponent": (GOOD.replace(b"64,92", b"64,9e2"), 8),
    "negative ticks": (GOOD.replace(b"64,92", b"64,-92"), 8),
    "negative batch": (GOOD.replace(b"64,92", b"-64,92"), 8),
    "ticks beyond 64 bits": (GOOD.replace(b"64,92", b"64," + b"9" * 30), 8),
    "spaces in a row": (GOOD.replace(b"64,92", b"64, 92"), 8),
    "a blank line": (GOOD.replace(b"fenced,0,0", b"\nfenced,0,0"), 8),
    "a row cut short": (GOOD + b"fenced,0,2,6", 10),
    "digits of another script": (GOOD.replace(b"64,92", "64,٩٢".encode()), 8),
    "not UTF-8 in a row": (GOOD.replace(b"fenced,0,0", b"\xff\xfe,0,0"), 8),
    "not UTF-8 in a condition": (GOOD.replace(b"timer_overhead", b"timer\xff"), 2),
    "UTF-16": (GOOD.decode().encode("utf-16"), 1),
    "NUL bytes in a row": (GOOD.replace(b"fenced,0,0", b"fen\0ced,0,0"), 8),
    "only NUL bytes": (b"\0" * 100_000, 1),
    "a variant name with a formula": (GOOD.replace(b"fenced,0,0", b"=1+1,0,0"), 8),
    "a process that is not described": (GOOD.replace(b"fenced,0,0", b"fenced,9,0"), None),
    "a condition twice": (b"# kernel: other\n".join(GOOD.split(b"\n", 1)).replace(
        b"1# kernel: other\n", b"1\n# kernel: other\n"), 3),
    "a condition without a value": (GOOD.replace(b": timer_overhead", b""), 2),
    "processes out of turn": (GOOD.replace(b"process.0", b"process.1"), 5),
    "a process twice": (GOOD.replace(b'{"seed": "1"}\n', b'{}\n# process.0: {}\n'), 6),
    "a process that is not JSON": (GOOD.replace(b'{"seed": "1"}', b"{seed: 1}"), 5),
    "a process that is a list": (GOOD.replace(b'{"seed": "1"}', b"[1]"), 5),
    "a process with numbers": (GOOD.replace(b'"1"}', b"1}"), 5),
    "a process nested deep": (GOOD.replace(b'{"seed": "1"}', b"[" * 9000 + b"]" * 7000), 5),
    "a line of 50 MB": (HEAD + b"x" * 50_000_000, None),
    "a long condition": (HEAD + b"# note: " + b"x" * 20_000 + b"\n" + COLUMN_LINE + ROWS, 6),
    "too many conditions": (HEAD + b"".join(b"# n%d: 1\n" % n for n in range(5000)), None),
    "too many rows": (HEAD + COLUMN_LINE + b"f,0,0,0,1\n" * 260_000, None),
    "too many variants": (HEAD + COLUMN_LINE + b"".join(b"v%d,0,0,0,1\n" % n for n in range(99)),
                          None),
    "fewer samples than stated": (GOOD.replace(b"# kernel", b"# samples.count: 5\n# kernel"), None),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_content_is_refused_naming_file_and_line(case: str) -> None:
    content, line = BAD[case]
    with pytest.raises(BadRecording) as refused:
        parse(content, where="mine.csv")
    place = "mine.csv: " if line is None else f"mine.csv, line {line}: "
    assert str(refused.value).startswith(place)
    assert len(str(refused.value)) < 400


def test_no_rows_at_all_is_a_recording_without_samples() -> None:
    assert len(parse(HEAD + COLUMN_LINE)) == 0


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300))
def test_arbitrary_bytes_raise_nothing_else(content: bytes) -> None:
    for head in (b"", HEAD, HEAD + COLUMN_LINE, HEAD + COLUMN_LINE + ROWS):
        with contextlib.suppress(BadRecording):
            parse(head + content)


@given(st.integers(0, len(GOOD) - 1), st.binary(max_size=4), st.integers(0, 6))
def test_a_file_damaged_anywhere_raises_nothing_else(at: int, put: bytes, cut: int) -> None:
    try:
        back = parse(GOOD[:at] + put + GOOD[at + cut :])
        for name in back.variants:
            back.samples(name)
        back.number("core_cycle_ticks"), back.total("task.main.migrations")
    except BadRecording:
        pass


_NAMES = [b"a", b"1", b"n" * 8, b"n" * 9, b"n" * 40]
_NUMBERS = [[b"0", b"0012"], [b"-12345678", b"-0", b"7"], [b"1234567890"], [b"9" * 18, b"92"]]
_BAD = [b"", b"-", b"+1", b"1_0", b" 1", b"1.0", b"\xb2", b"n" * 41, b"N", b"-n", b"9" * 19, b"7\r"]
_ANY = st.sampled_from([*_NAMES, *_BAD, *(each for column in _NUMBERS for each in column)])
_GOOD_ROW = st.tuples(*map(st.sampled_from, [_NAMES, *_NUMBERS]))
_ROW = st.one_of(_GOOD_ROW, _GOOD_ROW, _GOOD_ROW, st.lists(_ANY, min_size=3, max_size=6))
_FORM = re.compile(rb"([a-z0-9][a-z0-9_-]{0,39}),(\d{1,4}),(-?\d{1,8}),(\d{1,10}),(\d{1,18})")


@given(st.lists(_ROW, min_size=1, max_size=6))
def test_rows_are_read_as_their_pattern_says(fields: list[Sequence[bytes]]) -> None:
    rows = [b",".join(row) for row in fields]
    found = [_FORM.fullmatch(row) for row in rows]
    bad = next((place for place, row in enumerate(found) if row is None), None)
    if bad is not None:
        with pytest.raises(BadRecording, match=f"line {7 + bad}:"):
            read_table(b"\n".join(rows), 7)
        return
    good = [row.groups() for row in found if row is not None]
    names = list(dict.fromkeys(row[0] for row in good))
    variants, table = read_table(b"\n".join(rows), 7)
    assert [name.encode() for name in variants] == names
    assert table.tolist() == [[names.index(name), *map(int, rest)] for name, *rest in good]


@pytest.mark.slow
def test_a_large_bad_file_takes_little_time_and_memory() -> None:
    content = HEAD + COLUMN_LINE + b"fenced,0,1,64,92\n" * 119_000 + b"fenced,0,1,64,x\n"
    tracemalloc.start()
    begin = time.process_time()
    with pytest.raises(BadRecording, match="line 119007"):
        parse(content)
    spent, (_, peak) = time.process_time() - begin, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 1024 * 1024
    assert spent < 20


# Places that hold no recording


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRecording, match="No such file"):
        read(tmp_path / "none.csv")


def test_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRecording, match="not a regular file"):
        read(tmp_path)


def test_refusing_leaves_no_file_open(tmp_path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        for place in (tmp_path, Path("/dev/null")):
            with pytest.raises(BadRecording):
                read(place)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_bytes(GOOD)
    (tmp_path / "link.csv").symlink_to("real.csv")
    with pytest.raises(BadRecording, match="symbolic link"):
        read(tmp_path / "link.csv")


def test_a_fifo_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    outcome: list[BaseException] = []

    def try_it() -> None:
        try:
            read(tmp_path / "fifo")
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=try_it, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert len(outcome) == 1 and isinstance(outcome[0], BadRecording)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    with pytest.raises(BadRecording, match="not a regular file"):
        read(Path(device))


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    tracemalloc.start()
    with pytest.raises(BadRecording, match="at most"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_recording_too_large_to_be_read_is_not_written(tmp_path: Path) -> None:
    rows = limits.MOST_RECORDING_ROWS + 1
    zeros = np.zeros(rows, dtype=np.int64)
    large = Recording(
        "k", MappingProxyType({}), (MappingProxyType({}),), ("v",), zeros, zeros, zeros, zeros,
        zeros,
    )  # fmt: skip
    with pytest.raises(ValueError, match="fewer samples"):
        large.write(tmp_path / "large.csv")
    assert list(tmp_path.iterdir()) == []


# What the recording says of itself


def test_warm_up_is_apart_from_the_samples() -> None:
    back = parse(GOOD)
    assert back.samples("fenced").ticks.tolist() == [92, 46]
    assert back.samples("fenced", warmup=True).ticks.tolist() == [50]


def test_an_unknown_variant_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match="there is fenced"):
        parse(GOOD).samples("sundial")


@pytest.mark.parametrize("hertz", ["0", "-1", "nan", "inf", "fast", ""])
def test_a_clock_without_a_usable_frequency_is_refused(hertz: str) -> None:
    content = GOOD.replace(b"_hz: 2600000000.0", b"_hz: " + hertz.encode())
    with pytest.raises(BadRecording):
        parse(content).clock("fenced")


def test_a_core_cycle_is_given_in_ticks_of_the_clock_that_was_read() -> None:
    more = b"# counter.frequency_hz: 2600000000\n# core_cycle_ticks: 0.65\n# clock.realtime."
    content = GOOD.replace(b"# clock.fenced.step", more + b"frequency_hz: 1e9\n"
                           b"# clock.realtime.step: 1\n# clock.fenced.step")  # fmt: skip
    stated = parse(content.replace(b"fenced,0,1", b"realtime,0,1"))
    assert stated.clock("fenced").core_cycle_ticks == pytest.approx(0.65)
    assert stated.clock("realtime").core_cycle_ticks == pytest.approx(0.25)


# The output of one process

OUTPUT = b"# kernel: mine\n# seed: 3\n" + COLUMNS + b"\nfenced,-1,0,50\nfenced,0,64,92\n"


def test_processes_are_put_together_with_what_they_share_said_once() -> None:
    runs = [parse_run(OUTPUT.replace(b"seed: 3", b"seed: %d\n# os: x" % n), "k") for n in (3, 4)]
    whole = gather({"flags": "-O2"}, runs, "mine")
    assert dict(whole.conditions) == {"flags": "-O2", "os": "x"}
    assert [process["seed"] for process in whole.processes] == ["3", "4"]
    assert whole.process.tolist() == [0, 0, 1, 1]
    assert parse(whole.as_bytes()).intact is True


BAD_OUTPUT = {
    "nothing": b"",
    "no column line": b"# kernel: mine\nhello\n",
    "text among the conditions": OUTPUT.replace(b"# seed: 3", b"seed is 3"),
    "no samples": OUTPUT.partition(b"fenced")[0],
    "text after the samples": OUTPUT + b"done\n",
    "ticks that are no number": OUTPUT.replace(b"92", b"-nan"),
    "many conditions": b"# a: 1\n" * 3000 + OUTPUT,
    "binary": bytes(range(256)) * 100,
}


@pytest.mark.parametrize("case", BAD_OUTPUT)
def test_bad_output_is_refused_naming_the_c_kernel(case: str) -> None:
    with pytest.raises(BadRecording, match=r"^mine"):
        parse_run(BAD_OUTPUT[case], "mine")


@given(st.binary(max_size=200))
def test_arbitrary_output_raises_nothing_else(content: bytes) -> None:
    for output in (content, OUTPUT + content, content + OUTPUT):
        with contextlib.suppress(BadRecording):
            parse_run(output, "mine")


def test_reading_never_imports_or_runs_anything(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    payload = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    path = tmp_path / "bad.csv"
    path.write_bytes(GOOD.replace(b"timer_overhead", payload.encode()))
    code = (
        f"from pathlib import Path; from labs.recording import file; file.read(Path({str(path)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)
    assert not marker.exists()


# Units and their conversion; files written whole or not at all.


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


def test_other_spellings_mean_the_same() -> None:
    for spelt, meant in (("µs", "us"), ("μs", "us"), (" ns ", "ns"),
                                              ("cycle", "cycles"), ("usec", "us"),
                                              ("nanosecond", "ns"), ("microseconds", "us"),
                                              ("core cycles", "cycles")):  # fmt: skip
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

    done = call(
        sys.executable, "-c", WRITE, path, cwd=REPOSITORY, preexec_fn=small_files, check=True
    )
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
    done = call(
        *plain_root, sys.executable, "-c", WRITE, tmp_path / "run.csv", cwd=REPOSITORY, check=True
    )
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


def test_a_unit_after_one_is_singular() -> None:
    for number, unit, text in (
        ("1", "cycles", "1 cycle"),
        ("1", "ticks", "1 tick"),
        ("1.0", "cycles", "1.0 cycles"),
        ("2", "cycles", "2 cycles"),
        ("1", "ns", "1 ns"),
        ("1", "s", "1 s"),
        ("1", "times", "1 times"),
    ):
        assert with_unit(number, unit) == text


@pytest.mark.parametrize("decimals", range(4))
@pytest.mark.parametrize("tiny", [-0.0, 0.0, -1e-9, 1e-9, -4e-5])
def test_what_rounds_to_zero_has_no_sign(tiny: float, decimals: int) -> None:
    for signed in (False, True):
        text = fixed(tiny, decimals, signed=signed)
        assert float(text) == 0 and text[0] == "0" and len(text.partition(".")[2]) == decimals
    assert rounded(-0.0) == "0" and axis_number(-0.0) == "0"


def test_any_other_number_keeps_its_sign() -> None:
    for value in (-1234.567, -0.5, 0.06, 1234.567):
        plain, signed = fixed(value, 2), fixed(value, 2, signed=True)
        assert float(plain.replace(",", "")) == float(signed.replace(",", "")) == round(value, 2)
        assert signed[0] == ("-" if value < 0 else "+") and plain in signed


def test_a_count_has_its_noun_in_the_singular_or_in_the_plural() -> None:
    counts = [plural(1, "process"), plural(2_000, "process"), plural(0, "figure")]
    assert counts == ["1 process", "2,000 processes", "0 figures"]
    assert [plural(1.0, "CPU"), plural(0.5, "CPU")] == ["1 CPU", "0.5 CPUs"]


# What is reduced from a recording is reduced once, and not kept longer than the recording.


SAVED = FIXTURES / "fenced.csv"


def test_the_same_question_is_answered_once_and_another_anew() -> None:
    asked: list[tuple[str, bool]] = []

    @memoized
    def reduce(recording: Recording, variant: str, *, twice: bool = False) -> int:
        asked.append((variant, twice))
        return len(recording) * (2 if twice else 1)

    first, second = read(SAVED), read(SAVED)
    assert reduce(first, "a") == reduce(first, "a") == len(first)
    assert reduce(first, "a", twice=True) == 2 * len(first)
    assert reduce(second, "a") == len(second)
    assert asked == [("a", False), ("a", True), ("a", False)]


def test_an_error_is_not_kept() -> None:
    calls = []

    @memoized
    def refuse(recording: Recording) -> int:
        calls.append(1)
        raise ValueError("no")

    recording = read(SAVED)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            refuse(recording)
    assert len(calls) == 2


def test_a_recording_that_nobody_needs_is_let_go() -> None:
    @memoized
    def count(recording: Recording) -> int:
        return len(recording)

    recording = read(SAVED)
    count(recording)
    gone = weakref.ref(recording)
    del recording
    gc.collect()
    assert gone() is None


def test_a_rare_count_is_told_as_two_counts() -> None:
    for counted, words in (
        (64, "64 of 4,668,000"),
        (0, "0"),
        (4_668, "0.001"),
        (4_600_000, "0.985"),
    ):
        assert Switches(4_668_000, counted, 1.0).rate == words
