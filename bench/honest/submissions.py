"""Do honest submissions pass? A thousand of them, measured under all kinds of circumstances.

A submission is a figure with its recording; those of one lab are made together. A student who is
told that a run gives no figure, or that its interval is as wide as its value, runs it again, as the
kit says; what that takes is counted, and what a machine cannot show is left out. The figure is then
taken off the run, rounded, put into one unit or another, and checked as in the notebook. Where the
check says only that the interval is as wide as the value, the student measures the lab again; the
share in full before that is printed too. What is then handed in must get full marks, and nothing
may be found against it.
"""

from __future__ import annotations

import random
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from bench import machine
from bench.honest import circumstances
from bench.honest.circumstances import COUNTERS, Circumstance
from bench.honest.figures import CannotMeasure, concluded, estimate_of, read_off
from bench.report import must_hold, say, verdict
from grader.figures import LABS
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Level, Outcome, Verdict
from grader.judging.lab_folder import check_folder
from grader.pitfalls import pitfall_named
from labs.analysis.confidence import Estimate
from labs.analysis.thresholds import AS_WIDE_AS_VALUE
from labs.course import figures
from labs.limits import MOST_RECORDING_ROWS
from labs.notebook import ckernel_magic
from labs.recording.file import Recording
from labs.results.result import Result, result_of
from labs.run import broken, measure
from labs.run.variants import has_first_time
from support.paths import REPOSITORY

RUNS, RUNS_QUICK = 1_000, 48
LEAST_FULL, MOST_FALSE, MOST_FLAGGED = 0.995, 0.005, 2
MOST_AGAIN = 5
SMALLEST = 200  # samples of a variant
TOO_WIDE = "interval-as-wide-as-value"

NOTEBOOKS = REPOSITORY / "notebooks"

#: Of every hundred submissions so many are measured like this.
SHARES: dict[Circumstance, int] = {
    Circumstance("quiet"): 28,
    Circumstance("2 busy processes", busy=2): 12,
    Circumstance("4 busy processes", busy=4): 9,
    Circumstance("8 busy processes", busy=8): 6,
    Circumstance("emulated aarch64", emulated=True): 3,
    **{Circumstance(f"counter: {each.name}", counter=each): 7 for each in COUNTERS},
}


@dataclass
class Tally:
    """What became of the submissions made under one circumstance, figure by figure."""

    made: int = 0
    full: int = 0
    first: int = 0  # in full at the first check
    told: int = 0  # labs measured again because of the check
    false: int = 0
    flagged: int = 0
    again: int = 0
    no_figure: int = 0
    wrong: list[str] = field(default_factory=list)


def run(quick: bool) -> bool:
    """All labs in turn, under every circumstance."""
    runs = RUNS_QUICK if quick else RUNS
    must_hold(
        f"of {runs:,} honest submissions {LEAST_FULL:.1%} get full marks, and at most "
        f"{MOST_FLAGGED} a flag"
    )
    tallies = {circumstance: Tally() for circumstance in SHARES}
    for circumstance, share in SHARES.items():
        tally, number = tallies[circumstance], 0
        most = max(round(runs * share / sum(SHARES.values())), 1)
        with machine.busy(circumstance.busy):
            while tally.made < most and number < most:
                _one(circumstance, number, tally)
                number += 1
        say(
            f"   {circumstance.name:<22}{tally.made:>5} made, {tally.full:>4} in full,"
            f" {tally.false:>3} falsely accused, {tally.flagged:>2} flagged,"
            f" {tally.again:>3} runs made again, {tally.told:>2} labs after the check,"
            f" {tally.no_figure:>2} times no figure"
        )
        for message in tally.wrong[:8]:
            say(f"      {message}")
    made = sum(tally.made for tally in tallies.values())
    full = sum(tally.full for tally in tallies.values()) / made
    first = sum(tally.first for tally in tallies.values()) / made
    false = sum(tally.false for tally in tallies.values()) / made
    flagged = sum(tally.flagged for tally in tallies.values())
    return verdict(
        full >= LEAST_FULL and false <= MOST_FALSE and flagged <= MOST_FLAGGED,
        f"{full:.1%} of {made:,} in full, {first:.1%} at the first check; "
        f"{false:.1%} with a false finding of provenance or validity; {flagged} flagged",
    )


