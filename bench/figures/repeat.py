"""Every released variant twelve times: do runs of the same thing agree within their intervals?

Quiet and while another CPU is kept busy, one round of all variants after the other, so that the
runs of a variant are spread over the whole benchmark. Two runs agree where their values differ by
less than their combined interval. They are compared in core cycles where the recording knows how
long one is, and in ns otherwise and for first times. At another clock speed a call takes another
time, and a load from memory other core cycles. `lab.compare`, and a run that is saved over an
earlier one, find a difference only if both units show it: the pairs that agree in one of them are
printed too.

Of all pairs in a state, nine in ten must agree. Single variants are listed below that: even if all
intervals were perfect, some would lie there, because one odd run is part of 11 of 66 pairs. How
many is computed and printed beside.

An interval so wide that everything agrees would be worth nothing: the share of runs whose interval
is wider than 15 % is printed too. So is the number of runs that shared the core from end to end:
their intervals reach down to what a whole core might take, and agree with nearly anything.

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

import numpy as np

from bench import machine
from bench.report import must_hold, say, verdict
from bench.table import show
from labs.analysis import compare
from labs.analysis.estimate import Estimate
from labs.analysis.student_t import student_t
from labs.c_kernels import catalogue, toolchain
from labs.recording import declared
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run import variants
from labs.run.measure import Plan, measure_in_turns_now

RUNS, RUNS_QUICK = 12, 4
#: Of all pairs of runs in one state, this share must agree.
LEAST = 0.9
#: A variant below this share has something that differs from run to run and is in no interval.
#: Perfect intervals hardly ever put one there.
NEVER_BY_CHANCE = 0.75
#: An interval is wide from this share of its value on, from low to high.
WIDE = 0.15
#: A run has so many processes.
PROCESSES = Plan.processes
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

    in_ns: list[Estimate] = field(default_factory=list)
    in_cycles: list[Estimate] = field(default_factory=list)
    runs: int = 0
    no_figure: str = ""
    shared: int = 0
    blamed: int = 0


def run(quick: bool, kernels: Sequence[str] = (), *, spread: bool = False) -> bool:
    """Both states of the machine in every round; of these C kernels where some are named."""
    runs = RUNS_QUICK if quick else RUNS
    must_hold(
        f"{runs} runs of every variant, quiet and with another CPU busy: {LEAST:.0%} of all pairs "
        "agree in each state, and no run blames a neighbour without evidence"
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
        known = recording.clock(name).core_cycle_ticks is not None
        result = result_of(recording, name, "ns")
        mine.runs += 1
        mine.shared += result.line is not None and result.line.shared
        if result.estimate is None:
            mine.no_figure = result.no_figure
        elif declared.is_first_time(recording, name) or not known:
            mine.in_ns.append(result.estimate)
        else:
            cycles = result_of(recording, name, "cycles").estimate
            if cycles is not None:
                mine.in_ns.append(result.estimate)
                mine.in_cycles.append(cycles)
        if not evidence and BLAMING & {warning.code for warning in result.warnings}:
            blaming[name] = mine
    if len(blaming) < len(job.plan.variants):
        for mine in blaming.values():
            mine.blamed += 1


def _judged(seen: dict[tuple[str, str], Seen]) -> bool:
    rows, outside, blamed = [], [], 0
    pairs: dict[str, list[bool]] = defaultdict(list)
    for (name, state), mine in sorted(seen.items()):
        blamed += mine.blamed
        in_ns, in_cycles = _agree(mine.in_ns), _agree(mine.in_cycles)
        agree = in_cycles or in_ns
        in_either = [any(each) for each in zip(in_ns, agree, strict=True)]
        pairs[state] += agree
        if agree and _share(agree) < LEAST:
            outside.append((_share(agree), f"{name} {state}"))
        shown = mine.in_cycles or mine.in_ns
        figures = f"{len(shown)} of {mine.runs}"
        shares = (_percent(agree), _percent(in_ns), _percent(in_either))
        of_ns = f"{statistics.median(x.value for x in mine.in_ns):,.4g}" if mine.in_ns else ""
        rows.append((name, state, figures, str(mine.shared), *shares, *_row(shown), of_ns))
    show(
        ("variant", "state", "figures", "shared", "agree", "in ns", "in either", "unit", "median",
         "least", "most", "half width", "wide", "median ns"),
        rows,
    )  # fmt: skip
    for (name, state), mine in sorted(seen.items()):
        if mine.no_figure:
            say(f"   {name}, {state}: no figure, for example: {mine.no_figure}")
    for limit in (LEAST, NEVER_BY_CHANCE):
        below = [f"{name} {share:.0%}" for share, name in outside if share < limit]
        say(f"   below {limit:.0%}: {len(below)} of {len(rows)}; {'; '.join(below) or 'none'}")
        by_chance = _by_chance(max(mine.runs for mine in seen.values()), limit)
        say(f"   (with perfect intervals {by_chance * len(rows):.0f} of {len(rows)})")
    in_states = {state: _share(agree) for state, agree in pairs.items()}
    held = min(in_states.values()) >= LEAST and not blamed
    by_state = ", ".join(f"{share:.1%} {state}" for state, share in sorted(in_states.items()))
    return verdict(
        held,
        f"of all pairs agree {by_state}; {len(rows) - len(outside)} of {len(rows)} variants with "
        f"{LEAST:.0%} or more; {blamed} runs blame a neighbour without evidence",
    )


def _agree(estimates: Sequence[Estimate]) -> list[bool]:
    """Whether each pair of these estimates agrees, in the order of `itertools.combinations`."""
    return [
        low <= 0 <= high
        for one, other in itertools.combinations(estimates, 2)
        for _, low, high in (compare.difference(one, other),)
    ]


def _share(agree: Sequence[bool]) -> float:
    return sum(agree) / len(agree)


def _percent(agree: Sequence[bool]) -> str:
    return f"{_share(agree):.0%}" if agree else ""


def _row(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """The unit of these estimates, the middle and the ends of their values, and their widths."""
    if not estimates:
        return ("",) * 6
    values = [estimate.value for estimate in estimates]
    wide = [estimate.high - estimate.low > WIDE * abs(estimate.value) for estimate in estimates]
    return (
        estimates[0].unit,
        f"{statistics.median(values):,.4g}",
        f"{min(values):,.4g}",
        f"{max(values):,.4g}",
        f"{statistics.median(estimate.half_width for estimate in estimates):,.2g}",
        f"{sum(wide) / len(wide):.0%}",
    )


def _by_chance(runs: int, limit: float) -> float:
    """The share of variants below the `limit` if all intervals were perfect.

    The values of ten processes are normal, and nothing differs from run to run (4,000 variants).
    """
    values = np.random.default_rng(1).normal(size=(4_000, runs, PROCESSES))
    means = values.mean(axis=2)
    half = student_t(PROCESSES - 1) * values.std(axis=2, ddof=1) / PROCESSES**0.5
    one, other = np.triu_indices(runs, 1)
    agree = np.abs(means[:, one] - means[:, other]) <= np.hypot(half[:, one], half[:, other])
    return float((agree.mean(axis=1) < limit).mean())
