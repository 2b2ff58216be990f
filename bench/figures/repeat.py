"""Every released variant twelve times: do runs of the same thing agree within their intervals?

Quiet and while another CPU is kept busy, one round of all variants after the other, so that the
runs of a variant are spread over the whole benchmark. Two runs agree where their values differ by
less than their combined interval. They are compared in core cycles where the recording knows how
long one is, and in ns otherwise and for first times. At another clock speed a call takes another
time, and a load from memory other core cycles. `lab.compare`, and a run that is saved over an
earlier one, find a difference only if both units show it: the pairs that agree in one of them are
printed too.

Of all pairs, 93 % must agree on the quiet machine, and 90 % beside a busy CPU. Single variants are
listed below 90 %: even if all intervals were perfect, some would lie there, because one odd run is
part of 11 of 66 pairs. How many is computed and printed beside.

An interval so wide that everything agrees would be worth nothing: the median half-width must be at
most 4.5 % of the value, and the share of runs whose interval is wider than 15 % is printed too. So
is the number of runs that shared the core from end to end: the value of such a run is an upper
limit, and agrees with any smaller one.

With `--spread`, the processes of all C kernels take turns, so each run of a round sees the states
of the machine during the whole round, about a minute. A run alone sees those of a second or two.

The variants of a C kernel share one recording, first times apart. Without rounds of the core's
width, a run may not blame a neighbour where the other variants of its recording show none.

With `--settings`, twenty variants are measured with 1,000 and with 10,000 samples, and with batches
half as long, instead of all variants many times. A figure must not depend on how it was measured.
Of the batches half as long, fewer pairs must agree, and a pair is excused if one of the two runs
says that its samples lie on no line: then there is no cost to agree on.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bench import machine
from bench.report import must_hold, say, show, verdict
from labs.analysis.confidence import Estimate, difference, student_t
from labs.c_kernels import catalogue, toolchain
from labs.recording import declared
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.run import variants
from labs.run.measure import Plan, measure_in_turns_now, measure_now

RUNS, RUNS_QUICK = 12, 4
#: Of all pairs of runs in one state, this share must agree.
LEAST = {"quiet": 0.93, "busy": 0.9}
#: A variant below this share is named.
LEAST_OF_VARIANT = 0.9
#: The median of half the interval's width is at most this share of the value.
MOST_HALF_WIDTH = 0.045
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

#: The variants of `--settings`, from all C kernels.
OF_SETTINGS = {
    "timer_overhead": ("fenced", "monotonic"),
    "system_call": ("getppid", "read0", "setuid", "gettimeofday-trap"),
    "procedure_call": ("args0", "args8", "shared-object"),
    "task_creation": ("vfork", "pthread"),
    "process_switch": ("pipe-pinned", "eventfd-pinned"),
    "thread_switch": ("condvar", "futex"),
    "switch_footprint": ("processes-2-0",),
    "first_iteration": ("data-cache",),
    "page_fault": ("anonymous", "file"),
    "own_question": ("operation",),
}
FEW_SAMPLES, MANY_SAMPLES = 1_000, 10_000
SETTINGS_ROUNDS, SETTINGS_ROUNDS_QUICK = 4, 1
#: Of pairs with few and with many samples, and with batches half as long, this share must agree.
LEAST_OF_SAMPLES, LEAST_OF_BATCHES = 0.9, 0.85


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


def run(
    quick: bool, kernels: Sequence[str] = (), *, spread: bool = False, settings: bool = False
) -> bool:
    """Both states of the machine in every round; of these C kernels where some are named."""
    if settings:
        return _of_settings(quick, kernels)
    runs = RUNS_QUICK if quick else RUNS
    shares = ", ".join(f"{least:.0%} of all pairs agree {state}" for state, least in LEAST.items())
    must_hold(
        f"{runs} runs of every variant, quiet and with other CPUs busy: {shares}, the median "
        f"half-width is at most {MOST_HALF_WIDTH:.1%}, and no run blames a neighbour without "
        "evidence"
    )
    every = list(jobs(kernels or (KERNELS[:2] if quick else KERNELS)))
    seen: dict[tuple[str, str], Seen] = defaultdict(Seen)
    for number in range(runs):
        say(f"   round {number + 1} of {runs}")
        for state in LEAST if len(machine.cpus()) > 1 else ("quiet",):
            mine = [job for job in every if possible_in(state, job)]
            with in_state(state):
                for together in [mine] if spread else [[job] for job in mine]:
                    _measured(together, state, seen)
    return _judged(seen)


def possible_in(state: str, job: Job) -> bool:
    """Whether the job can be measured in this state of the machine."""
    return state == "quiet" or not job.on_both_cpus


@contextlib.contextmanager
def in_state(state: str) -> Iterator[None]:
    """A "quiet" machine as it is, or a "busy" one: on each CPU but the last, a program never sleeps
    while the block lasts."""
    with contextlib.ExitStack() as stack:
        for cpu in machine.cpus()[:-1] if state == "busy" else ():
            stack.enter_context(machine.busy(1, cpu))
        yield


def _measured(together: Sequence[Job], state: str, seen: dict[tuple[str, str], Seen]) -> None:
    """Measure these in turns, and keep what they gave."""
    try:
        recordings = measure_in_turns_now([job.plan for job in together])
    except (RuntimeError, OSError) as error:
        say(f"   {', '.join(dict.fromkeys(job.plan.kernel for job in together))}: {error}")
        return
    for recording, job in zip(recordings, together, strict=True):
        _add(recording, job, state, seen)


def jobs(kernels: Sequence[str]) -> Iterator[Job]:
    """What is measured in a round; prints what is not."""
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
        samples = FEWER.get(kernel) or variants.listing_of(Plan(kernel))[0].samples
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
        result = result_of(recording, name, "ns")
        mine.runs += 1
        mine.shared += result.line is not None and result.line.shared
        if result.estimate is None:
            mine.no_figure = result.no_figure
        elif unit_of(recording, name) == "ns":
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


def unit_of(recording: Recording, variant: str) -> str:
    """The unit in which runs of this variant are compared."""
    known = recording.clock(variant).core_cycle_ticks is not None
    return "cycles" if known and not declared.is_first_time(recording, variant) else "ns"


def _judged(seen: dict[tuple[str, str], Seen]) -> bool:
    rows, outside, blamed = [], [], 0
    pairs: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    for (name, state), mine in sorted(seen.items()):
        blamed += mine.blamed
        in_ns, in_cycles = agree(mine.in_ns), agree(mine.in_cycles)
        agreeing = in_cycles or in_ns
        in_either = [any(each) for each in zip(in_ns, agreeing, strict=True)]
        pairs[state] += agreeing
        if agreeing and _share(agreeing) < LEAST_OF_VARIANT:
            outside.append((_share(agreeing), f"{name} {state}"))
        shown = mine.in_cycles or mine.in_ns
        widths[state] += map(relative_half_width, shown)
        figures = f"{len(shown)} of {mine.runs}"
        percent = (_percent(agreeing), _percent(in_ns), _percent(in_either))
        of_ns = f"{statistics.median(x.value for x in mine.in_ns):,.4g}" if mine.in_ns else ""
        rows.append((name, state, figures, str(mine.shared), *percent, *_row(shown), of_ns))
    show(
        ("variant", "state", "figures", "shared", "agree", "in ns", "in either", "unit", "median",
         "least", "most", "half width", "wide", "median ns"),
        rows,
    )  # fmt: skip
    for (name, state), mine in sorted(seen.items()):
        if mine.no_figure:
            say(f"   {name}, {state}: no figure, for example: {mine.no_figure}")
    for limit in (LEAST_OF_VARIANT, NEVER_BY_CHANCE):
        below = [f"{name} {share:.0%}" for share, name in outside if share < limit]
        say(f"   below {limit:.0%}: {len(below)} of {len(rows)}; {'; '.join(below) or 'none'}")
        by_chance = _by_chance(max(mine.runs for mine in seen.values()), limit)
        say(f"   (with perfect intervals {by_chance * len(rows):.0f} of {len(rows)})")
    shares = {state: _share(agreeing) for state, agreeing in pairs.items()}
    middle = {state: statistics.median(each or [math.inf]) for state, each in widths.items()}
    held = not blamed and all(
        shares[state] >= LEAST[state] and middle[state] <= MOST_HALF_WIDTH for state in shares
    )
    by_state = ", ".join(
        f"{share:.1%} {state} (median half-width {middle[state]:.1%})"
        for state, share in sorted(shares.items())
    )
    return verdict(
        held,
        f"of all pairs agree {by_state}; {len(rows) - len(outside)} of {len(rows)} "
        f"variants with {LEAST_OF_VARIANT:.0%} or more; {blamed} runs blame a neighbour without "
        "evidence",
    )


def relative_half_width(estimate: Estimate) -> float:
    """Half of the interval's width as a share of the value."""
    return estimate.half_width / max(abs(estimate.value), 1e-300)


