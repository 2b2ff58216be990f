"""`labs doctor` is in one language: no point, no finding and no advice stays English."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from labs.commands import doctor
from labs.hand_in.exchange import check_exchange
from labs.languages import chosen
from labs.languages.po_file import languages
from labs.machine.description import Machine
from labs.machine.fitness import examine, verdict
from labs.machine.probes import Counter, Disk, Outcome, Trials
from labs.machine.report_point import Point
from testing.languages.left import left_in_english
from testing.plain_machine import PLAIN

#: What has the same name in every language.
NAMES = frozenset(
    [
        "SMT",
        "steal",
        "seccomp",
        "turbo",
        "governor",
        "hypervisor",
        "powersave",
        "filter",
        "hpet",
        "gcc",
        "tsc",
        "MHz",
        "GiB",
        "KVM",
        "Docker",
        "performance",
        "kvm-clock",
        "PASS",
        "CPU",
        "CPUs",
        "Linux",
        "ticks",
    ]
)
SLOW = dataclasses.replace(
    PLAIN,
    cpus_allowed=(1,),
    cpu_quota=0.5,
    memory_limit=300 << 20,
    task_limit=20,
    virtual=True,
    hypervisor="KVM",
    container="Docker",
    governor="powersave",
    turbo=True,
    smt=True,
    seccomp="filter",
    load=3.0,
    steal=0.2,
    clock_source="hpet",
)
SILENT = dataclasses.replace(
    PLAIN,
    cpus_allowed=None,
    memory=None,
    virtual=None,
    governor=None,
    turbo=None,
    smt=None,
    seccomp=None,
    load=None,
    steal=None,
    clock_source=None,
)
COUNTER = Counter("tsc", step=2, overhead=44, frequency_hz=2.6e9, core_cycle_ticks=0.7)
ROOMY, FULL, CLOSED = Disk("/x", 100 << 30), Disk("/x", 1 << 20), Disk("/x", None, "/x")
GOOD = Trials(
    compiler=Outcome("gcc 12 (/usr/bin/gcc)"),
    counter=COUNTER,
    pinning=Outcome("obtained on each CPU allowed"),
    here=ROOMY,
    cache=ROOMY,
    meanwhile={"steal.share": "0.0000"},
)


def changed(**changes: object) -> Trials:
    return dataclasses.replace(GOOD, **changes)  # type: ignore[arg-type]


def with_counter(**changes: object) -> Trials:
    return changed(counter=dataclasses.replace(COUNTER, **changes))  # type: ignore[arg-type]


TRIALS = (
    GOOD,
    changed(compiler=Outcome(problem="no C compiler found"), counter=None, here=CLOSED),
    changed(compiler=Outcome(problem="no C compiler found", no_programs_in="/x"), cache=CLOSED),
    changed(counter=None, counter_problem="exit status 1, no message", here=FULL, cache=FULL),
    changed(
        counter=None,
        counter_problem="the OS starts no program in the folder /x; it may be mounted as noexec",
        cache_without_programs="/x",
        pinning=Outcome(problem="CPU 1 was asked for and not obtained"),
    ),
    changed(pinning=None, here=None),
    with_counter(step=0),
    with_counter(step=26, core_cycle_ticks=0.0),
    with_counter(taken_by_others=0.02),
    with_counter(taken_by_others=0.14),
    with_counter(taken_by_others=0.14, gaps_per_s=20_000.0),
    with_counter(taken_by_others=0.14, gaps_per_s=1_000_000.0),
)
CASES: tuple[tuple[Machine, Trials], ...] = tuple(
    (machine, trials) for machine in (PLAIN, SLOW, SILENT) for trials in TRIALS
)


def texts(points: list[Point]) -> dict[str, None]:
    """Every text of these points that a reader sees, and the last sentence."""
    found = [verdict(points), doctor.FOR_AN_ADMINISTRATOR, doctor.OF_AN_ADMINISTRATOR]
    found += [doctor.ALL_POINTS]
    for each in points:
        found += [each.name, each.status, each.seen, each.remedy or "", each.administrator or ""]
    return dict.fromkeys(filter(None, found))


@pytest.mark.parametrize("language", languages())
def test_nothing_that_the_doctor_says_stays_english(language: str, tmp_path: Path) -> None:
    every: dict[str, None] = {}
    for machine, trials in CASES:
        every |= texts(examine(machine, trials))
    roots = [tmp_path / name for name in ("none", "closed", "course")]
    for root, mode in zip(roots[1:], (0o700, 0o1777), strict=True):
        (root / "a").mkdir(parents=True)
        (root / "a").chmod(0o700)
        root.chmod(mode)
    for folder in (None, *roots):
        every |= texts([check_exchange(folder)])
    names = NAMES | {f"{root}{below}" for root in roots for below in ("", "/a")}
    names |= {f"sudo install -d -m 1777 {root}" for root in roots}
    left = {
        text: parts
        for text in every
        if (parts := left_in_english(text, language, names, heading=True))
    }
    assert not left
    assert len(every) > 100, "else this test has seen little"


@pytest.mark.parametrize("language", languages())
def test_the_report_keeps_its_columns(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All findings begin in one column, and no line is longer than a terminal is wide."""
    points = examine(SLOW, GOOD)
    monkeypatch.setenv(chosen.VARIABLE, language)
    lines = doctor.as_text(points, False, 80).split("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line for line in lines if not line.startswith(" ")]
    advice = {line.index("->") for line in lines if line.lstrip().startswith("->")}
    assert len(heads) == len(points) and len(advice) == 1
    (begin,) = advice
    assert all(line[begin - 1] == " " and line[begin] != " " for line in heads)


def test_json_is_english_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    english = doctor.as_objects(examine(SLOW, GOOD))
    monkeypatch.setenv(chosen.VARIABLE, "de")
    assert doctor.as_objects(examine(SLOW, GOOD)) == english
