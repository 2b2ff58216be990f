"""What students read wrongly off right runs in lab 08, the trial of five reports."""

from __future__ import annotations

from functools import partial

from bench.wrong.case import Case, values
from bench.wrong.student import Planned, Student, broken_plan, own_plan, twin_plan

#: The pair of broken and repaired run of each report's trial.
PAIRS = {
    "a": "cached_getpid",
    "b": "gettimeofday_for_trap",
    "c": "wrong_registers",
    "d": "bare_mutex",
    "e": "readings_around_each",
}
WORDS = "own_call --variant gettimeofday,invalid --samples 800"

RUNS: dict[str, Planned] = {
    **{f"trial-{report}": partial(broken_plan, name) for report, name in PAIRS.items()},
    **{f"trial-{report}-repaired": partial(twin_plan, name) for report, name in PAIRS.items()},
    "own": lambda: own_plan(WORDS, "08/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {
    **{f"trial-{report}-reproduced": f"trial-{report}" for report in PAIRS},
    **{f"trial-{report}-repaired": f"trial-{report}-repaired" for report in PAIRS},
    "trial-b-repaired": "own",
}


def trial(s: Student, report: str) -> float:
    return s[f"trial-{report}"].naive()


def repaired(s: Student, report: str) -> float:
    return s[f"trial-{report}-repaired"].value()


def reproduced(report: str) -> str:
    return f"trial-{report}-reproduced"


_REPRODUCED: tuple[Case, ...] = (
    *values(
        reproduced("a"),
        "trial-a",
        "ns",
        (
            (
                "a-value-of-the-twin",
                "gave the repaired value for the reproduced one",
                "the value is that of the repaired run, not of the broken one",
                lambda s: repaired(s, "a"),
            ),
            (
                "a-any-number",
                "gave some number because 'it is wrong anyway'",
                "the value follows from no run",
                lambda s: 12345.0,
            ),
        ),
    ),
    *values(
        reproduced("b"),
        "trial-b",
        "ns",
        (
            (
                "b-in-us/us",
                "wrote the unit us beside a value in ns",
                "the value is in ns, not in us: a factor of 1000",
                lambda s: trial(s, "b"),
            ),
        ),
    ),
    *values(
        reproduced("c"),
        "trial-c",
        "ns",
        (
            (
                "c-as-printed",
                "made report C's slip of the unit as well: a thousand times the value",
                "the value is a thousand times that of the run: a slip of the unit",
                lambda s: 1000 * trial(s, "c"),
            ),
        ),
    ),
    *values(
        reproduced("d"),
        "trial-d",
        "ns",
        (
            (
                "d-as-printed",
                "copied report D's 3,323 ns for the reproduction",
                "the value is the printed one, the run gives another",
                lambda s: 3323.0,
            ),
        ),
    ),
    *values(
        reproduced("e"),
        "trial-e",
        "ns",
        (
            (
                "e-in-ticks",
                "took the value in ticks and wrote ns",
                "the value is in ticks, not in ns",
                lambda s: s["trial-e"].naive(unit="ticks"),
            ),
            (
                "e-less-the-clock",
                "took the clock off the reproduction: the repaired value with the broken run",
                "the value is that of the repaired run, not of the broken one",
                lambda s: repaired(s, "e"),
            ),
        ),
    ),
)

_REPAIRED: tuple[Case, ...] = (
    *values(
        "trial-a-repaired",
        "trial-a-repaired",
        "ns",
        (
            (
                "a-still-broken",
                "gave the broken value with the repaired run",
                "the value is that of the broken run",
                lambda s: trial(s, "a"),
            ),
            (
                "a-repaired-in-ticks",
                "took the value in ticks and wrote ns",
                "the value is in ticks, not in ns",
                lambda s: s["trial-a-repaired"].value(unit="ticks"),
            ),
        ),
    ),
    *values(
        "trial-c-repaired",
        "trial-c-repaired",
        "ns",
        (
            (
                "c-repaired-by-hand",
                "divided report C's 320 µs by a thousand",
                "the value is the printed one, not of this run",
                lambda s: 320.0,
            ),
            (
                "c-repaired-in-us/us",
                "wrote the unit us beside a value in ns, as report C",
                "the value is in ns, not in us: a factor of 1000",
                lambda s: repaired(s, "c"),
            ),
        ),
    ),
    *values(
        "trial-d-repaired",
        "trial-d-repaired",
        "ns",
        (
            (
                "d-round-trip",
                "took the round trip",
                "the value is the whole round trip: not halved, nothing subtracted",
                lambda s: s["trial-d-repaired"].slope(),
            ),
            (
                "d-half-round-trip",
                "halved the round trip and subtracted nothing",
                "the calls alone were not subtracted",
                lambda s: s["trial-d-repaired"].slope() / 2,
            ),
        ),
    ),
    *values(
        "trial-e-repaired",
        "trial-e-repaired",
        "ns",
        (
            (
                "e-with-the-loop",
                "took the slope, with the loop in it",
                "the loop was not subtracted",
                lambda s: s["trial-e-repaired"].slope(),
            ),
            (
                "e-by-hand",
                "halved the broken value: 'there is a clock before and after'",
                "the value is half of the broken run's, not of the repaired one",
                lambda s: trial(s, "e") / 2,
            ),
        ),
    ),
)

VALUES = (*_REPRODUCED, *_REPAIRED)
