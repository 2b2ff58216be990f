"""What speaks against each published figure: mistakes that the reports' own data show.

Each rule is about one mistake. It says which figures have the mistake, its code, and the reason.
Several rules may apply to one figure; the most serious comes first. The sources are the reports'
tables, listings and published code. If a number disagrees with the report's own runs, the reason
names both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Row = dict[str, str]


@dataclass(frozen=True)
class Suspicion:
    """One mistake in a published figure: its code, and the reason as a text."""

    code: str
    reason: str


@dataclass(frozen=True)
class _Rule:
    report: str
    quantity: str  # how the quantity's name begins
    code: str
    reason: str
    applies: Callable[[Row], bool] = lambda row: True

    def touches(self, row: Row) -> bool:
        return (
            row["report"] == self.report
            and row["quantity"].startswith(self.quantity)
            and self.applies(row)
        )


def against(row: Row) -> tuple[Suspicion, ...]:
    """The suspicions of one row of the published figures, the most serious first."""
    return tuple(Suspicion(rule.code, rule.reason) for rule in _RULES if rule.touches(row))


def reasons() -> tuple[str, ...]:
    """Every reason that a suspicion can have, each once."""
    return tuple(dict.fromkeys(rule.reason for rule in _RULES))


def _unit(*units: str) -> Callable[[Row], bool]:
    return lambda row: row["unit"] in units


def _opteron_table(row: Row) -> bool:
    return row["series"] == "table" and "Opteron" in row["machine"]


def _is_number(value: float) -> Callable[[Row], bool]:
    return lambda row: float(row["value"]) == value


def _in_series(first: int, last: int, *others: str) -> Callable[[Row], bool]:
    """Whether a row is one of the samples `first` to `last` of a series, or in one of `others`."""
    names = {*(f"sample {number}" for number in range(first, last + 1)), *others}
    return lambda row: row["series"] in names


_RULES: tuple[_Rule, ...] = (
    # Report A
    _Rule(
        "A",
        "timer overhead",
        "clock-read-too-early",
        "the readings have no fence, so the counter is read before the work between them is done",
    ),
    _Rule(
        "A",
        "timer overhead",
        "stale-constant",
        "this number is a constant in the source and is subtracted on all four machines",
        _is_number(28.5),
    ),
    _Rule(
        "A",
        "system call getpid",
        "library-call-not-system-call",
        "the C library answers from a cache, which costs less than the two readings around it",
    ),
    _Rule(
        "A",
        "system call setuid",
        "figure-not-from-recording",
        "the runs average 1217.20 cycles; 1261.60 cycles would be 525.67 ns, not 506.10",
        _opteron_table,
    ),
    _Rule(
        "A",
        "system call setuid",
        "call-without-its-argument",
        "setuid() is called without its argument and nobody checks its result, so a refused call "
        "is timed as if it had worked",
    ),
    _Rule(
        "A",
        "procedure call 0",
        "first-in-line",
        "it was measured first, so calls with cold code are part of its mean",
    ),
    _Rule(
        "A",
        "procedure call",
        "below-the-clock",
        "one call takes a few cycles, and the step of the counter is larger",
    ),
    _Rule(
        "A",
        "procedure call",
        "stale-constant",
        "28.5 cycles of one machine were subtracted on every machine",
    ),
    _Rule(
        "A",
        "task creation clone",
        "not-a-thread",
        "clone without flags makes a process; its stack pointer is at the wrong end of 1 KB",
    ),
    _Rule(
        "A",
        "task creation",
        "pinning-inside-the-interval",
        "sched_setaffinity runs inside the timed region, and nobody checks its result",
    ),
    _Rule(
        "A",
        "process switch",
        "figure-not-from-recording",
        "the runs average 52680.48 cycles; the table says 52380.77",
        _opteron_table,
    ),
    _Rule(
        "A",
        "process switch",
        "creation-counted-as-switch",
        "fork and exit are inside the timed region: the figure is 10 to 20 times too large",
    ),
    _Rule(
        "A",
        "thread switch",
        "figure-not-from-recording",
        "the runs average 38896.42 cycles; the table says 38500.34",
        _opteron_table,
    ),
    _Rule(
        "A",
        "thread switch",
        "not-a-thread",
        "clone without flags makes a process, which shares no address space",
    ),
    _Rule(
        "A",
        "thread switch",
        "creation-counted-as-switch",
        "clone and exit are inside the timed region",
    ),
    _Rule(
        "A",
        "",
        "nominal-clock",
        "ticks of the counter are divided by the clock speed that lscpu prints",
        _unit("ns"),
    ),
    # Report B
    _Rule(
        "B",
        "system call gettimeofday",
        "vdso-not-system-call",
        "the vDSO answers gettimeofday, so the program never enters the OS kernel",
    ),
    _Rule(
        "B",
        "system call gettimeofday",
        "loop-counted-along",
        "the figure includes the cost of the loop",
    ),
    _Rule(
        "B",
        "process switch",
        "two-cpus-not-one",
        "the tasks were not pinned, so it may be a wake-up across CPUs and not a switch on one CPU",
    ),
    _Rule(
        "B",
        "process switch",
        "unclear-divisor",
        "a trial is a round trip with two switches and four calls of read and write",
    ),
    # Report C
    _Rule(
        "C",
        "",
        "unit-slip",
        "the total divided by n is in ns, but the report prints it as µs",
        _unit("us"),
    ),
    _Rule(
        "C",
        "",
        "nominal-clock",
        "the cycles use the advertised turbo clock and not a measured one",
        _unit("cycles"),
    ),
    _Rule(
        "C",
        "system call read",
        "wrong-registers",
        "the listing loads rbx, rcx and rdx, but the call takes rdi, rsi and rdx, and nothing "
        "checks its result",
    ),
    _Rule(
        "C",
        "process switch",
        "read-and-write-counted-along",
        "read and write are counted as part of the switch",
    ),
    # Report D
    _Rule(
        "D",
        "process switch",
        "cpu-time-misses-the-other-side",
        "the clock of this process stops while the other one runs",
    ),
    _Rule(
        "D",
        "thread switch",
        "lock-convoy",
        "a mutex makes no handoff: the thread that unlocks it may take it again at once",
    ),
    _Rule(
        "D",
        "",
        "clock-dearer-than-the-thing",
        "this clock is a system call itself, and its cost is not subtracted",
    ),
    # Report E. The report calls its third series running means. Then n times the n-th value is the
    # total of n exchanges, which cannot fall. From the 8th value on, it grows by 2.3 µs a step
    # (from the 8th to the 9th it stays the same to 10 ns). Before that it falls four times, and at
    # the 8th value to a half.
    _Rule(
        "E",
        "process switch",
        "running-mean",
        "from the 8th value on, each is an average of the values before it, so the series cannot "
        "settle",
        _in_series(8, 20, "stated"),
    ),
    _Rule(
        "E",
        "process switch",
        "cold-samples-in-mean",
        "the time of a cold exchange is divided by the number of the value: multiplied by that "
        "number it is 120 to 129 µs (56 for the second), like the first; a running mean would "
        "not fall like this",
        _in_series(2, 7),
    ),
    _Rule(
        "E",
        "",
        "cold-samples-in-mean",
        "the cold first sample is part of the mean",
        lambda row: row["series"] == "stated" and row["statistic"] == "mean",
    ),
    _Rule(
        "E",
        "",
        "first-in-line",
        "it is the first sample of a cold process",
        _in_series(1, 1),
    ),
    _Rule(
        "E",
        "",
        "timer-not-subtracted",
        "about 90 ns of it are the cost of the clock, which is not subtracted",
        lambda row: not row["quantity"].startswith("process switch"),
    ),
    _Rule(
        "E",
        "process switch",
        "too-few-samples",
        "the report has 20 samples and states no spread",
        lambda row: row["series"] == "stated",
    ),
)
