"""What would be a true naming of a cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Truth:
    """Any of these codes names the cause truly, or a finding whose words match `says`."""

    codes: tuple[str, ...] = ()
    says: str = ""


def by_name(groups: dict[Truth, str]) -> dict[str, Truth]:
    """The truth of each case, from names of cases separated by blanks. Names appear once."""
    table: dict[str, Truth] = {}
    for truth, names in groups.items():
        for name in names.split():
            if name in table:
                raise ValueError(f"two truths for {name}")
            table[name] = truth
    return table


def value_of(variant: str) -> Truth:
    """The value is that of another variant of the run."""
    return Truth(
        ("two-results-for-one",), rf"(cost|overhead|result|value|figure|count) of {variant}\b"
    )


#: Nobody could say more than that the value is not this run's.
NOT_OF_THIS_RUN = Truth(("figure-not-from-recording",), "another run|other run|published")
THOUSAND = Truth(("unit-slip",), "factor of 1,?000")
TICKS = Truth(("ticks-for-nanoseconds",), r"value in ticks")
NS_CALLED_TICKS = Truth(("ticks-for-nanoseconds",), r"value in ns")
CYCLES = Truth(
    ("cycles-for-ticks", "cycles-for-nanoseconds"),
    r"value in (core )?cycles(,| and) called|off by the frequency of the core",
)
TICKS_CALLED_CYCLES = Truth(("cycles-for-ticks",), r"value in ticks(,| and) called")
NS_CALLED_CYCLES = Truth(("cycles-for-nanoseconds",), r"value in ns(,| and) called")
HALF = Truth(("half-or-double",), r"half of")
NOT_HALVED = Truth(("half-or-double",), r"(not|without) (halved|divided)|twice")
UPSIDE_DOWN = Truth(("ratio-upside-down",), r"upside down|other way round|inverse")
WHOLE_SAMPLE = Truth(("cost-of-many-for-one", "unclear-divisor"), r"whole sample")
INTERCEPT = Truth(("timer-not-subtracted",), r"intercept|beginning of (the|your) line|overhead of")
SLOPE = Truth((), r"slope|cost of (one|an) addition|each addition")
PERCENT = Truth((), r"percent|hundred times|100 times")
DIFFERENCE = Truth((), r"difference|subtract")
RATIO = Truth((), r"(is|as) (a|the) ratio|divided by|one over the other")
OTHER_VARIANT = Truth(("other-recording",), "")
FEW = Truth(("too-few-samples", "one-process"), "")
EDITED = Truth(("recording-altered",), r"edited|altered|changed after")
AGAINST_DATA = Truth(
    ("conclusion-against-table", "trend-inside-the-noise", "cause-not-isolated"), ""
)
NO_SUCH_CHOICE = Truth(
    (), r"You chose [\d.-]+[;.] (there are|The lab lists) the conclusions|no (conclusion|choice)"
)
COLUMN = Truth(("cost-of-many-for-one",), r"whole sample|mean of the whole column")
#: The formula as it was computed; it is told beside the one that it should be.
NET_NOT_DIVIDED = Truth(("half-or-double",), r"that is [\d,.]+ - \d x [\d,.]+\. It should be \(")
SUBTRACTED_ONCE = Truth((), r"that is \([\d,.]+ - [\d,.]+\) / \d\. It should be .* - \d x")
LOOP = Truth(("loop-counted-along",), r"loop.* (not|was not) subtracted")
CALLS_IN = Truth(("read-and-write-counted-along", "touching-counted-as-switch"), "")
ROUND_TRIP = Truth(
    ("read-and-write-counted-along", "unclear-divisor", "cost-of-many-for-one"), "round trip"
)
OPTIMISATION = Truth(("optimisation-levels-mixed",), "")
TRACED = Truth(("tracer-stops-it",), r"trace[rd]|strace|debugger")
C_MISSING = Truth(
    ("no-c-to-read",), r"\.c\b.*(missing|absent|not there|not handed in)|without its C|C source"
)
C_CHANGED = Truth(("no-c-to-read",), r"hash|not the C|changed since|another C|C source")
FAILS = Truth(
    ("failing-call-timed", "wrong-registers"), r"EBADF|EFAULT|fails|failed|refused|did not work"
)
OTHER_CALL = Truth(
    ("other-recording", "other-call-than-asked"),
    r"another (system )?call|other (system )?call|getppid|not (a |the )?read",
)
FIRST_ONLY = Truth(
    ("library-call-not-system-call", "work-optimised-away"),
    r"never enter|not entered|got (0|no) system calls?\b",
)
#: More is timed than the lab asks for, by what it costs.
MORE_TIMED = Truth(
    ("more-than-the-operation", "more-between-the-readings"), r"more than the (one )?operation"
)
INSTRUMENTED = Truth((), r"-finstrument-functions|-pg\b|-fsanitize")
