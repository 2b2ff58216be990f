"""Recordings: what is written comes back, and whatever else is handed in is refused in words."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labs import limits
from labs.recording.file import BadRecording, Recording, parse, read, read_table
from labs.run.c_process import COLUMNS, gather, parse_run
from testing import simulate
from testing.paths import FIXTURES, REPOSITORY

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
            read_table(b"\n".join(rows), 7, "run.csv")
        return
    good = [row.groups() for row in found if row is not None]
    names = list(dict.fromkeys(row[0] for row in good))
    variants, table = read_table(b"\n".join(rows), 7, "run.csv")
    assert [name.encode() for name in variants] == names
    assert table.tolist() == [[names.index(name), *map(int, rest)] for name, *rest in good]


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
