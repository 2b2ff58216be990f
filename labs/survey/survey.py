"""Measure everything on this machine once; group, name and draw what was measured.

Each measurement has a plan and the published figures of the same quantity. `carry_out` runs the
measurements one after the other and yields the results. No measurement stops the others: if this
machine cannot run one, its row says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.analysis.confidence import Estimate
from labs.analysis.thresholds import WIDEST
from labs.c_kernels.toolchain import CompileError, optimisation_level
from labs.course import published
from labs.course.published import Published
from labs.html import Table, in_columns
from labs.html import page as whole_page
from labs.machine.description import Machine
from labs.plots.figure_svg import LEAST_NS, Drawing, Mark, overview_drawing
from labs.recording import counts
from labs.recording.file import BadRecording, Recording
from labs.results import remarks
from labs.results.result import Result, is_about_0, result_of, sensible
from labs.run.c_process import RunFailed
from labs.run.declared_options import DEFAULT_WARMUP
from labs.run.measure import Plan, Progress, measure_now
from labs.terminal import columns, lines_of
from labs.units import NANOSECONDS, fixed, readable_unit, rounded

ProgressCallback = Callable[[float], None]


@dataclass(frozen=True)
class Measurement:
    """One run of the survey: variants of one C kernel, interleaved.

    `samples` are the samples per variant in a quick and in a full survey; with 0, a quick survey
    leaves the measurement out. `warmup` is per process and variant.
    """

    kernel: str
    variants: tuple[str, ...]
    samples: tuple[int, int]
    flags: tuple[str, ...] = ("-O2",)
    batches: tuple[int, ...] = ()
    processes: tuple[int, int] = (6, 12)
    warmup: int = DEFAULT_WARMUP

    @property
    def file_name(self) -> str:
        """The name of its recording, without the suffix; no two measurements share one."""
        level = "" if self.flags == ("-O2",) else "".join(self.flags)
        return f"{self.kernel}{level}-{'-'.join(self.variants)}"[:80]

    def plan(self, quick: bool) -> Plan:
        """The plan of this measurement."""
        samples, processes = (each[0 if quick else 1] for each in (self.samples, self.processes))
        size = samples, self.batches, self.warmup
        return Plan(self.kernel, self.variants, *size, processes=processes, flags=self.flags)


@dataclass(frozen=True, eq=False)
class Row:
    """One variant: its result, or the reason why there is none, and the published figures."""

    measurement: Measurement
    variant: str
    result: Result | None
    why_not: str
    published: tuple[Published, ...]

    def proof(self) -> str:
        """The evidence that the measured event happened, in a few words."""
        return "" if self.result is None else remarks.evidence_of(self.result)


def _fork_with(size: str, samples: tuple[int, int]) -> Measurement:
    """fork by a parent with this much memory; it has its own run, so that it slows no other."""
    return Measurement("task_creation", (f"fork-wait-{size}",), samples, processes=(5, 5), warmup=4)


def _ring_of(tasks: int, samples: tuple[int, int]) -> Measurement:
    """A switch among `tasks` tasks, for several sizes of their working sets."""
    kinds, sizes = ("processes", "threads"), ("0", "16k", "64k", "256k", "1m")
    names = tuple(f"{kind}-{tasks}-{size}" for kind in kinds for size in sizes)
    return Measurement("switch_footprint", names, samples, processes=(5, 10), warmup=8)


MEASUREMENTS: tuple[Measurement, ...] = (
    Measurement(
        "timer_overhead",
        ("fenced", "unfenced", "monotonic", "process-cpu", "gettimeofday"),
        (3_000, 20_000),
    ),
    *(
        Measurement("first_iteration", (name,), (300, 1_200), processes=(12, 30))
        for name in ("call", "system-call", "lazy-binding")
    ),
    Measurement(
        "first_iteration",
        ("page-fault", "data-cache", "instruction-cache", "branch-predictor"),
        (600, 4_000),
    ),
    Measurement(
        "system_call",
        (
            "getppid",
            "getpid",
            "getpid-libc",
            "read0",
            "setuid",
            "gettimeofday-vdso",
            "gettimeofday-trap",
            "invalid",
        ),
        (800, 6_000),
    ),
    Measurement(
        "procedure_call", tuple(f"args{n}" for n in range(13)), (600, 5_000), flags=("-O0",)
    ),
    Measurement(
        "procedure_call",
        (*(f"args{n}" for n in range(13)), "indirect", "plt", "inlined"),
        (600, 5_000),
    ),
    Measurement("task_creation", ("fork", "clone-vm", "pthread"), (60, 600)),
    Measurement(
        "task_creation",
        ("fork-wait", "vfork-wait", "posix-spawn-wait", "clone-vm-wait", "pthread-wait"),
        (60, 600),
    ),
    _fork_with("1mb", (100, 400)),
    _fork_with("16mb", (60, 300)),
    _fork_with("64mb", (40, 200)),
    Measurement("process_switch", ("pipe-pinned",), (400, 4_000)),
    Measurement("process_switch", ("eventfd-pinned",), (300, 2_000)),
    Measurement("process_switch", ("pipe-carried-back",), (300, 2_000)),
    Measurement("process_switch", ("pipe-two-cpus",), (120, 1_200), batches=(4, 8, 16)),
    Measurement("thread_switch", ("condvar",), (400, 4_000)),
    Measurement("thread_switch", ("futex",), (300, 2_000)),
    Measurement("thread_switch", ("pipe",), (300, 2_000)),
    Measurement("thread_switch", ("bare-mutex",), (300, 2_000)),
    Measurement("thread_switch", ("condvar-two-cpus",), (120, 1_200), batches=(4, 8, 16)),
    _ring_of(2, (100, 2_000)),
    _ring_of(8, (60, 1_200)),
    _ring_of(32, (0, 240)),
    Measurement(
        "memory_ladder",
        (
            *(f"random-{size}" for size in ("16k", "256k", "1m", "4m", "64m")),
            "random-4096-4m",
            "ordered-64m",
        ),
        (100, 400),
        processes=(5, 10),
    ),
    # What some machines do not offer has a run of its own, so that it stops no other variant.
    Measurement("memory_ladder", ("huge-64m",), (100, 400), processes=(5, 10)),
    Measurement("page_fault", ("anonymous", "zero-page"), (400, 4_000)),
    Measurement("page_fault", ("copy-on-write",), (300, 2_000)),
    Measurement("page_fault", ("file",), (300, 3_000)),
    Measurement("page_fault", ("populate", "prefaulted"), (400, 4_000)),
)


def carry_out(
    quick: bool, progress: ProgressCallback = lambda share: None
) -> Iterator[tuple[Measurement, Recording | None, list[Row]]]:
    """Run every measurement in turn; yield its recording (None if it failed) and its rows.

    Calls `progress` with the completed share of the survey, 0 to 1. Raises toolchain.NoCompiler,
    because without a compiler nothing can be measured.
    """
    chosen = [each for each in MEASUREMENTS if each.samples[0 if quick else 1]]
    for number, measurement in enumerate(chosen):

        def report(at: Progress, number: int = number) -> None:
            progress((number + at.done / max(at.total, 1)) / len(chosen))

        recording, why_not = None, ""
        try:
            recording = measure_now(measurement.plan(quick), report)
        except (RunFailed, BadRecording, CompileError, FileNotFoundError) as error:
            why_not = str(error)
        rows = [_row(measurement, name, recording, why_not) for name in measurement.variants]
        yield measurement, recording, rows
        progress((number + 1) / len(chosen))


def _row(measurement: Measurement, variant: str, recording: Recording | None, why_not: str) -> Row:
    to_compare = published.of_variant(measurement.kernel, variant, " ".join(measurement.flags))
    if recording is None:
        return Row(measurement, variant, None, why_not, to_compare)
    result = result_of(recording, variant)
    return Row(measurement, variant, result, result.no_figure, to_compare)


# The groups are in the order of the page.

#: The heading of each group, and its C kernels.
GROUPS = (
    ("Timers", ("timer_overhead",)),
    ("First calls", ("first_iteration",)),
    ("Calls", ("procedure_call",)),
    ("System calls", ("system_call",)),
    ("Task creation", ("task_creation",)),
    ("Switches", ("process_switch", "thread_switch")),
    ("Switches and memory", ("switch_footprint",)),
    ("Memory", ("memory_ladder",)),
    ("Page faults", ("page_fault",)),
)

#: No line of text is longer, and no table where the output is no terminal.
COLUMNS = 80


def group_of(kernel: str) -> str:
    """The heading of the group of a C kernel; one that no group lists has a group of its own."""
    return next((heading for heading, kernels in GROUPS if kernel in kernels), kernel)


def in_order(headings: Iterable[str]) -> list[str]:
    """The headings, each once, in the order of the page."""
    known = [heading for heading, _ in GROUPS]
    found = list(dict.fromkeys(headings))
    return sorted(found, key=lambda each: known.index(each) if each in known else len(known))


def operation_name(kernel: str, variant: str, level: str) -> str:
    """The name of an operation in its group: the variant, and what distinguishes it from others."""
    name = f"{variant} -O0" if level == "-O0" else variant
    kind = kernel.removesuffix("_switch")
    return f"{kind} {name}" if kernel in ("process_switch", "thread_switch") else name


def table_lines(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    width: int = COLUMNS,
    first_out: Sequence[int] = (),
) -> list[str]:
    """A table for a terminal: the first column at the left, numbers
    at the right.

    If it is too wide, its words are broken. If that is not enough, columns are left out: those of
    `first_out` in this order, or else the last ones, because the first ones matter most.
    """
    kept = list(range(len(header)))
    for left_out in (None, *(first_out or reversed(kept[2:]))):
        kept = [column for column in kept if column != left_out]
        cells = [[line[column] for column in kept] for line in (header, *rows)]
        lines = in_columns(cells, range(1, len(kept)), width)
        if max(map(len, lines)) <= width:
            break
    return lines


def wrapped(line: str, width: int, indent: int = 0) -> list[str]:
    """A sentence as lines for a terminal: none is longer than COLUMNS, or than its `width`."""
    return lines_of(" " * indent + line, min(width, COLUMNS), further=indent)


COMMAND = "labs survey"
HEADER = ("", "ns", "95 % interval", "core cycles", "published, ns")

#: From here on, numbers have no decimals.
LONG_NS = 1e5

_PAGE = Path(__file__).with_name("page.html.jinja")


@dataclass(frozen=True)
class Section:
    """One group of the survey."""

    heading: str
    rows: tuple[Row, ...]

    @property
    def marks(self) -> list[Mark]:
        """The figures of the group, the published ones, and the variants without a figure."""
        found = []
        for row in self.rows:
            known = row.result.estimate if row.result is not None else None
            none = Mark(name_of(row), math.nan, "no figure", text="no figure")
            found.append(Mark.of(name_of(row), known) if known is not None else none)
        values = {each.ns for row in self.rows for each in row.published}
        return [*found, *(Mark("published", value, "published") for value in sorted(values))]


def figures(rows: Sequence[Row]) -> Table:
    """Each figure with its interval in ns, in core cycles, and the published ones of its quantity.

    A group begins with a row that has its name only.
    """
    cells: list[tuple[str, ...]] = []
    for section in sections(rows):
        cells.append((section.heading, *[""] * (len(HEADER) - 1)))
        for row in section.rows:
            cells.append((name_of(row), *_cells(row.result), _ranges(row.published)))
    return Table("Cost on this machine", HEADER, tuple(cells)).without_empty()


def name_of(row: Row) -> str:
    """The name of a row in its group."""
    level = optimisation_level(" ".join(row.measurement.flags)) or ""
    return operation_name(row.measurement.kernel, row.variant, level)


def sections(rows: Sequence[Row]) -> Iterator[Section]:
    """The rows in their groups, in the order of the page."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(group_of(row.measurement.kernel), []).append(row)
    for heading in in_order(found):
        yield Section(heading, tuple(found[heading]))


