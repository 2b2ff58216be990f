"""What each idea of the estimate earns: everything is reduced again with one idea off at a time.

Sets of recordings show how often two runs of one variant agree within their
combined interval, as in `python -m bench repeat`, and how wide the intervals are. The simulated
machines of `python -m bench coverage` show whether the interval still holds the truth. First times
are left out, because nothing of the estimate but their own rule decides about them.

An idea that earns less than one point of agreement on every set, and less than three rows of
coverage, goes, unless another experiment keeps it. Agreement alone is no merit of an interval: a
wider one agrees more often. So the median half-width is printed beside it.

    python -m bench ablation --record DIR [--busy]    # makes a set: some minutes for each round
    python -m bench ablation DIR...

An idea that changes nothing in the first runs of a simulated machine is not tried in the others.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import os
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

from bench.figures import coverage
from bench.figures.coverage_cases import Case, all_cases
from bench.figures.repeat import (
    KERNELS,
    Job,
    agree,
    in_state,
    jobs,
    possible_in,
    relative_half_width,
    unit_of,
)
from bench.report import must_hold, say, show, skipped, verdict
from labs.analysis import cpu_core
from labs.analysis import set_aside as which_count
from labs.analysis.confidence import Bools, Floats
from labs.analysis.set_aside import Cells, Kept, cells_of, kept_samples, step_of
from labs.analysis.thresholds import MOST_BY_SHARING
from labs.files import write_atomically
from labs.machine.description import read_machine
from labs.recording import declared, file, run_conditions
from labs.recording.file import BadRecording, Recording, Samples
from labs.results.result import result_of
from labs.run.measure import measure_now

ROUNDS = 6
#: Samples of a size on a shared core, and on the whole one, from which their medians are compared.
FEWEST_SHARED = 15
#: Says of which machine a set is, and in which state.
ABOUT = "about.txt"


class BadSet(ValueError):
    """A folder is no set of recordings, or one of another machine or state.

    A set has a folder for each round, which holds a recording for each job of `python -m bench
    repeat`. A recording is there completely or not at all, so a set whose recording was interrupted
    is continued by the same command.
    """


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The recordings of each job of a set, in the order of the rounds. Raises BadSet."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("round-*/*.csv")):
        found[path.name].append(path)
    if not any(len(paths) > 1 for paths in found.values()):
        raise BadSet(
            f"{folder}: no two rounds (round-00, round-01, ...) with recordings of the same name; "
            "make a set with `python -m bench ablation --record DIR`"
        )
    return dict(found)


def _recorded(folder: Path, rounds: int, kernels: Sequence[str], state: str) -> bool:
    """Record what the set in `folder` lacks of so many rounds, of these C kernels or of all.

    Whether every recording is there afterwards.
    """
    must_hold(f"{rounds} recordings of every job in {folder}, taken on a {state} machine")
    try:
        _agree_about(folder, f"{state}; {read_machine().cpu}\n")
    except BadSet as error:
        return verdict(False, str(error))
    mine = [job for job in jobs(kernels or KERNELS) if possible_in(state, job)]
    missing, before = 0, 0
    for number in range(rounds):
        say(f"   round {number + 1} of {rounds}")
        for job in mine:
            path = folder / f"round-{number:02}" / _name(job)
            if path.exists():
                before += 1
                continue
            try:
                with in_state(state):
                    measure_now(job.plan).write(path)
            except (RuntimeError, OSError, ValueError) as error:
                say(f"   {path.name}: {error}")
                missing += 1
    every = rounds * len(mine)
    return verdict(
        not missing,
        f"{every - missing} of {every} recordings are there, {before} of them from before"
        + ("; the same command tries the others again" if missing else ""),
    )


def _name(job: Job) -> str:
    """The file's name, which no other job has."""
    return f"{job.plan.kernel}{job.label.replace(' ', '')}-{job.plan.variants[0]}.csv"


def _agree_about(folder: Path, about: str) -> None:
    """Write of which machine and state the set is. Raises BadSet if it is of others."""
    path = folder / ABOUT
    if not path.exists():
        write_atomically(path, about.encode())
    elif (known := path.read_text(encoding="utf-8")) != about:
        raise BadSet(
            f"{folder}: holds recordings of another machine or state ({known.strip()}, not "
            f"{about.strip()}); name another folder"
        )


