"""The recording: all samples of one run, with the conditions under which they were taken.

A recording is one text file that opens in a spreadsheet. Lines `# key: value` state what is true of
the whole run, and lines `# process.N: {...}` state what differs between its processes. Then follows
one row per sample. Sample numbers below 0 are warm-up. Reading never executes anything and limits
every size. If a file is bad, the error says what is wrong and in which line.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import hashlib
import io
import json
import os
import re
import statistics
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from labs import limits
from labs.files import cpu_list, number_in, read_bounded, without_name, write_together
from labs.json_text import BadJson, parse_json
from labs.units import Clock

# Read the rows of a recording, or of a C kernel's output: names and whole numbers.
#
# Anybody may have written them, so every size is limited. An error names its line.

Integers = NDArray[np.int64]

_NAME = rb"[a-z0-9][a-z0-9_-]{0,39}"
#: The most digits of sample, batch and ticks, by number of columns: rows of a C kernel have 4, and
#: rows of a recording add the process. The number of a sample may be negative.
_MOST_DIGITS = {4: (8, 10, 18), 5: (4, 8, 10, 18)}
_PIECE = 256 * 1024


def _row_form(most: tuple[int, ...]) -> re.Pattern[bytes]:
    """The pattern of one row with its line end."""
    numbers = [rb"\d{1,%d}" % digits for digits in most]
    numbers[-3] = b"-?" + numbers[-3]
    return re.compile(b",".join([_NAME, *numbers]) + b"\n")


_ROW_FORMS = {columns: _row_form(most) for columns, most in _MOST_DIGITS.items()}
#: Makes the shape of a row: `a` for each letter, `0` for each digit, and the other characters as
#: they are. The pattern of a row matches its shape if and only if it matches the row.
_SHAPES = bytes.maketrans(b"bcdefghijklmnopqrstuvwxyz123456789", b"a" * 25 + b"0" * 9)


class BadRecording(ValueError):
    """A recording cannot be read; the message names the file, the line and what is wrong."""

    def __init__(self, what: str, line: int | None = None, *, where: str = "recording") -> None:
        place = f"{where}, line {line}" if line is not None else where
        super().__init__(f"{place}: {what}")
        self.what, self.line = what, line


@contextlib.contextmanager
def naming_file(where: str) -> Iterator[None]:
    """In here, each BadRecording names `where` as the file."""
    try:
        yield
    except BadRecording as error:
        raise BadRecording(error.what, error.line, where=where) from error


def read_table(body: bytes, first_row: int, columns: int = 5) -> tuple[tuple[str, ...], Integers]:
    """The names of the variants and the numbers in the rows `body`, whose first is this line.

    The array has the shape (rows, columns), and its first column indexes the names. A C kernel
    prints four columns, because it does not know the number of its process. Raises BadRecording,
    naming the line.
    """
    if body and not body.endswith(b"\n"):
        body += b"\n"
    count = body.count(b"\n")
    if count > limits.MOST_RECORDING_ROWS:
        raise BadRecording(f"has {count} rows; at most {limits.MOST_RECORDING_ROWS} are read")
    if count == 0:
        return (), np.empty((0, columns), dtype=np.int64)
    names: dict[bytes, int] = {}
    # In this order, `parse` takes the columns without copying them.
    table = np.empty((count, columns), dtype=np.int64, order="F")
    row = 0
    for begin, end in _pieces(body):
        piece = body[begin:end]
        rows = _rows_in(piece, columns, names)
        if rows is None:
            raise _why_refused(piece, columns, first_row + row)
        index, numbers = rows
        table[row : row + len(index), 0] = index
        table[row : row + len(index), 1:] = numbers
        row += len(index)
    _check_batch_sizes(table[:, -2], first_row)
    if columns == 5:
        _check_order(table[:, 1], first_row)
    return tuple(name.decode() for name in names), table


def _rows_in(
    piece: bytes, columns: int, names: dict[bytes, int]
) -> tuple[Integers, Integers] | None:
    """The rows in `piece`, which holds whole lines; None if a row or its variant is refused.

    The first array, of shape (rows,), holds the number of each row's name in `names`, to which new
    names are added in the order of the rows. The other one, of shape (rows, columns - 1), holds the
    numbers after the name.
    """
    # numpy also reads 1e3, nan and empty lines, so a pattern refuses them first. Honest rows have
    # fewer than a hundred shapes, so matching each shape is faster than matching each row.
    shapes = set(io.BytesIO(piece.translate(_SHAPES)))
    if not all(map(_ROW_FORMS[columns].fullmatch, shapes)):
        return None
    longest = max(shape.index(b",") for shape in shapes)
    row = np.dtype([("name", f"S{longest}"), ("numbers", np.int64, (columns - 1,))])
    rows = np.loadtxt(
        io.BytesIO(piece), row, comments=None, delimiter=",", ndmin=1, encoding="ascii"
    )
    # A converter would find the names in fewer lines, but loadtxt calls it for every row.
    index = np.full(len(rows), -1, dtype=np.int64)
    while len(unknown := np.flatnonzero(index < 0)):
        name = rows["name"][unknown[0]]
        index[rows["name"] == name] = names.setdefault(name, len(names))
        if len(names) > limits.MOST_VARIANTS:
            return None
    return index, rows["numbers"]


def _why_refused(piece: bytes, columns: int, first_row: int) -> BadRecording:
    """What is wrong with the rows in `piece`; the first one is line `first_row`."""
    for line, row in enumerate(io.BytesIO(piece), first_row):
        if _ROW_FORMS[columns].fullmatch(row) is None:
            bad = row.removesuffix(b"\n")
            return BadRecording(f"{_shown(bad)} {_what_is_wrong(bad, columns)}", line)
    return BadRecording(f"has more than {limits.MOST_VARIANTS} variants")


def _check_batch_sizes(batch: Integers, first_row: int) -> None:
    """Raise BadRecording if `batch`, of shape (rows,), holds too many different sizes."""
    sizes = len(distinct(batch))
    if sizes > limits.MOST_BATCH_SIZES:
        _, first_places = np.unique(batch, return_index=True)
        raise BadRecording(
            f"has {sizes} different batch sizes; at most {limits.MOST_BATCH_SIZES} are read",
            first_row + int(np.sort(first_places)[limits.MOST_BATCH_SIZES]),
        )


def _check_order(process: Integers, first_row: int) -> None:
    """Raise BadRecording if the process number, of shape (rows,), changes too often."""
    changes = np.flatnonzero(np.diff(process)) + 1
    if len(changes) > limits.MOST_PROCESS_CHANGES:
        raise BadRecording(
            f"the process number changes {len(changes)} times; at most "
            f"{limits.MOST_PROCESS_CHANGES} are read: the rows of one process must be together, in "
            "the order of measurement",
            first_row + int(changes[limits.MOST_PROCESS_CHANGES]),
        )


def _pieces(body: bytes) -> Iterator[tuple[int, int]]:
    """Where pieces of whole lines begin and end. Parsing needs many times a piece's memory."""
    begin = 0
    while begin < len(body):
        end = body.rfind(b"\n", begin, begin + _PIECE) + 1
        if end == 0:  # one line longer than a piece
            end = body.index(b"\n", begin) + 1
        yield begin, end
        begin = end