def overview(rows: Sequence[Row]) -> Drawing | None:
    """All figures on one axis; None if there is none."""
    clocks = [row.result.clock for row in rows if row.result is not None]
    cycles = [1 / clock.convert(1, "ns", "cycles") for clock in clocks if clock.core_cycle_ticks]
    try:
        groups = [(each.heading, each.marks) for each in sections(rows)]
        return overview_drawing(groups, cycles[0] if cycles else None)
    except ValueError:
        return None


def _cells(result: Result | None) -> tuple[str, str, str]:
    """The figure in ns, its interval, and the figure in core cycles if their length is known."""
    if result is None or result.estimate is None:
        return "no figure", "", ""
    value, low, high = numbers(result.estimate)
    wide = "" if result.estimate.is_believable() else f" {_WIDE}"
    known = result.clock.core_cycle_ticks
    cycles = rounded(result.estimate.into("cycles", result.clock).value) if known else ""
    return value, f"{low} to {high}{wide}", cycles


def numbers(estimate: Estimate) -> tuple[str, str, str]:
    """Value and interval as text; of large numbers nobody needs decimals."""
    if max(abs(estimate.low), abs(estimate.high)) >= LONG_NS:
        value, low, high = (
            fixed(each, 0) for each in (estimate.value, estimate.low, estimate.high)
        )
        return value, low, high
    return sensible(estimate)


