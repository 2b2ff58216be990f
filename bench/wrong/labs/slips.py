"""Slips of hand and head in every lab, whatever unit a figure has: one table for all of them.

Each is one step off a right run: a power of ten, a factor of two, a value turned over, another
statistic, another row in another unit, a missing pair of parentheses, a printed number of a report.
"""

from __future__ import annotations

from bench.wrong.case import Lab, Read
from bench.wrong.labs import lab_05 as of_tasks
from bench.wrong.labs import lab_07 as of_footprint
from bench.wrong.student import NoMistake, Student
from grader.figures import figures_of


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
_SWITCH = _of("process", "pipe-pinned")
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


#: What is handed in before a conclusion is drawn from it.
_BEFORE = {of_tasks.RATIO: _two_tasks, of_footprint.INDIRECT: _two_hops}

#: By figure: name, cause, and what reads the value.
SLIPS: dict[str, tuple[tuple[str, str, Read], ...]] = {
    "timer-overhead-fenced": (
        ("slip-fenced-tenfold", LOST_POINT, _times(10, _FENCED)),
        ("slip-fenced-pairs", OVER, _one_over(_FENCED, 1e3)),
    ),
    "timer-ratio-process-cpu": (
        ("slip-clocks-doubled", TWICE, _times(2, _ratio("clocks", "process-cpu", "fenced"))),
        ("slip-clocks-tenth", GAINED_POINT, _times(0.1, _ratio("clocks", "process-cpu", "fenced"))),
    ),
    "timer-own-addition": (
        ("slip-addition-thousand", THOUSAND, _times(1e3, _OWN_PAIR)),
        ("slip-addition-longest", MOST, _largest("own", "own", "cycles")),
    ),
    "timer-step": (
        ("slip-step-thousand", THOUSAND, lambda s: 1e3 * s["fenced"].clock("fenced").step),
    ),
    "first-iteration-page-fault": (
        ("slip-fault-tenth", GAINED_POINT, _times(0.1, _FAULT_02)),
        ("slip-faults-per-ms", OVER, _one_over(_FAULT_02, 1e6)),
        ("slip-fault-longest", MOST, _largest("causes", "page-fault")),
    ),
    "first-iteration-data-cache": (
        ("slip-code-in-cycles", OTHER_IN_CYCLES, _of("causes", "instruction-cache", "cycles")),
        ("slip-load-doubled", TWICE, _times(2, _CACHE)),
    ),
    "system-call-getppid": (
        ("slip-calls-per-us", OVER, _one_over(_GETPPID, 1e3)),
        ("slip-calls-per-second", OVER, _one_over(_GETPPID, 1e9)),
        ("slip-call-longest", MOST, _largest("calls", "getppid")),
        ("slip-floor-in-cycles", OTHER_IN_CYCLES, _of("calls", "invalid", "cycles")),
        ("slip-getpid-of-report-e", PRINTED, lambda s: 180.0),
        ("slip-ticks-for-cycles/cycles", CALLED_CYCLES, _of("calls", "getppid", "ticks")),
    ),
    "system-call-floor": (("slip-floor-divided", DIVIDED, _again(_FLOOR, "calls", "invalid")),),
    "system-call-vdso-ratio": (
        ("slip-ratio-halved", HALF, _times(0.5, _VDSO)),
        ("slip-ratio-tenfold", LOST_POINT, _times(10, _VDSO)),
        (
            "slip-ratio-of-two-units",
            "one number is in core cycles and the other in ns",
            lambda s: (
                s["clocks"].value("gettimeofday-trap", "cycles")
                / s["clocks"].value("gettimeofday-vdso")
            ),
        ),
    ),
    "system-call-read0": (("slip-read-of-report-c", PRINTED, lambda s: 320_000.0),),
    "call-args0": (
        ("slip-call-halved", HALF, _times(0.5, _ARGS0)),
        ("slip-call-thousand", THOUSAND, _times(1e3, _ARGS0)),
        ("slip-call-tenth", GAINED_POINT, _times(0.1, _ARGS0)),
        ("slip-call-of-report-a", PRINTED, lambda s: 5.46),
    ),
    "call-args6": (
        ("slip-nine-for-six", "the value is another row of the run", _of("o0", "args9", "cycles")),
        (
            "slip-twelve-in-ticks",
            "the value is another row of the run, in ticks",
            _of("o0", "args12", "ticks"),
        ),
        ("slip-six-longest", MOST, _largest("o0", "args6", "cycles")),
        ("slip-six-per-cycle", OVER, _one_over(_ARGS6)),
        ("slip-six-divided", DIVIDED, _again(_ARGS6, "o0", "args6")),
    ),
    "call-per-argument": (
        ("slip-each-open", PARENTHESES, _each_without_parentheses),
        ("slip-each-thousand", THOUSAND, _times(1e3, _each)),
        ("slip-each-turned", OVER, _one_over(_each)),
    ),
    "creation-fork-wait": (
        ("slip-fork-tenth", GAINED_POINT, _times(0.1, _FORK)),
        ("slip-forks-per-second", OVER, _one_over(_FORK, 1e6)),
        ("slip-fork-longest", MOST, _largest("kinds", "fork-wait", "us")),
        ("slip-fork-of-report-a/ns", PRINTED, lambda s: 8500.618),
    ),
    "creation-thread": (
        (
            "slip-vfork-in-kilocycles",
            OTHER_IN_CYCLES,
            lambda s: s["kinds"].value("vfork-wait", "cycles") / 1e3,
        ),
    ),
    of_tasks.RATIO: (
        ("slip-tasks-halved", HALF, _times(0.5, _process_over_thread)),
        ("slip-tasks-thousand", THOUSAND, _times(1e3, _process_over_thread)),
    ),
    "process-switch-pipe-pinned": (
        ("slip-switches-per-ms", OVER, _one_over(_SWITCH, 1e6)),
        ("slip-switch-open", PARENTHESES, _switch_without_parentheses),
        ("slip-switch-tenfold", LOST_POINT, _times(10, _SWITCH)),
    ),
    "thread-switch-condvar": (
        ("slip-mutex-of-report-d", PRINTED, lambda s: 3323.0),
        ("slip-pipe-in-cycles", OTHER_IN_CYCLES, _of("threads", "pipe", "cycles")),
    ),
    "switch-convoy-count": (
        ("slip-count-thousand", THOUSAND, _exchanges(1e3)),
        ("slip-count-percent", PERCENT, _exchanges(100)),
    ),
    of_footprint.DIRECT: (
        ("slip-hop-open", PARENTHESES, _hop_without_parentheses),
        ("slip-hop-tenth", GAINED_POINT, _times(0.1, _HOP)),
    ),
    of_footprint.WHOLE: (
        ("slip-hops-per-ms", OVER, _one_over(_SET, 1e3)),
        (
            "slip-threads-in-kilocycles",
            OTHER_IN_CYCLES,
            lambda s: s["kinds"].value("threads-8-256k", "cycles") / 1e3,
        ),
    ),
    of_footprint.INDIRECT: (
        ("slip-indirect-thousand", THOUSAND, _times(1e3, _indirect)),
        ("slip-indirect-halved", HALF, _times(0.5, _indirect)),
    ),
    "ladder-l1": (
        (
            "slip-second-row",
            "the value is another row of the run",
            _of("sizes", "random-64k", "cycles"),
        ),
        ("slip-load-thousandth", THOUSANDTH, _times(1e-3, _L1)),
        ("slip-load-longest", MOST, _largest("sizes", "random-16k", "cycles")),
    ),
    "ladder-memory": (
        ("slip-memory-tenth", GAINED_POINT, _times(0.1, _MEMORY)),
        ("slip-loads-per-us", OVER, _one_over(_MEMORY, 1e3)),
        ("slip-ordered-in-cycles", OTHER_IN_CYCLES, _of("orders", "ordered-128m", "cycles")),
    ),
    "page-fault-anonymous": (
        ("slip-populate-in-cycles", OTHER_IN_CYCLES, _of("kinds", "populate", "cycles")),
        ("slip-faults-per-ms", OVER, _one_over(_ANONYMOUS, 1e6)),
        ("slip-fault-called-cycles/cycles", CALLED_CYCLES, _of("kinds", "anonymous", "ticks")),
    ),
    "page-fault-copy": (
        ("slip-copy-tenfold", LOST_POINT, _times(10, _COPY)),
        ("slip-copy-divided", DIVIDED, _again(_COPY, "copy", "copy-on-write")),
        ("slip-copy-longest", MOST, _largest("copy", "copy-on-write")),
    ),
    "own-question-cost": (
        ("slip-own-tenfold", LOST_POINT, _times(10, _OPERATION)),
        ("slip-own-per-us", OVER, _one_over(_OPERATION, 1e3)),
        ("slip-own-divided", DIVIDED, _again(_OPERATION, "own", "operation")),
    ),
}


def add_to(lab: Lab) -> None:
    """Add the slips with the figures of a lab to its cases.

    A name may be followed by a slash and the unit that is given instead of the figure's.
    """
    for figure in (spec.id for spec in figures_of(lab.lab) if spec.id in SLIPS):
        for row, cause, read in SLIPS[figure]:
            name, _, unit = row.partition("/")
            if figure in _BEFORE:
                lab.add_conclusion(name, figure, cause, read, unit, after=_BEFORE[figure])
            else:
                lab.add_value(name, figure, cause, read, unit)
