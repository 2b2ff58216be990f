"""Every released variant twelve times: do runs of the same thing agree within their intervals?

Quiet and while another CPU is kept busy, one round of all variants after the other, so that the
runs of a variant are spread over the whole benchmark. Two runs agree where their values differ by
less than their combined interval. They are compared in core cycles where the recording knows how
long one is, and in ns otherwise and for first times; a time in ns follows the core's clock speed,
and is shown beside. An interval so wide that everything agrees would be worth nothing: the share of
runs whose interval is wider than 15 % is printed too. So is the number of runs that shared the core
from end to end: their intervals reach down to what a whole core might take, and agree with nearly
anything.

With `--spread`, the processes of all C kernels take turns, so each run of a round sees the states
of the machine during the whole round, about a minute. A run alone sees those of a second or two.

The variants of a C kernel share one recording, first times apart. Without rounds of the core's
width, a run may not blame a neighbour where the other variants of its recording show none.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench import machine
from bench.report import must_hold, say, verdict
from bench.table import show
from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.c_kernels import catalogue, toolchain
from labs.recording import declared
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run import variants
from labs.run.measure import Plan, measure_in_turns_now

RUNS, RUNS_QUICK = 12, 4
#: Of the pairs of runs of a variant in one state, this share must agree.
LEAST = 0.9
#: An interval is wide from this share of its value on, from low to high.
WIDE = 0.15
#: Warnings that put the blame on a neighbour.
BLAMING = frozenset({"shared-core", "processes-differ"})
ON_BOTH_CPUS = frozenset({declared.Placement.TWO_CPUS, declared.Placement.CPUS_IN_TURN})
#: `python -m bench ladder` compares it with another tool: its many sizes of memory take long.
LEFT_TO_OTHERS = frozenset({"memory_ladder"})
KERNELS = tuple(name for name in catalogue.names() if name not in LEFT_TO_OTHERS)
#: Fewer samples than a C kernel takes by itself, where a round would take minutes.
FEWER = {"task_creation": 200, "switch_footprint": 200}
#: What takes hours in so many runs: more tasks than this, and variants whose names end so.
LEFT_OUT = ("256mb", "1gb")
MOST_TASKS = 4


@dataclass(frozen=True)
class Job:
    """Variants of a C kernel that one recording can hold. Those that run `on_both_cpus` have no
    other CPU that could be busy: each wake-up would wait for the end of a time slice."""

    plan: Plan
    label: str = ""
    on_both_cpus: bool = False


@dataclass
class Seen:
    """What the runs of one variant gave in one state of the machine."""

    judged: list[Estimate] = field(default_factory=list)
    in_ns: list[Estimate] = field(default_factory=list)
    runs: int = 0
    no_figure: str = ""
    shared: int = 0
    blamed: int = 0


def run(quick: bool, kernels: Sequence[str] = (), *, spread: bool = False) -> bool:
    """Both states of the machine in every round; of these C kernels where some are named."""
    runs = RUNS_QUICK if quick else RUNS
    must_hold(
        f"{runs} runs of every variant, quiet and with another CPU busy: {LEAST:.0%} of the pairs "
        "agree, and no run blames a neighbour without evidence"
    )
    jobs = list(_jobs(kernels or (KERNELS[:2] if quick else KERNELS)))
    allowed = machine.cpus()
    states = ["quiet", "busy"] if len(allowed) > 1 else ["quiet"]
    seen: dict[tuple[str, str], Seen] = defaultdict(Seen)
    for number in range(runs):
        say(f"   round {number + 1} of {runs}")
        for state in states:
            mine = [job for job in jobs if not (state == "busy" and job.on_both_cpus)]
            busy = machine.busy(1, allowed[0]) if state == "busy" else contextlib.nullcontext()
            with busy:
                for together in [mine] if spread else [[job] for job in mine]:
                    _measured(together, state, seen)
    return _judged(seen)


def _measured(jobs: Sequence[Job], state: str, seen: dict[tuple[str, str], Seen]) -> None:
    """Measure these in turns, and keep what they gave."""
    try:
        recordings = measure_in_turns_now([job.plan for job in jobs])
    except (RuntimeError, OSError) as error:
        say(f"   {', '.join(dict.fromkeys(job.plan.kernel for job in jobs))}: {error}")
        return
    for recording, job in zip(recordings, jobs, strict=True):
        _add(recording, job, state, seen)


def _jobs(kernels: Sequence[str]) -> Iterator[Job]:
    """What is measured in a round; names what is not."""
    for kernel in kernels:
        listed = variants.of_kernel(kernel)
        # A reading without a fence times less than nothing, which is what it is there to show.
        listed = tuple(each for each in listed if not each.declared.unfenced)
        missing = [f"{each.name} ({each.missing})" for each in listed if each.missing]
        if missing:
            say(f"   {kernel}: this machine cannot measure {'; '.join(missing)}")
        possible = [each.name for each in listed if not each.missing]
        names = [name for name in possible if not _takes_hours(kernel, name)]
        if len(names) < len(possible):
            say(
                f"   {kernel}: {len(possible) - len(names)} variants are left out, which take "
                f"hours: more than {MOST_TASKS} tasks, or {' and '.join(LEFT_OUT)}"
            )
        samples = FEWER.get(kernel) or variants.samples_of(kernel)
        both = [each.name for each in listed if each.declared.placement in ON_BOTH_CPUS]
        # Only the first sample of a process is cold, of whichever variant.
        alone = [
            each.name for each in listed if each.declared.estimand is declared.Estimand.FIRST_TIME
        ]
        groups = _that_one_run_can_hold([name for name in names if name not in (*both, *alone)])
        for group in (*groups, *((name,) for name in names if name in alone)):
            yield Job(Plan(kernel, group, samples=samples))
        if on_both := tuple(name for name in names if name in both):
            yield Job(Plan(kernel, on_both, samples=samples), on_both_cpus=True)
        if kernel == "procedure_call":
            flags = tuple("-O0" if flag == "-O2" else flag for flag in toolchain.DEFAULT_FLAGS)
            yield Job(Plan(kernel, ("args5",), samples=samples, flags=flags), " -O0")


def _takes_hours(kernel: str, variant: str) -> bool:
    if kernel == "switch_footprint" and variant.startswith(("processes-", "threads-")):
        return int(variant.split("-")[1]) > MOST_TASKS
    return variant.endswith(LEFT_OUT)


def _that_one_run_can_hold(names: Sequence[str]) -> list[tuple[str, ...]]:
    """A process that forks has one size of memory: each size is a run of its own."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        last = name.rsplit("-", 1)[-1]
        groups[last if last.endswith("mb") else ""].append(name)
    return [tuple(group) for group in groups.values()]