def _ranges(figures: Sequence[Published]) -> str:
    """The range of the printed values of each report in ns, with an asterisk if one is suspect."""
    by_report: dict[str, list[Published]] = {}
    for each in figures:
        by_report.setdefault(each.report, []).append(each)
    ranges = []
    for report, some in by_report.items():
        values = sorted(each.ns for each in some)
        mark = "*" if any(each.suspect for each in some) else ""
        low, high = rounded(values[0]), rounded(values[-1])
        span = low if low == high else f"{low} to {high}"
        ranges.append(f"{report} {span}{mark}")
    return "; ".join(ranges)


def text(rows: Sequence[Row], width: int | None = None) -> str:
    """The survey for a terminal of this width (default: the one that is there).

    A line a figure, or a line a series: variants that differ in a number, such as args0 to args12.
    Evidence that agrees is not printed: the page and the JSON have it.
    """
    width = min(width or columns() or COLUMNS, COLUMNS)
    values = [row.result.estimate.value for row in rows if row.result and row.result.estimate]
    highest = max(values, default=10.0)
    every = list(sections(rows))
    longest = max((len(_title(mine)) for each in every for mine in _series(each.rows)), default=0)
    unit = readable_unit(highest)
    top = f"{rounded(highest / NANOSECONDS[unit])} {unit}"
    head = f"What it costs here; bars: log axis, {LEAST_NS} ns to {top}"
    lines = [f"{head}; {_NONE} no figure; {_WIDE} wide"]
    for section in every:
        lines.append(section.heading)
        told: set[str] = set()
        for mine in _series(section.rows):
            row = mine[0]
            if row.result is not None and row.result.estimate is not None:
                lines.append(_line(mine, longest, highest, width))
                continue
            why = "the same reason" if row.why_not in told else _why(row)
            told.add(row.why_not)
            # One line where possible: the whole reason is on the page.
            short = why if "`" in why else re.split(r"[;,] ", why)[0]
            lines += lines_of(f"  {name_of(row):{longest}} {_NONE} {short}", width)
        for row in filter(_disagrees, section.rows):
            lines += lines_of(f"  {name_of(row)}: {row.proof()}", width)
    return "\n".join(lines)