def _what_is_wrong(row: bytes, columns: int) -> str:
    ticks = re.search(rb",(\d{19,20})$", row)
    if ticks is not None and int(ticks[1]) >= 2**63:  # a negative number as an unsigned 64-bit one
        return "is a sample of less than 0 ticks: is the second reading subtracted from the first?"
    return f"is not a row of a variant and {columns - 1} whole numbers"


def _shown(row: bytes) -> str:
    """The beginning of a bad row, for a message."""
    return repr(row[:60].decode("utf-8", "replace")) + (" ..." if len(row) > 60 else "")


# Find distinct numbers, without a sort if they are small.

#: Smaller numbers are counted in a table of this size, which is faster than sorting them.
TABLE_SIZE = 1 << 14


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values in ascending order; `values` has the shape (n,)."""
    if len(values) and values.min() >= 0 and values.max() < TABLE_SIZE:
        return np.flatnonzero(np.bincount(values))
    return np.unique(values)


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each of `values` among them.

    `values` has the shape (n,) and holds no number below 0.
    """
    found = distinct(values)
    if values.max(initial=0) >= TABLE_SIZE:
        return found, np.searchsorted(found, values)
    place = np.zeros(TABLE_SIZE, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[values]


def are_in_order(process: Integers, sample: Integers) -> bool:
    """Whether these rows, of shape (n,), ascend by process, and in each process by sample."""
    later = np.diff(process)
    return bool(((later > 0) | ((later == 0) & (np.diff(sample) >= 0))).all())


# Remember what was computed from a recording.
#
# Plot, check and grade ask for the same line one after the other, and it takes most of their time
# to fit it to 100,000 samples. Nothing changes a recording after reading, so its line stays valid.

Subject = TypeVar("Subject")
Arguments = ParamSpec("Arguments")
Computed = TypeVar("Computed")


def memoized(
    compute: Callable[Concatenate[Subject, Arguments], Computed],
) -> Callable[Concatenate[Subject, Arguments], Computed]:
    """The same function, but it computes only once for each subject and choice of arguments.

    The subject is a recording, or else what compares by identity. All arguments after it must be
    hashable. An exception is not remembered.
    """
    known: weakref.WeakKeyDictionary[Subject, dict[Hashable, Computed]]
    known = weakref.WeakKeyDictionary()

    @functools.wraps(compute)
    def compute_once(
        subject: Subject, /, *args: Arguments.args, **options: Arguments.kwargs
    ) -> Computed:
        mine = known.setdefault(subject, {})
        key: Hashable = (args, tuple(sorted(options.items())))
        if key not in mine:
            mine[key] = compute(subject, *args, **options)
        return mine[key]

    return compute_once


Numbers = NDArray[np.int64] | NDArray[np.float64]

FORMAT = "ticklab recording"
FORMAT_VERSION = "1"
HEADER = "variant,process,sample,batch,ticks"

#: No count of the OS is larger than this.
MOST_COUNT = 1e15
#: No clock has a higher frequency in Hz, and no step or grain is larger than this many ticks.
MOST_HZ = 1e13


@dataclass(frozen=True, eq=False)
class Samples:
    """The steady samples of one variant, in the order taken. All arrays have the shape (n,).

    `process` counts from 0; `sample` is the place in time within its process, counted over all
    variants; `batch` is the number of operations in the sample, and `ticks` is its length.
    """

    variant: str
    clock: Clock
    process: Integers
    sample: Integers
    batch: Integers
    ticks: Numbers

    def __len__(self) -> int:
        return len(self.ticks)

    @functools.cached_property
    def batch_sizes(self) -> tuple[int, ...]:
        """The different batch sizes, in ascending order."""
        return tuple(distinct(self.batch).tolist())

    def only(self, chosen: NDArray[np.bool_]) -> Samples:
        """The chosen samples; `chosen` has the shape (n,)."""
        process, sample, batch = self.process[chosen], self.sample[chosen], self.batch[chosen]
        return Samples(self.variant, self.clock, process, sample, batch, self.ticks[chosen])


@dataclass(frozen=True, eq=False)
class Recording:
    """All samples of one run and its conditions.

    `conditions` holds what is the same for all processes, and `processes` what each process adds.
    `variant_index` indexes `variants`. All arrays have the shape (rows,) and include warm-up
    (sample < 0).
    """

    kernel: str
    conditions: Mapping[str, str]
    processes: tuple[Mapping[str, str], ...]
    variants: tuple[str, ...]
    variant_index: Integers
    process: Integers
    sample: Integers
    batch: Integers
    ticks: Integers

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def asked(self) -> tuple[str, ...]:
        """The variants that were asked for, in this order; their baselines are recorded too."""
        stated = (name.strip() for name in self.conditions.get("variants", "").split(","))
        return tuple(name for name in stated if name in self.variants)

    def condition(self, key: str) -> tuple[str, ...]:
        """The values of `key`, one for each process, or a single one for the whole run."""
        if key in self.conditions:
            return (self.conditions[key],)
        return tuple(each[key] for each in self.processes if key in each)

    def numbers(self, key: str) -> list[float]:
        """The values of `condition(key)` that are finite numbers; the others are left out."""
        if key not in self._known_numbers:  # a check asks for the same ones about fifteen times
            values = (number_in(text) for text in self.condition(key))
            self._known_numbers[key] = [value for value in values if value is not None]
        return self._known_numbers[key].copy()

    def number(self, key: str) -> float | None:
        """The median over processes of a numeric condition; None if no process states it."""
        known = self.numbers(key)
        # Python's own median needs a tenth of numpy's time for so few values.
        return float(statistics.median(known)) if known else None

    def total(self, key: str) -> int | None:
        """The sum over processes of a condition that is a count; None if no process states it."""
        known = [int(value) for value in self.numbers(key) if abs(value) <= MOST_COUNT]
        if key in self.conditions:
            # All processes counted the same, so the recording states the count only once.
            known *= max(len(self.processes), 1)
        return sum(known) if known else None

    def totals(self, variant: str, *keys: str) -> tuple[int | None, ...]:
        """The total of each of these counts of `variant`."""
        return tuple(self.total(f"variant.{variant}.{key}") for key in keys)

    def clock(self, variant: str) -> Clock:
        """The clock that `variant` read. Raises BadRecording if the recording does not state it."""
        frequency = self.number(f"clock.{variant}.frequency_hz")
        step = self.number(f"clock.{variant}.step")
        if frequency is None or step is None:
            frequency = step = 0.0
        if not (1 <= frequency <= MOST_HZ and 0 <= step <= MOST_HZ):
            raise BadRecording(f"no usable clock.{variant}.frequency_hz and clock.{variant}.step")
        cycle = self.number("core_cycle_ticks")
        counter_hz = self.number("counter.frequency_hz")
        if cycle and counter_hz and cycle > 0:
            # The cycle is in ticks of the counter, but this variant may read another clock.
            cycle = cycle * frequency / counter_hz
        if cycle is not None and not 1 / MOST_HZ <= cycle <= MOST_HZ:
            cycle = None
        grain = (self.number("counter.step") or 0.0) * frequency / (counter_hz or frequency)
        in_ticks = max(round(grain), 1) if 0 <= grain <= MOST_HZ else 1
        return Clock(frequency, max(int(step), 1), cycle, in_ticks)

    def rows_of(self, variant: str) -> NDArray[np.bool_]:
        """Which rows belong to `variant`, warm-up included; shape (rows,)."""
        chosen: NDArray[np.bool_] = self.variant_index == self.variants.index(variant)
        return chosen

    @memoized  # a check asks for the same samples about thirty times
    def samples(self, variant: str, *, warmup: bool = False) -> Samples:
        """The steady samples of `variant`, or its warm-up samples if `warmup` is set.

        Raises KeyError if the recording has no such variant.
        """
        if variant not in self.variants:
            raise KeyError(f"no variant {variant!r} here; there is {', '.join(self.variants)}")
        chosen = np.flatnonzero(self.rows_of(variant) & ((self.sample < 0) == warmup))
        columns = (self.process, self.sample, self.batch, self.ticks)
        return Samples(variant, self.clock(variant), *(each[chosen] for each in columns))

    @functools.cached_property
    def _known_numbers(self) -> dict[str, list[float]]:
        return {}

    @functools.cached_property
    def rows(self) -> bytes:
        """The rows, byte for byte as in the file."""
        # What many rows share becomes text once, which takes a third less time.
        names = [f"{each}," for each in self.variants]
        processes, process = np.unique(self.process, return_inverse=True)
        sizes, size = np.unique(self.batch, return_inverse=True)
        of_process, of_size = ([f"{each}," for each in all_] for all_ in (processes, sizes))
        columns = (self.variant_index, process, self.sample, size, self.ticks)
        lines = [
            f"{names[v]}{of_process[p]}{s},{of_size[b]}{t}\n"
            for v, p, s, b, t in zip(*(column.tolist() for column in columns), strict=True)
        ]
        return "".join(lines).encode()

    @functools.cached_property
    def samples_sha256(self) -> str:
        """The hash of the rows, byte for byte as in the file."""
        return hashlib.sha256(self.rows).hexdigest()

    @property
    def intact(self) -> bool | None:
        """Whether the rows are unchanged since they were written; None if no hash was recorded."""
        stated = self.conditions.get("samples.sha256")
        return None if stated is None else stated == self.samples_sha256

    def as_bytes(self) -> bytes:
        """The content of the file: conditions, processes, rows."""
        lines = [f"# {FORMAT}: {FORMAT_VERSION}", f"# kernel: {self.kernel}"]
        stated = dict(self.conditions)
        stated["samples.count"] = str(len(self))
        stated["samples.sha256"] = self.samples_sha256
        for key, value in stated.items():
            lines.append(f"# {key}: {' '.join(str(value).split())}")
        for number, process in enumerate(self.processes):
            lines.append(f"# process.{number}: {json.dumps(dict(process), ensure_ascii=False)}")
        lines.append(HEADER)
        return ("\n".join(lines) + "\n").encode("utf-8", "replace") + self.rows

    def write(self, path: Path, beside: Mapping[Path, bytes] | None = None) -> None:
        """Write the recording to `path`, completely or not at all, and the files `beside` it.

        Raises ValueError if it has more rows or bytes than a reader accepts, and files.CannotWrite
        if the file cannot be written.
        """
        content = self.as_bytes()
        if (of_head := len(content) - len(self.rows)) > limits.MOST_HEADER_BYTES:
            raise ValueError(
                f"{path}: {of_head} bytes of conditions are too much for a recording (at most "
                f"{limits.MOST_HEADER_BYTES}); take fewer processes or variants"
            )
        if len(self) > limits.MOST_RECORDING_ROWS or len(content) > limits.MOST_RECORDING_BYTES:
            raise ValueError(
                f"{path}: {len(self)} rows in {len(content)} bytes are too much for a recording "
                f"(at most {limits.MOST_RECORDING_ROWS} rows and {limits.MOST_RECORDING_BYTES} "
                "bytes); take fewer samples or less warm-up"
            )
        write_together({**(beside or {}), Path(path): content})


def read(path: Path) -> Recording:
    """The recording in the file `path`. Follows no link and never waits. Raises BadRecording."""
    return read_once(Path(path), lambda: _read(Path(path)))


def _read(path: Path) -> Recording:
    try:
        content = read_bounded(Path(path), limits.MOST_RECORDING_BYTES)
    except OSError as error:
        what = without_name(error.strerror or str(error), path)
        raise BadRecording(what, where=str(path)) from error
    return parse(content, where=str(path))


def parse(content: bytes, *, where: str = "recording") -> Recording:
    """The recording that `content` holds. Raises BadRecording, naming `where` and the line."""
    with naming_file(where):
        return _parsed(content)


def _parsed(content: bytes) -> Recording:
    if len(content) > limits.MOST_RECORDING_BYTES:
        raise BadRecording(f"larger than {limits.MOST_RECORDING_BYTES} bytes")
    # Some editors and spreadsheets write a byte-order mark, which changes nothing.
    head, names, body, first_row = split_head(content.removeprefix(codecs.BOM_UTF8))
    conditions, processes = read_head(head)
    if conditions.pop(FORMAT, None) != FORMAT_VERSION:
        raise BadRecording(f"does not begin with '# {FORMAT}: {FORMAT_VERSION}'", 1)
    kernel = conditions.pop("kernel", None)
    if not kernel:
        raise BadRecording("no line '# kernel: NAME'")
    if names != HEADER:
        raise BadRecording(f"the column line must read {HEADER}", first_row - 1)
    variants, table = read_table(body, first_row)
    stated = number_in(conditions.get("samples.count", ""))
    if stated is not None and int(stated) != len(table):
        raise BadRecording(
            f"states {int(stated)} samples but holds {len(table)}: somebody cut it off or edited "
            "it; save the recording again"
        )
    if len(table) and table[:, 1].max() >= len(processes):
        raise BadRecording(
            f"has samples of process {table[:, 1].max()} but describes only {len(processes)} "
            "processes"
        )
    columns = [np.ascontiguousarray(table[:, column]) for column in range(5)]
    recording = Recording(
        kernel, MappingProxyType(conditions), tuple(processes), variants, *columns
    )
    recording.__dict__["rows"] = body  # byte for byte as in the file, because the hash covers them
    return recording


# Keep the recordings of one submission while it is judged, shown and described.
#
# Each of these steps reads the same files. What was computed from a recording is kept with it.

#: Larger files are not kept: they are rare, and many of them would take too much memory.
_MOST_KEPT_BYTES = 2 * limits.MOST_RECORDING_BYTES

Parsed = TypeVar("Parsed")

#: What was read, by path: the state of the file before, and the recording. None outside `keeping`.
_kept: ContextVar[dict[Path, tuple[tuple[int, ...], Any]] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def keeping_recordings() -> Iterator[None]:
    """In here, no file is read again as long as it has not changed."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def read_once(path: Path, read: Callable[[], Parsed]) -> Parsed:
    """What `read` makes of the file, or has made of it before. Raises what `read` raises."""
    kept, state = _kept.get(), state_of(path)
    if kept is None or state is None:
        return read()
    if path in kept and kept[path][0] == state:
        same: Parsed = kept[path][1]
        return same
    made = read()
    if sum(earlier[0] for earlier, _ in kept.values()) + state[0] <= _MOST_KEPT_BYTES:
        kept[path] = state, made
    return made


def state_of(path: Path) -> tuple[int, ...] | None:
    """The size of a file and what changes with its content; None if it has none."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


# Read the lines above the rows: the conditions of the run and of its processes.

# Where a text has a limit, pydantic also refuses one half of a character (a lone surrogate).
_Text = Annotated[str, StringConstraints(max_length=limits.MOST_LINE_BYTES)]
_PROCESS = TypeAdapter(dict[_Text, _Text], config=ConfigDict(strict=True))
_CONDITION = re.compile(rf"# ([A-Za-z0-9][A-Za-z0-9_. -]{{0,{limits.MOST_KEY - 1}}}): (.*)")
#: How the keys end whose values are lists of CPUs.
_CPU_LISTS = ("cpu.allowed", ".cpus", ".peers_cpus", ".peers_may_use")


def split_head(content: bytes) -> tuple[list[str], str, bytes, int]:
    """The condition lines, the column line, the rows, and the number of the first row's line.

    Raises BadRecording, naming the line.
    """
    if not content or content.isspace():
        raise BadRecording("is empty")
    head: list[str] = []
    position = 0
    while True:
        end = content.find(b"\n", position)
        raw = content[position:] if end < 0 else content[position:end]
        number = len(head) + 1
        if len(raw) > limits.MOST_LINE_BYTES:
            raise BadRecording(f"a line of more than {limits.MOST_LINE_BYTES} bytes", number)
        try:
            line = raw.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise BadRecording("is not UTF-8 text", number) from error
        position = len(content) if end < 0 else end + 1
        if not line.startswith("#"):
            rows = content[position:]
            if b"\r" in rows:  # one byte is found much faster than two
                rows = rows.replace(b"\r\n", b"\n")
            return head, line, rows, number + 1
        head.append(line)
        if position > limits.MOST_HEADER_BYTES:
            raise BadRecording(f"more than {limits.MOST_HEADER_BYTES} bytes of conditions", number)
        if len(head) > limits.MOST_CONDITIONS:
            raise BadRecording(f"more than {limits.MOST_CONDITIONS} lines of conditions")
        if end < 0:
            raise BadRecording("ends before its first sample", number)


def read_head(head: list[str]) -> tuple[dict[str, str], list[Mapping[str, str]]]:
    """The conditions in the lines `head`: those of the run, and those of each process.

    Raises BadRecording, naming the line.
    """
    conditions: dict[str, str] = {}
    processes: list[Mapping[str, str]] = []
    cpus = _CpuLists()
    for number, line in enumerate(head, start=1):
        match = _CONDITION.fullmatch(line)
        if match is None:
            raise BadRecording("is not of the form '# key: value'", number)
        key, value = match.groups()
        if key == f"process.{len(processes)}" and len(processes) < limits.MOST_RECORDED_PROCESSES:
            stated = _process(value, number)
            processes.append(stated)
            cpus.add(stated, number)
        elif key.startswith("process."):
            raise BadRecording(f"{key} is out of order or one process too many", number)
        elif key in conditions:
            raise BadRecording(f"{key} is stated twice", number)
        else:
            _check_length(key, value, number)
            conditions[key] = value
            cpus.add({key: value}, number)
    return conditions, processes


class _CpuLists:
    """The CPUs in all different CPU lists of a recording, counted while it is read."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._count = 0

    def add(self, stated: Mapping[str, str], line: int) -> None:
        """Count the lists in `stated`. Raises BadRecording if they are too many CPUs."""
        for key, text in stated.items():
            if key.endswith(_CPU_LISTS) and text not in self._known:
                self._known.add(text)
                self._count += len(cpu_list(text) or ())
        if self._count > limits.MOST_LISTED_CPUS:
            what = f"its CPU lists name more than {limits.MOST_LISTED_CPUS} CPUs in all"
            raise BadRecording(what, line)


def _check_length(key: str, value: str, line: int) -> None:
    if len(key) > limits.MOST_KEY:
        what = f"a key of {len(key)} characters; at most {limits.MOST_KEY} are read"
        raise BadRecording(what, line)
    if len(value) > limits.MOST_VALUE:
        what = f"{key} has {len(value)} characters; at most {limits.MOST_VALUE} are read"
        raise BadRecording(what, line)


def _process(text: str, number: int) -> Mapping[str, str]:
    try:
        stated = _PROCESS.validate_python(parse_json(text))
    except BadJson as error:
        raise BadRecording(f"is not valid JSON after the colon: {error.words}", number) from error
    except ValidationError as error:
        kind = error.errors(include_url=False, include_context=False)[0]["type"]
        what = (
            "holds one half of a character (a lone surrogate)"
            if kind == "string_unicode"
            else "must be an object whose values are strings"
        )
        raise BadRecording(what, number) from error
    if len(stated) > limits.MOST_PROCESS_CONDITIONS:
        raise BadRecording(
            f"a process with {len(stated)} conditions; at most {limits.MOST_PROCESS_CONDITIONS} "
            "are read",
            number,
        )
    for key, value in stated.items():
        _check_length(key, value, number)
    return MappingProxyType(stated)