def _one(circumstance: Circumstance, number: int, tally: Tally) -> None:
    lab = list(LABS)[number % len(LABS)]
    chance = random.Random(f"{circumstance.name} {number}")
    first: int | None = None
    for _ in range(MOST_AGAIN):
        with tempfile.TemporaryDirectory() as folder:
            try:
                made = submission(lab, circumstance, chance, Path(folder))
            except circumstances.NoEmulator as why:
                tally.wrong[:] = [f"left out: {why}"]
                return
            verdicts = judged(Path(folder), lab, made)
        in_full = sum(each.outcome is Outcome.PASSED for each in verdicts)
        first = in_full if first is None else first
        if not any(map(_asks_for_another_run, verdicts)):
            break
        tally.told += 1
    tally.first += first or 0
    tally.made += len(verdicts)
    tally.again += made.again
    tally.no_figure += len(made.left_out)
    tally.wrong += [f"left out: {why}" for why in made.left_out]
    for each in verdicts:
        tally.full += each.outcome is Outcome.PASSED
        tally.flagged += bool(each.flags)
        tally.wrong += [f"{each.figure}: flag: {flag}" for flag in each.flags]
        levels = {finding.level for finding in each.findings}
        tally.false += bool(levels & {Level.PROVENANCE, Level.VALIDITY})
        evidence = [f"{finding.code}: {finding.evidence}" for finding in each.findings]
        if each.outcome is not Outcome.PASSED:
            tally.wrong += [f"{each.figure}: {words}" for words in evidence or [each.reason]]


def _asks_for_another_run(verdict: Verdict) -> bool:
    """Whether nothing is found but a wide interval: the finding says to measure again."""
    return [finding.code for finding in verdict.findings] == [TOO_WIDE]


@dataclass
class Made:
    """A submission: its figures, the runs that had to be made again, what cannot be shown."""

    handed_in: list[str] = field(default_factory=list)
    again: int = 0
    left_out: list[str] = field(default_factory=list)


def judged(folder: Path, lab: str, made: Made) -> list[Verdict]:
    """The verdicts on the figures that were handed in."""
    return [each for each in check_folder(folder, lab) if each.figure in made.handed_in]


def submission(
    lab: str,
    circumstance: Circumstance,
    chance: random.Random,
    folder: Path,
    *,
    short: bool = False,
) -> Made:
    """Lay the honest figures of `lab` into `folder`, with their recordings: short ones if wished.

    Raises NoEmulator.
    """
    made = Made()
    recordings: dict[tuple[Any, ...], tuple[str, Recording]] = {}
    operands: dict[str, Estimate] = {}
    for spec in sorted(LABS[lab], key=lambda spec: bool(spec.of)):
        name = None
        try:
            if spec.of:
                value, unit = concluded(spec, tuple(operands[each] for each in spec.of))
            else:
                plan = plan_of(spec, circumstance, chance)
                if short:
                    warmup = plan.warmup if has_first_time(plan) else 10
                    plan = replace(plan, samples=SMALLEST, processes=5, warmup=warmup)
                key = (plan.kernel, plan.source, plan.variants, plan.flags, _run_number(spec))
                if key not in recordings:
                    recording, again = recorded(spec, plan, circumstance, chance)
                    made.again += again
                    recordings[key] = (_saved(spec, plan, recording, folder), recording)
                name, recording = recordings[key]
                value, unit = read_off(spec, recording, chance)
                operands[spec.id] = estimate_of(spec, recording)
        except CannotMeasure as why:
            made.left_out.append(str(why))
            continue
        except KeyError:  # it relates a figure that was left out, and is left out with it
            continue
        figures.put(folder, figures.Figure(spec.id, value, unit, name))
        made.handed_in.append(spec.id)
    return made