def agree(estimates: Sequence[Estimate]) -> list[bool]:
    """Whether each pair of these estimates agrees, in the order of `itertools.combinations`."""
    return [
        low <= 0 <= high
        for one, other in itertools.combinations(estimates, 2)
        for _, low, high in (difference(one, other),)
    ]


def _share(agreeing: Sequence[bool]) -> float:
    return sum(agreeing) / len(agreeing) if agreeing else 0.0


def _percent(agreeing: Sequence[bool]) -> str:
    return f"{_share(agreeing):.0%}" if agreeing else ""


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


@dataclass
class AtSettings:
    """The results of one variant, run by run: with few and with many samples, and with many samples
    of batches half as long."""

    few: list[Result] = field(default_factory=list)
    many: list[Result] = field(default_factory=list)
    halved: list[Result] = field(default_factory=list)


def _of_settings(quick: bool, kernels: Sequence[str]) -> bool:
    rounds = SETTINGS_ROUNDS_QUICK if quick else SETTINGS_ROUNDS
    must_hold(
        f"of all pairs of runs with {FEW_SAMPLES:,} and {MANY_SAMPLES:,} samples agree "
        f"{LEAST_OF_SAMPLES:.0%}; of those with batches of the usual length and half as long agree "
        f"{LEAST_OF_BATCHES:.0%}, or a run says that its samples lie on no line"
    )
    found: dict[str, AtSettings] = defaultdict(AtSettings)
    for number in range(rounds):
        say(f"   round {number + 1} of {rounds}")
        for kernel in kernels or OF_SETTINGS:
            for name in variants.possible(kernel, ",".join(OF_SETTINGS.get(kernel, ()))):
                try:
                    _measure_at_settings(kernel, name, found[f"{kernel} {name}"])
                except (RuntimeError, OSError) as error:
                    say(f"   {kernel} {name}: {error}")
    return _settings_judged(found)