#: An idea must earn one of these: points of agreement on a set, or rows of coverage.
LEAST_POINTS, LEAST_ROWS = 1.0, 3
RUNS, RUNS_QUICK = 400, 100
#: Runs after which an idea that changed none of them is no longer tried.
FIRST_RUNS = 50

_reach, _best = which_count._reach, cpu_core._best


def _none_counted(recording: Recording, samples: Samples, cells: Cells) -> Kept:
    """Which samples count if no process had counted any interruption."""
    key = "cpu.gaps_per_s"
    if recording.number(key) is not None:
        recording = replace(recording, conditions={**recording.conditions, key: "0"})
    return kept_samples(recording, samples, cells)


def _reach_of_each_size(cells: Cells, away: Floats, chosen: Bools, by_chance: Floats) -> Floats:
    """The reach of each batch size by itself: without operations, no size is compared."""
    return _reach(replace(cells, batch=np.zeros_like(cells.batch)), away, chosen, by_chance)


def _additions_only(recording: Recording, counted: str) -> float | None:
    return _best(recording, counted) if counted == run_conditions.ADDITIONS else None


def _none_preempted(recording: Recording, variant: str) -> Bools:
    return np.zeros(len(recording.samples(variant)), dtype=np.bool_)


def _declared_step(samples: Samples) -> float:
    return float(samples.clock.coarseness)


@dataclass(frozen=True)
class Idea:
    """An idea of the estimate, and what stands in the place of what while it is off.

    `kept_by` states the other experiment that keeps it, with its command; '' if there is none.
    """

    name: str
    off: Mapping[str, object]
    kept_by: str = ""

    @contextlib.contextmanager
    def switched_off(self) -> Iterator[None]:
        """The estimate does without this idea while the block lasts."""
        with contextlib.ExitStack() as stack:
            for name, other in self.off.items():
                stack.enter_context(mock.patch(name, other))
            yield


_T, _KEPT, _LINE = (f"labs.analysis.{name}" for name in ("thresholds", "set_aside", "line"))
_PROCESSES = "labs.analysis.confidence"

NOTHING = Idea("nothing", {})
IDEAS = (
    Idea("rounds of the core", {f"{_T}.WHOLE_CORE": 0.0}),
    Idea("stores beside additions", {"labs.analysis.cpu_core._best": _additions_only}),
    Idea("a core too narrow to be whole", {f"{_T}.LEAST_ADDITIONS": 0.0}),
    Idea("far samples", {f"{_T}.NEAR_STEPS": math.inf}),
    Idea("one reach for all sizes", {f"{_KEPT}._reach": _reach_of_each_size}),
    Idea("interruptions that are counted", {f"{_LINE}.kept_samples": _none_counted}),
    # No share is above 1. Beyond it, an operation's own delays could weigh less than nothing.
    Idea("sizes mostly interrupted", {f"{_T}.MANY_FAR": 1.0}),
    Idea("own delays of the operation", {f"{_T}.OWN_DELAYS": 2.0}),
    Idea("misfit of the line", {f"{_T}.MISFIT": 1e300}),
    Idea(
        "range of paired processes",
        {f"{_PROCESSES}.FEWEST_FOR_RANGE": math.inf},
        "pytest tests/analysis/test_estimate.py -k never_chance",
    ),
    Idea("preempted samples", {f"{_KEPT}.preempted": _none_preempted}),
    Idea("scatter between runs", {"labs.analysis.confidence.BETWEEN_RUNS": 0.0}),
    Idea("step that samples show", {f"{_LINE}.step_of": _declared_step}),
)


@dataclass
class Reduced:
    """What a set gave: which pairs of runs agree, the half-widths as shares of the values, and how
    many runs gave no figure."""

    agreeing: list[bool] = field(default_factory=list)
    half_widths: list[float] = field(default_factory=list)
    no_figure: int = 0

    def add(self, other: Reduced) -> None:
        """Add what another part of the set gave."""
        self.agreeing += other.agreeing
        self.half_widths += other.half_widths
        self.no_figure += other.no_figure

    @property
    def agreement(self) -> float:
        """The share of pairs that agree, in percent; 0 without any pair."""
        return 100 * sum(self.agreeing) / max(len(self.agreeing), 1)

    def as_row(self) -> tuple[str, str, str]:
        """Agreement and median half-width in percent, and how many runs gave no figure."""
        middle = 100 * statistics.median(self.half_widths) if self.half_widths else math.nan
        return f"{self.agreement:.1f}", f"{middle:.2f}", str(self.no_figure)