#: The room for a value with its unit, and for half of its interval, in characters.
_VALUE, _HALF = 17, 12
#: What stands in place of a figure, and beside an interval of which half is more than WIDEST.
_NONE, _WIDE = "○", "!"
#: The fewest variants in a line.
_FEWEST = 2
_LAST_NUMBER = re.compile(r"^(.*?)(\d+(?:k|m|mb)?)( -O0)?$")


def _series(rows: Sequence[Row]) -> list[list[Row]]:
    """Neighbours whose names differ in the last number only, together; any other row alone."""
    found: list[list[Row]] = []
    for row in rows:
        same = found and _stem(row) and _stem(row) == _stem(found[-1][0])
        found[-1].append(row) if same else found.append([row])
    return [
        part for mine in found for part in ([mine] if len(mine) >= _FEWEST else [[r] for r in mine])
    ]


def _stem(row: Row) -> str:
    """The name of a row that has a figure, without its last number; '' if there is none."""
    number = _LAST_NUMBER.match(name_of(row))
    return f"{number[1]} {number[3]}" if number and row.result and row.result.estimate else ""


def _title(rows: Sequence[Row]) -> str:
    """The name of one row, or of a series."""
    last = _LAST_NUMBER.match(name_of(rows[-1]))
    if len(rows) == 1 or last is None:
        return name_of(rows[0])
    return f"{name_of(rows[0]).removesuffix(' -O0')} to {last[2]}{last[3] or ''}"