def _measure_at_settings(kernel: str, name: str, found: AtSettings) -> None:
    """Measure a variant once at each of the settings."""
    few, many = (Plan(kernel, (name,), samples=each) for each in (FEW_SAMPLES, MANY_SAMPLES))
    recordings = [*measure_in_turns_now([few, many])]
    halves = _halves(recordings[1].samples(name).batch_sizes)
    if halves:
        recordings.append(measure_now(replace(many, batches=halves)))
    for recording, results in zip(recordings, (found.few, found.many, found.halved), strict=False):
        results.append(result_of(recording, name, unit_of(recording, name)))


def _halves(batches: Sequence[int]) -> tuple[int, ...]:
    """The halves of these batch sizes; none if fewer than two are left, which a line needs."""
    halves = sorted({size // 2 for size in batches if size != 1})
    return tuple(halves) if len([size for size in halves if size]) > 1 else ()


def _settings_judged(found: dict[str, AtSettings]) -> bool:
    rows = []
    of_samples: list[bool] = []
    of_batches: list[bool] = []
    for name, mine in found.items():
        samples = _agree_across(mine.few, mine.many)
        batches = _agree_across(mine.many, mine.halved, excused=True)
        of_samples += samples
        of_batches += batches
        medians = [_median(each) for each in (mine.few, mine.many, mine.halved)]
        bent = sum(_says_no_line(each) for each in (*mine.many, *mine.halved))
        rows.append((name, *medians, _percent(samples), _percent(batches), str(bent)))
    show(
        ("variant", f"{FEW_SAMPLES:,}", f"{MANY_SAMPLES:,}", "half batches", "samples agree",
         "batches agree", "no line"),
        rows,
    )  # fmt: skip
    across = (_share(of_samples), _share(of_batches))
    return verdict(
        across[0] >= LEAST_OF_SAMPLES and across[1] >= LEAST_OF_BATCHES,
        f"of {len(of_samples)} pairs across numbers of samples agree {across[0]:.1%}, of "
        f"{len(of_batches)} across lengths of batches {across[1]:.1%}",
    )


def _agree_across(
    ones: Sequence[Result], others: Sequence[Result], *, excused: bool = False
) -> list[bool]:
    """Whether each of `ones` agrees with each of the `others`, where both gave a figure.

    With `excused`, a run that says that its samples lie on no line contradicts nothing.
    """
    found = []
    for one, other in itertools.product(ones, others):
        if excused and (_says_no_line(one) or _says_no_line(other)):
            found.append(True)
        elif one.estimate is not None and other.estimate is not None:
            found += agree([one.estimate, other.estimate])
    return found


def _says_no_line(result: Result) -> bool:
    return result.line is not None and not result.line.straight


def _median(results: Sequence[Result]) -> str:
    values = [each.estimate.value for each in results if each.estimate is not None]
    return f"{statistics.median(values):,.4g} {results[0].unit}" if values else "no figure"


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