class Row(NamedTuple):
    """A row of coverage."""

    case: str
    what: str
    step: int

    def __str__(self) -> str:
        return f"{self.case} {self.what}, step {self.step}"


@dataclass(frozen=True)
class Outcome:
    """What is left with this idea off: of each set, and which rows of coverage are lost."""

    idea: Idea
    sets: tuple[Reduced, ...]
    lost: tuple[Row, ...]


def run(
    quick: bool,
    kernels: Sequence[str] = (),
    *,
    sets: Sequence[Path] = (),
    record: Path | None = None,
    busy: bool = False,
    rounds: int | None = None,
) -> bool:
    """Reduce these sets and the simulated machines; or record a set, of some C kernels only."""
    if record is not None:
        state = "busy" if busy else "quiet"
        return _recorded(record, rounds or ROUNDS, kernels, state)
    must_hold(
        f"every idea earns {LEAST_POINTS:g} point of agreement on a set or {LEAST_ROWS} rows of "
        f"coverage, or another experiment keeps it; on a shared core, 99 in 100 variants take at "
        f"most {MOST_BY_SHARING:g} times as long"
    )
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        try:
            of_sets = [reduced_set(pool, folder, IDEAS) for folder in sets]
        except (BadSet, BadRecording) as error:
            return verdict(False, str(error))
        lost = lost_rows(pool, all_cases(), RUNS_QUICK if quick else RUNS, IDEAS)
    outcomes = [
        Outcome(idea, tuple(each[number] for each in of_sets), lost[number])
        for number, idea in enumerate((NOTHING, *IDEAS))
    ]
    sharing = [sharing_in(folder) for folder in sets]
    return judged([folder.name for folder in sets], outcomes) and all(sharing)


def reduced_set(
    pool: concurrent.futures.Executor, folder: Path, ideas: Sequence[Idea]
) -> list[Reduced]:
    """What the set in `folder` gives with nothing off, and with each of the `ideas` off.

    Raises BadSet, and BadRecording.
    """
    jobs = files_of(folder)
    found = [Reduced() for _ in (NOTHING, *ideas)]
    for of_job in pool.map(_reduced_job, jobs.values(), [ideas] * len(jobs)):
        for mine, more in zip(found, of_job, strict=True):
            mine.add(more)
    pairs, runs = len(found[0].agreeing), len(found[0].half_widths) + found[0].no_figure
    say(f"   {folder.name}: {pairs:,} pairs of {runs:,} runs")
    return found


def sharing_in(folder: Path) -> bool:
    """Whether samples of this set take at most MOST_BY_SHARING times as long on a shared core.

    Compared are the medians of a batch size in one run, where either has enough samples; of a
    variant, the size that differs most.
    """
    found = []
    for path in sorted(folder.glob("round-*/*.csv")):
        recording = file.read(path)
        for name in recording.variants:
            samples = recording.samples(name)
            shared = kept_samples(recording, samples, cells_of(samples, step_of(samples))).shared
            of_sizes = (
                (samples.ticks[each & shared], samples.ticks[each & ~shared])
                for each in (samples.batch == size for size in samples.batch_sizes[-3:])
            )
            times = [
                np.median(one) / np.median(whole)
                for one, whole in of_sizes
                if min(len(one), len(whole)) >= FEWEST_SHARED and np.median(whole) > 0
            ]
            found += [max(times)] if times else []
    middle, most = (np.quantile(found, each) if found else 1.0 for each in (0.5, 0.99))
    say(
        f"   {folder.name}: on a shared core, {len(found)} variants take {middle:.2f} times as "
        f"long in the median, and 99 in 100 at most {most:.2f} times"
    )
    return bool(most <= MOST_BY_SHARING)


def _reduced_job(paths: Sequence[Path], ideas: Sequence[Idea]) -> list[Reduced]:
    """What the recordings of one job give with nothing off, and with each idea off."""
    recordings = [file.read(path) for path in paths]
    found = []
    for idea in (NOTHING, *ideas):
        with idea.switched_off():
            # A copy remembers nothing of what was computed from the recording before.
            found.append(_reduced([replace(each) for each in recordings]))
    return found