def _run_number(spec: FigureSpec) -> int:
    """Which run of the same variants a figure is from: two that are compared are of two runs."""
    compared = {name for each in LABS[spec.lab] if spec.id in each.of for name in each.of}
    alike = [
        each.id
        for each in LABS[spec.lab]
        if each.id in compared and (each.kernel, each.variants) == (spec.kernel, spec.variants)
    ]
    return alike.index(spec.id) if spec.id in alike else 0


def _saved(spec: FigureSpec, plan: measure.Plan, recording: Recording, folder: Path) -> str:
    name = f"recordings/{spec.id}.csv"
    recording.write(folder / name)
    if plan.source is not None:
        (folder / name).with_suffix(".c").write_text(plan.source, encoding="utf-8")
    return name


def plan_of(spec: FigureSpec, circumstance: Circumstance, chance: random.Random) -> measure.Plan:
    if spec.demonstrates:  # asked for is a mistake: the honest student makes it as it is given
        return broken.find(pitfall_named(spec.demonstrates).broken[0].kernel).plan()
    asked = spec.flags
    flags = (asked,) if asked else (chance.choice(["-O2", "-O2", "-O0"]),)
    if spec.own:
        plan = _own_plan(spec)
        plan = replace(plan, samples=chance.choice([400, 1_000, 4_000]))
    else:
        names = tuple(dict.fromkeys((*spec.variants, *spec.compare_with)))
        # Baselines are measured along: at the most twice as many rows as were asked for.
        most = MOST_RECORDING_ROWS // (2 * len(names) + 1)
        samples = min(circumstances.samples_for(spec.kernel, chance), most)
        plan = measure.Plan(spec.kernel, names, samples=max(samples, SMALLEST), flags=flags)
    if circumstance.emulated:
        return replace(plan, samples=min(plan.samples, 400))
    return circumstances.placed_at_random(plan, chance)


def _own_plan(spec: FigureSpec) -> measure.Plan:
    """The author's own solution of the exercise in C, as its cell asks for it to be run."""
    path = NOTEBOOKS / spec.lab / f"{spec.lab}.ipynb"
    if not path.is_file():
        raise CannotMeasure(f"{spec.id}: there is no notebook {spec.lab}")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        line, _, text = cell.source.partition("\n")
        if re.match(rf"%%ckernel {spec.kernel}\b", line):
            return ckernel_magic.plan_of_cell(line.removeprefix("%%ckernel"), text)
    raise CannotMeasure(f"{spec.id}: no cell '%%ckernel {spec.kernel}' in the notebook")


def recorded(
    spec: FigureSpec, plan: measure.Plan, circumstance: Circumstance, chance: random.Random
) -> tuple[Recording, int]:
    """A recording that gives its figures, and how often it was made again."""
    why = ""
    for again in range(MOST_AGAIN + 1):
        try:
            recording = (
                circumstances.emulated(plan) if circumstance.emulated else circumstances.real(plan)
            )
        except RuntimeError as error:
            if isinstance(error, circumstances.NoEmulator):
                raise
            raise CannotMeasure(f"{spec.id}: {error}") from error
        if circumstance.counter is not None:
            seed = chance.randrange(2**31)
            recording = circumstances.seen_by(recording, circumstance.counter, seed)
        if spec.demonstrates:
            return recording, again
        results = [result_of(recording, name) for name in spec.variants]
        beside = [
            result_of(recording, name) for name in spec.compare_with if name in recording.variants
        ]
        missing = [each.no_figure for each in (*results, *beside) if each.estimate is None]
        # What is compared may be next to nothing, as an inlined procedure is.
        if not missing and not spec.may_be_nothing and spec.quantity is not Quantity.CHOICE:
            missing = [too_wide for each in results if (too_wide := _too_wide(each))]
        if not missing:
            return recording, again
        why = f"{spec.id}: {missing[0]}"
    raise CannotMeasure(why)


def _too_wide(result: Result) -> str:
    """The warning of a run after which an honest student measures again; '' without it."""
    if result.estimate is None or result.estimate.is_believable(AS_WIDE_AS_VALUE):
        return ""
    return next((f"{each}" for each in result.warnings if each.code == "not-believable"), "")
