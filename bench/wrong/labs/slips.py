"""Slips of hand and head in every lab, whatever unit a figure has: one table for all of them.

Each is one step off a right run: a power of ten, a factor of two, a value turned over, another
statistic, another row in another unit, a missing pair of parentheses, a printed number of a report.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.wrong.case import Case, conclusions, values
from bench.wrong.labs.lab_05 import values as of_tasks
from bench.wrong.labs.lab_07 import values as of_footprint
from bench.wrong.student import NoMistake, Student

Read = Callable[[Student], float]


def _of(run: str, variant: str, unit: str = "ns") -> Read:
    return lambda s: s[run].value(variant, unit)


def _times(factor: float, read: Read) -> Read:
    return lambda s: factor * read(s)


def _one_over(read: Read, in_one: float = 1.0) -> Read:
    return lambda s: in_one / read(s)


def _largest(run: str, variant: str, unit: str = "ns") -> Read:
    """The longest of the largest samples, divided by the operations in it."""
    return lambda s: (
        float(s[run].column(variant, unit, k=(most := s[run].batches(variant)[-1])).max()) / most
    )


def _again(read: Read, run: str, variant: str) -> Read:
    """Divided once more by the operations of the largest samples."""
    return lambda s: read(s) / s[run].batches(variant)[-1]


def _ratio(run: str, over: str, under: str) -> Read:
    return lambda s: s[run].value(over) / s[run].value(under)


#: A count of switches is printed with two decimals.
TWO_DECIMALS = 0.01

LOST_POINT = "a decimal point is in the wrong place: ten times the value"
GAINED_POINT = "a decimal point is in the wrong place: a tenth of the value"
THOUSAND = "a thousand times the value"
THOUSANDTH = "a thousandth of the value"
TWICE, HALF = "twice the value", "half of the value"
OVER = "the value is turned over: operations for a unit of time, not the time of one"
MOST = "the value is the longest sample, not the typical one"
DIVIDED = "the value was divided once too often, by the operations of a sample"
PRINTED = "the value is the one that a published report prints"
OTHER_IN_CYCLES = "the value is another row of the run, in core cycles"
PERCENT = "the value is in percent: a hundred times the count"
CALLED_CYCLES = "the value is in ticks, called cycles"
PARENTHESES = "the parentheses are missing: only the second number was divided"

_FENCED, _OWN_PAIR = _of("fenced", "fenced"), _of("own", "own", "cycles")
_FAULT_02, _CACHE = _of("causes", "page-fault"), _of("causes", "data-cache")
_GETPPID, _FLOOR = _of("calls", "getppid"), _of("calls", "invalid")
_VDSO = _ratio("clocks", "gettimeofday-trap", "gettimeofday-vdso")
_ARGS0, _ARGS6 = _of("call", "args0", "cycles"), _of("o0", "args6", "cycles")
_FORK, _THREAD = _of("kinds", "fork-wait", "us"), _of("kinds", "pthread-wait", "us")
_SWITCH, _CONDVAR = _of("process", "pipe-pinned"), _of("threads", "condvar")
_HOP, _SET = _of("kinds", "processes-8-0", "us"), _of("kinds", "processes-8-256k", "us")
_L1, _MEMORY = _of("sizes", "random-16k", "cycles"), _of("orders", "random-128m")
_ANONYMOUS, _COPY = _of("kinds", "anonymous"), _of("copy", "copy-on-write")
_OPERATION = _of("own", "operation")


def _each(s: Student) -> float:
    return (s["o0"].value("args12", "cycles") - s["o0"].value("args6", "cycles")) / 6


def _each_without_parentheses(s: Student) -> float:
    return s["o0"].value("args12", "cycles") - s["o0"].value("args6", "cycles") / 6


def _switch_without_parentheses(s: Student) -> float:
    run = s["process"]
    return run.slope("pipe-pinned") - 2 * run.baseline("pipe-pinned") / 2


def _hop_without_parentheses(s: Student) -> float:
    run = s["kinds"]
    return run.slope("processes-8-0", "us") - run.baseline("processes-8-0", "us")


def _indirect(s: Student) -> float:
    return _SET(s) - _HOP(s)


def _two_tasks(s: Student) -> None:
    s.figure(of_tasks.FORK, _FORK(s), "us", s["kinds"])
    s.figure(of_tasks.THREAD, _THREAD(s), "us", s["kinds"])


def _two_hops(s: Student) -> None:
    s.figure(of_footprint.DIRECT, _HOP(s), "us", s["kinds"])
    s.figure(of_footprint.WHOLE, _SET(s), "us", s["kinds"])


def _process_over_thread(s: Student) -> float:
    return _FORK(s) / _THREAD(s)


def _exchanges(times: float) -> Read:
    def read(s: Student) -> float:
        value = times * s["naive"].switches("bare-mutex").each
        if value < TWO_DECIMALS:
            raise NoMistake(f"{value:.4f} is 0.00 to two decimals, as the count is")
        return value

    return read


#: By lab.
SLIPS: dict[str, tuple[Case, ...]] = {
    "01-timer-overhead": (
        *values(
            "timer-overhead-fenced",
            "fenced",
            "ns",
            (
                ("slip-fenced-tenfold", "lost the point", LOST_POINT, _times(10, _FENCED)),
                ("slip-fenced-pairs", "gave pairs per us", OVER, _one_over(_FENCED, 1e3)),
            ),
        ),
        *values(
            "timer-ratio-process-cpu",
            "clocks",
            "times",
            (
                (
                    "slip-clocks-doubled",
                    "doubled the ratio: 'two readings'",
                    TWICE,
                    _times(2, _ratio("clocks", "process-cpu", "fenced")),
                ),
                (
                    "slip-clocks-tenth",
                    "misplaced the point",
                    GAINED_POINT,
                    _times(0.1, _ratio("clocks", "process-cpu", "fenced")),
                ),
            ),
        ),
        *values(
            "timer-own-addition",
            "own",
            "cycles",
            (
                ("slip-addition-thousand", "gave 'millicycles'", THOUSAND, _times(1e3, _OWN_PAIR)),
                (
                    "slip-addition-longest",
                    "took the maximum",
                    MOST,
                    _largest("own", "own", "cycles"),
                ),
            ),
        ),
        *values(
            "timer-step",
            "fenced",
            "ticks",
            (
                (
                    "slip-step-thousand",
                    "gave the step in thousandths",
                    THOUSAND,
                    lambda s: 1e3 * s["fenced"].clock("fenced").step,
                ),
            ),
        ),
    ),
    "02-first-iteration": (
        *values(
            "first-iteration-page-fault",
            "causes",
            "ns",
            (
                ("slip-fault-tenth", "misplaced the point", GAINED_POINT, _times(0.1, _FAULT_02)),
                ("slip-faults-per-ms", "gave faults per ms", OVER, _one_over(_FAULT_02, 1e6)),
                (
                    "slip-fault-longest",
                    "took the maximum",
                    MOST,
                    _largest("causes", "page-fault"),
                ),
            ),
        ),
        *values(
            "first-iteration-data-cache",
            "causes",
            "ns",
            (
                (
                    "slip-code-in-cycles",
                    "took the row instruction-cache of the table in cycles",
                    OTHER_IN_CYCLES,
                    _of("causes", "instruction-cache", "cycles"),
                ),
                ("slip-load-doubled", "counted there and back", TWICE, _times(2, _CACHE)),
            ),
        ),
    ),
    "03-system-call": (
        *values(
            "system-call-getppid",
            "calls",
            "ns",
            (
                ("slip-calls-per-us", "gave calls per us", OVER, _one_over(_GETPPID, 1e3)),
                ("slip-calls-per-second", "gave calls per second", OVER, _one_over(_GETPPID, 1e9)),
                ("slip-call-longest", "took the maximum", MOST, _largest("calls", "getppid")),
                (
                    "slip-floor-in-cycles",
                    "took the row invalid of the table in cycles",
                    OTHER_IN_CYCLES,
                    _of("calls", "invalid", "cycles"),
                ),
                ("slip-getpid-of-report-e", "copied report E's getpid", PRINTED, lambda s: 180.0),
                (
                    "slip-ticks-for-cycles/cycles",
                    "took the ticks and wrote cycles",
                    CALLED_CYCLES,
                    _of("calls", "getppid", "ticks"),
                ),
            ),
        ),
        *values(
            "system-call-floor",
            "calls",
            "ns",
            (
                (
                    "slip-floor-divided",
                    "divided by k again",
                    DIVIDED,
                    _again(_FLOOR, "calls", "invalid"),
                ),
            ),
        ),
        *values(
            "system-call-vdso-ratio",
            "clocks",
            "times",
            (
                ("slip-ratio-halved", "halved the ratio", HALF, _times(0.5, _VDSO)),
                ("slip-ratio-tenfold", "lost the point", LOST_POINT, _times(10, _VDSO)),
                (
                    "slip-ratio-of-two-units",
                    "divided cycles by ns",
                    "one number is in core cycles and the other in ns",
                    lambda s: (
                        s["clocks"].value("gettimeofday-trap", "cycles")
                        / s["clocks"].value("gettimeofday-vdso")
                    ),
                ),
            ),
        ),
        *values(
            "system-call-read0",
            "own",
            "ns",
            (
                (
                    "slip-read-of-report-c",
                    "copied report C's 320 us",
                    PRINTED,
                    lambda s: 320_000.0,
                ),
            ),
        ),
    ),
    "04-procedure-call": (
        *values(
            "call-args0",
            "call",
            "cycles",
            (
                ("slip-call-halved", "halved: 'call and return'", HALF, _times(0.5, _ARGS0)),
                ("slip-call-thousand", "gave 'millicycles'", THOUSAND, _times(1e3, _ARGS0)),
                ("slip-call-tenth", "misplaced the point", GAINED_POINT, _times(0.1, _ARGS0)),
                ("slip-call-of-report-a", "copied report A's 5.46", PRINTED, lambda s: 5.46),
            ),
        ),
        *values(
            "call-args6",
            "o0",
            "cycles",
            (
                (
                    "slip-nine-for-six",
                    "took the row args9",
                    "the value is another row of the run",
                    _of("o0", "args9", "cycles"),
                ),
                (
                    "slip-twelve-in-ticks",
                    "took the row args12 in ticks",
                    "the value is another row of the run, in ticks",
                    _of("o0", "args12", "ticks"),
                ),
                ("slip-six-longest", "took the maximum", MOST, _largest("o0", "args6", "cycles")),
                ("slip-six-per-cycle", "gave calls per cycle", OVER, _one_over(_ARGS6)),
                ("slip-six-divided", "divided by k again", DIVIDED, _again(_ARGS6, "o0", "args6")),
            ),
        ),
        *values(
            "call-per-argument",
            "o0",
            "cycles",
            (
                ("slip-each-open", "left out ( )", PARENTHESES, _each_without_parentheses),
                ("slip-each-thousand", "gave 'millicycles'", THOUSAND, _times(1e3, _each)),
                ("slip-each-turned", "gave arguments per cycle", OVER, _one_over(_each)),
            ),
        ),
    ),
    "05-task-creation": (
        *values(
            "creation-fork-wait",
            "kinds",
            "us",
            (
                ("slip-fork-tenth", "misplaced the point", GAINED_POINT, _times(0.1, _FORK)),
                ("slip-forks-per-second", "gave forks per second", OVER, _one_over(_FORK, 1e6)),
                (
                    "slip-fork-longest",
                    "took the maximum",
                    MOST,
                    _largest("kinds", "fork-wait", "us"),
                ),
                ("slip-fork-of-report-a/ns", "copied report A's", PRINTED, lambda s: 8500.618),
            ),
        ),
        *values(
            "creation-thread",
            "kinds",
            "us",
            (
                (
                    "slip-vfork-in-kilocycles",
                    "took thousands of cycles of vfork-wait",
                    OTHER_IN_CYCLES,
                    lambda s: s["kinds"].value("vfork-wait", "cycles") / 1e3,
                ),
            ),
        ),
        *conclusions(
            of_tasks.RATIO,
            "times",
            _two_tasks,
            (
                ("slip-tasks-halved", "halved the ratio", HALF, _times(0.5, _process_over_thread)),
                (
                    "slip-tasks-thousand",
                    "divided ns by us",
                    THOUSAND,
                    _times(1e3, _process_over_thread),
                ),
            ),
        ),
    ),
    "06-process-and-thread-switch": (
        *values(
            "process-switch-pipe-pinned",
            "process",
            "ns",
            (
                ("slip-switches-per-ms", "gave switches per ms", OVER, _one_over(_SWITCH, 1e6)),
                ("slip-switch-open", "left out ( )", PARENTHESES, _switch_without_parentheses),
                ("slip-switch-tenfold", "lost the point", LOST_POINT, _times(10, _SWITCH)),
            ),
        ),
        *values(
            "thread-switch-condvar",
            "threads",
            "ns",
            (
                ("slip-mutex-of-report-d", "copied report D's", PRINTED, lambda s: 3323.0),
                (
                    "slip-pipe-in-cycles",
                    "took the row pipe of the table in cycles",
                    OTHER_IN_CYCLES,
                    _of("threads", "pipe", "cycles"),
                ),
            ),
        ),
        *values(
            "switch-convoy-count",
            "naive",
            "times",
            (
                ("slip-count-thousand", "counted for 1,000", THOUSAND, _exchanges(1e3)),
                ("slip-count-percent", "gave it in percent", PERCENT, _exchanges(100)),
            ),
        ),
    ),
    "07-switch-footprint": (
        *values(
            of_footprint.DIRECT,
            "kinds",
            "us",
            (
                ("slip-hop-open", "left out ( )", PARENTHESES, _hop_without_parentheses),
                ("slip-hop-tenth", "misplaced the point", GAINED_POINT, _times(0.1, _HOP)),
            ),
        ),
        *values(
            of_footprint.WHOLE,
            "kinds",
            "us",
            (
                ("slip-hops-per-ms", "gave switches per ms", OVER, _one_over(_SET, 1e3)),
                (
                    "slip-threads-in-kilocycles",
                    "took thousands of cycles of threads-8-256k",
                    OTHER_IN_CYCLES,
                    lambda s: s["kinds"].value("threads-8-256k", "cycles") / 1e3,
                ),
            ),
        ),
        *conclusions(
            of_footprint.INDIRECT,
            "us",
            _two_hops,
            (
                ("slip-indirect-thousand", "gave ns as us", THOUSAND, _times(1e3, _indirect)),
                ("slip-indirect-halved", "halved it", HALF, _times(0.5, _indirect)),
            ),
        ),
    ),
    "09-memory-ladder": (
        *values(
            "ladder-l1",
            "sizes",
            "cycles",
            (
                (
                    "slip-second-row",
                    "took the row random-64k",
                    "the value is another row of the run",
                    _of("sizes", "random-64k", "cycles"),
                ),
                ("slip-load-thousandth", "gave kilocycles", THOUSANDTH, _times(1e-3, _L1)),
                (
                    "slip-load-longest",
                    "took the maximum",
                    MOST,
                    _largest("sizes", "random-16k", "cycles"),
                ),
            ),
        ),
        *values(
            "ladder-memory",
            "orders",
            "ns",
            (
                ("slip-memory-tenth", "misplaced the point", GAINED_POINT, _times(0.1, _MEMORY)),
                ("slip-loads-per-us", "gave loads per us", OVER, _one_over(_MEMORY, 1e3)),
                (
                    "slip-ordered-in-cycles",
                    "took the row ordered-128m of the table in cycles",
                    OTHER_IN_CYCLES,
                    _of("orders", "ordered-128m", "cycles"),
                ),
            ),
        ),
    ),
    "10-page-fault": (
        *values(
            "page-fault-anonymous",
            "kinds",
            "ns",
            (
                (
                    "slip-populate-in-cycles",
                    "took the row populate of the table in cycles",
                    OTHER_IN_CYCLES,
                    _of("kinds", "populate", "cycles"),
                ),
                ("slip-faults-per-ms", "gave faults per ms", OVER, _one_over(_ANONYMOUS, 1e6)),
                (
                    "slip-fault-called-cycles/cycles",
                    "took the ticks and wrote cycles",
                    CALLED_CYCLES,
                    _of("kinds", "anonymous", "ticks"),
                ),
            ),
        ),
        *values(
            "page-fault-copy",
            "copy",
            "ns",
            (
                ("slip-copy-tenfold", "lost the point", LOST_POINT, _times(10, _COPY)),
                (
                    "slip-copy-divided",
                    "divided by k again",
                    DIVIDED,
                    _again(_COPY, "copy", "copy-on-write"),
                ),
                ("slip-copy-longest", "took the maximum", MOST, _largest("copy", "copy-on-write")),
            ),
        ),
    ),
    "11-own-question": values(
        "own-question-cost",
        "own",
        "ns",
        (
            ("slip-own-tenfold", "lost the point", LOST_POINT, _times(10, _OPERATION)),
            ("slip-own-per-us", "gave operations per us", OVER, _one_over(_OPERATION, 1e3)),
            (
                "slip-own-divided",
                "divided by k again",
                DIVIDED,
                _again(_OPERATION, "own", "operation"),
            ),
        ),
    ),
}