def _reduced(recordings: Sequence[Recording]) -> Reduced:
    found = Reduced()
    stated = recordings[0].conditions.get("variants")
    for name in stated.split(",") if stated else recordings[0].variants:
        if declared.is_first_time(recordings[0], name):
            continue
        results = [
            result_of(each, name, unit_of(each, name))
            for each in recordings
            if name in each.variants
        ]
        figures = [each.estimate for each in results if each.estimate is not None]
        found.no_figure += len(results) - len(figures)
        found.agreeing += agree(figures)
        found.half_widths += map(relative_half_width, figures)
    return found


def lost_rows(
    pool: concurrent.futures.Executor, cases: Sequence[Case], runs: int, ideas: Sequence[Idea]
) -> list[tuple[Row, ...]]:
    """The rows of coverage that hold with nothing off and not with an idea off; for nothing, the
    rows that do not hold anyway."""
    found: list[list[Row]] = [[] for _ in (NOTHING, *ideas)]
    judged_cases = [case for case in cases if case.held]
    count = len(judged_cases)
    every = pool.map(_outside, judged_cases, [runs] * count, [ideas] * count)
    for usual, *others in every:
        found[0] += usual
        for mine, outside in zip(found[1:], others, strict=True):
            mine += [row for row in outside if row not in usual]
    say(f"   coverage: {sum(len(case.held) for case in cases)} rows of {runs} runs")
    return [tuple(each) for each in found]


def _outside(case: Case, runs: int, ideas: Sequence[Idea]) -> list[list[Row]]:
    """The rows of this case that do not hold with nothing off, and with each idea off."""
    every = (NOTHING, *ideas)
    found: list[list[coverage.Values]] = [[] for _ in every]
    tried = set(range(len(every)))
    for begin in range(0, runs, FIRST_RUNS):
        seeds = range(begin, min(begin + FIRST_RUNS, runs))
        recordings = [case.recording(1 + seed) for seed in seeds]
        for number in sorted(tried):
            with every[number].switched_off():
                of_runs = [coverage.estimates(case, replace(each)) for each in recordings]
            found[number].append(np.stack(of_runs))
            if number and begin == 0 and np.array_equal(found[number], found[0], equal_nan=True):
                tried.remove(number)
    return [
        [
            Row(case.name, what.value, case.machine.step)
            for place, what in enumerate(case.held)
            if coverage.row_of(case, what, values[:, place]).wrong
        ]
        for values in (
            np.concatenate(found[number if number in tried else 0]) for number in range(len(every))
        )
    ]


def judged(names: Sequence[str], outcomes: Sequence[Outcome]) -> bool:
    """Print what is lost with each idea off, and whether every idea earns its place.

    `names` are those of the sets. The first outcome is that of nothing off.
    """
    head = ["off"]
    for name in names:
        head += [f"{name}: agree %", "half-width %", "no figure"]
    show(
        [*head, "rows lost"],
        [
            (each.idea.name, *(cell for one in each.sets for cell in one.as_row()), rows)
            for each in outcomes
            for rows in ("" if each.idea is NOTHING else str(len(each.lost)),)
        ],
    )
    usual, *others = outcomes
    if usual.lost:
        say(f"   rows that do not hold with nothing off: {'; '.join(map(str, usual.lost))}")
    for each in others:
        if each.lost:
            rows = Counter(row.case for row in each.lost).items()
            by_case = "; ".join(f"{case} ({count})" for case, count in rows)
            say(f"   rows lost without {each.idea.name}: {by_case}")
    if not names:
        return skipped("no set of recordings was named, so nothing is known of agreement")
    go = []
    for each in others:
        points = max(
            one.agreement - two.agreement for one, two in zip(usual.sets, each.sets, strict=True)
        )
        if points >= LEAST_POINTS or len(each.lost) >= LEAST_ROWS:
            continue
        if each.idea.kept_by:
            say(f"   {each.idea.name}: kept by another experiment: {each.idea.kept_by}")
        else:
            go.append(f"{each.idea.name} ({points:+.2f} points, {len(each.lost)} rows)")
    say(
        f"   An idea that earns less than {LEAST_POINTS:g} point of agreement on every set and "
        f"less than {LEAST_ROWS} rows of coverage goes."
    )
    return verdict(
        not go,
        f"{len(others) - len(go)} of {len(others)} ideas earn their place"
        + (f"; these go: {'; '.join(go)}" if go else ""),
    )