def _add(recording: Recording, job: Job, state: str, seen: dict[tuple[str, str], Seen]) -> None:
    evidence = bool(recording.condition("core_width"))
    blaming: dict[str, Seen] = {}
    for name in job.plan.variants:
        mine = seen[f"{recording.kernel} {name}{job.label}", state]
        first = declared.is_first_time(recording, name)
        known = recording.clock(name).core_cycle_ticks is not None
        result = result_of(recording, name, "cycles" if known and not first else "ns")
        mine.runs += 1
        mine.shared += result.line is not None and result.line.shared
        if result.estimate is None:
            mine.no_figure = result.no_figure
        else:
            mine.judged.append(result.estimate)
            mine.in_ns.append(result.estimate.into("ns", result.clock))
        if not evidence and BLAMING & {warning.code for warning in result.warnings}:
            blaming[name] = mine
    if len(blaming) < len(job.plan.variants):
        for mine in blaming.values():
            mine.blamed += 1


def _judged(seen: dict[tuple[str, str], Seen]) -> bool:
    rows, outside, blamed = [], [], 0
    for (name, state), mine in sorted(seen.items()):
        blamed += mine.blamed
        share, row = _row(mine.judged)
        if share < LEAST:
            outside.append(f"{name} {state} {share:.0%}")
        in_ns = _row(mine.in_ns)[1]
        figures = f"{len(mine.judged)} of {mine.runs}"
        unit = mine.judged[0].unit if mine.judged else ""
        of_runs = (name, state, figures, str(mine.shared))
        rows.append((*of_runs, row[0], unit, *row[1:], in_ns[0], in_ns[1]))
    show(
        ("variant", "state", "figures", "shared", "agree", "unit", "median", "least", "most",
         "half width", "wide", "agree in ns", "median ns"),
        rows,
    )  # fmt: skip
    for (name, state), mine in sorted(seen.items()):
        if mine.no_figure:
            say(f"   {name}, {state}: no figure, for example: {mine.no_figure}")
    if outside:
        say(f"   below {LEAST:.0%}: {'; '.join(outside)}")
    held = not outside and not blamed
    return verdict(
        held,
        f"{len(rows) - len(outside)} of {len(rows)} agree; "
        f"{blamed} runs blame a neighbour without evidence",
    )


def _row(estimates: Sequence[Estimate]) -> tuple[float, tuple[str, ...]]:
    """The share of pairs that agree, and the row of the table; 1 where there is no pair."""
    if not estimates:
        return 1.0, ("", "", "", "", "", "")
    agree = [
        low <= 0 <= high
        for one, other in itertools.combinations(estimates, 2)
        for _, low, high in (compare.difference(one, other),)
    ]
    share = sum(agree) / len(agree) if agree else 1.0
    values = [estimate.value for estimate in estimates]
    wide = [estimate.high - estimate.low > WIDE * abs(estimate.value) for estimate in estimates]
    return share, (
        f"{share:.0%}",
        f"{statistics.median(values):,.4g}",
        f"{min(values):,.4g}",
        f"{max(values):,.4g}",
        f"{statistics.median(estimate.half_width for estimate in estimates):,.2g}",
        f"{sum(wide) / len(wide):.0%}",
    )