def _line(rows: Sequence[Row], longest: int, highest: float, width: int) -> str:
    """Name, value, half of the interval, and a bar on a logarithmic axis to `highest`.

    A series shows its lowest and its highest value, and the widest interval.
    """
    name = f"  {_title(rows):{longest}}"
    known = [row.result.estimate for row in rows if row.result and row.result.estimate]
    low, high = (choose(known, key=lambda each: each.value) for choose in (min, max))
    room = width - len(name) - _VALUE - _HALF - 6
    first, last = (_place(each.value, highest, room) for each in (low, high))
    bar = "━" * first + "●" + ("━" * (last - first - 1) + "●" if last > first else "")
    return f"{name}  {_shown(low, high):>{_VALUE}}  {_half(known):>{_HALF}} {bar}".rstrip()


def _place(value: float, highest: float, room: int) -> int:
    """How far from the left end of a bar of this length a value lies."""
    share = math.log(max(value, LEAST_NS) / LEAST_NS) / math.log(max(highest / LEAST_NS, 2.0))
    return max(round(share * room), 0)


def _shown(low: Estimate, high: Estimate) -> str:
    """One value, or two, with the unit of the larger."""
    unit = readable_unit(high.value)
    if low is high:
        return (
            "about 0 ns"
            if is_about_0(high)
            else f"{rounded(high.value / NANOSECONDS[unit])} {unit}"
        )
    ends = " to ".join(rounded(each.value / NANOSECONDS[unit]) for each in (low, high))
    return f"{ends} {unit}"


def _half(known: Sequence[Estimate]) -> str:
    """Half of the widest interval as a share of its value, or in ns where it may be 0."""
    wide = [(each.half_width, abs(each.value)) for each in known if not is_about_0(each)]
    half, value = max(wide, key=lambda pair: pair[0] / (pair[1] or 1.0), default=(0.0, 0.0))
    if not half:
        return ""
    shown = f"± {100 * half / value:.0f} %" if half < value else f"± {rounded(half, 2)} ns"
    return f"{shown} {_WIDE if half > WIDEST * value else ' '}"


def _disagrees(row: Row) -> bool:
    """Whether the OS counted other switches than this row claims."""
    if row.result is None or counts.switches_of(row.result.recording, row.variant) is None:
        return False
    return not remarks.switches_agree(row.result)


def notes(rows: Sequence[Row]) -> list[str]:
    """Why rows have no figure, a reason of several rows once, and evidence that disagrees."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.why_not or _disagrees(row):
            said = f"no figure: {_why(row)}" if row.why_not else row.proof()
            found.setdefault(said, []).append(row)
    return [f"{', '.join(map(name_of, mine))}: {said}." for said, mine in found.items()]


def _why(row: Row) -> str:
    """Why a row has no figure, without a full stop.

    A survey has no options of a run: if the reason names one, the command that has it follows.
    """
    why = row.why_not.removeprefix(f"{row.variant}: ").rstrip(".")
    why = why.removesuffix(", so there is no figure")
    command = f" (of `labs measure {row.measurement.kernel} --variant {row.variant}`)"
    return why + command if " --" in why else why


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why the published figures with an asterisk are wrong, each reason once."""
    found: dict[str, None] = {}
    for row in rows:
        for each in row.published:
            if each.suspicions:
                quantity, reason = each.quantity, each.suspicions[0].reason
                found[f"{each.report}, {quantity}: {reason}"] = None
    return list(found)


#: What the JSON states of each published figure.
_STATED = ("report", "machine", "value", "unit", "suspect")


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as `labs measure --json` prints them, with the published figures added."""
    return [
        {
            **_result_as_json(row),
            "proof": row.proof(),
            "flags": list(row.measurement.flags),
            "published": [{key: getattr(each, key) for key in _STATED} for each in row.published],
        }
        for row in rows
    ]


def _result_as_json(row: Row) -> dict[str, Any]:
    if row.result is not None:
        return row.result.as_json()
    kernel = row.measurement.kernel
    return {"kernel": kernel, "variant": row.variant, "value": None, "method": row.why_not}


def page(rows: Sequence[Row], machine: Machine) -> str:
    """The whole survey as one self-contained HTML page: all figures on one axis, and one table."""
    return whole_page(
        "What it costs on this machine",
        COMMAND,
        _PAGE,
        card=machine.card(),
        overview=overview(rows),
        figures=figures(rows),
        legend=f"{_WIDE} half of the interval is more than {100 * WIDEST:.0f} % of the value",
        notes=notes(rows),
        reasons=reasons(rows),
    )
