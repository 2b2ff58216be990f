"""`labs compare A B`: measure two things in turns, and say by how much they differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labs.c_kernels import toolchain
from labs.commands import measure
from labs.commands.measure import FAILED, IMPOSSIBLE, USAGE
from labs.commands.said import complain
from labs.common.files import CannotWrite
from labs.common.messages import Refused
from labs.common.spelling import suggestion
from labs.common.terminal import say, say_json
from labs.common.units import UnknownUnit, canonical
from labs.languages.words import words
from labs.recording.declared import Estimand
from labs.recording.file import BadRecording, Recording
from labs.results import remarks, results_compared
from labs.results.result import Result, result_of
from labs.results.results_compared import compared, names_of
from labs.run import c_process, options, variants
from labs.run.measure import BadPlan, Plan
from labs.run.plan import must_not_replace_other_c

_ONE_MISSING = (
    "without both figures there is no comparison; the line above says why there is no figure, and "
    "`labs measure` with that variant alone shows its warnings"
)


@dataclass(frozen=True)
class Side:
    """One of the two: a C kernel or a `.c` file, and its variant, which may measure first calls."""

    kernel: str
    variant: str
    first_time: bool


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; status 1 if one of the two has no figure, and 130 after Control-C."""
    try:
        unit = canonical(arguments.unit)
        sides = [_side(word, arguments) for word in (arguments.a, arguments.b)]
        plans = _plans(sides, arguments)
        paths = _paths(arguments.save, plans)
        recordings, ended = measure.carry_out_or_keep(plans, unit)
        # One recording holds both variants if they come from one plan.
        pair = zip((recordings[0], recordings[-1]), sides, strict=True)
        results = [result_of(recording, side.variant, unit) for recording, side in pair]
    except (BadRecording, c_process.RunFailed) as error:
        impossible = isinstance(error, c_process.RunFailed) and error.impossible_here
        return _stop(error, IMPOSSIBLE if impossible else FAILED)
    except (BadPlan, UnknownUnit, FileNotFoundError, ValueError) as error:
        return _stop(error, USAGE)
    except Refused as refused:
        return _stop(ValueError(refused.message.heading), USAGE)
    except (toolchain.NoCompiler, toolchain.CompileError, OSError) as error:
        return _stop(error, FAILED)
    problem = _save(plans, recordings, paths)
    saved = [str(path) for path in paths] if problem is None else []
    status = _print(results, sides, saved, arguments)
    # The figures are already printed, so the run is not lost if the disk is full.
    return _stop(problem, FAILED) if problem is not None else ended or status


def _side(word: str, arguments: argparse.Namespace) -> Side:
    """What `KERNEL`, `KERNEL:variant`, `FILE.c` or `FILE.c:variant` names.

    Raises ValueError for a variant that is not listed, and the errors of `variants.of_plan`.
    """
    kernel, colon, variant = word.rpartition(":")
    if not colon or Path(word).is_file():
        kernel, variant = word, ""
    listed = variants.of_plan(_plan(kernel, "", arguments))
    names = tuple(each.name for each in listed)
    if colon and kernel != word and variant not in names:
        raise ValueError(f"{kernel} has no variant {variant!r}{suggestion(variant, names)}")
    chosen = next(each for each in listed if each.name == (variant or names[0]))
    return Side(kernel, chosen.name, chosen.declared.estimand is Estimand.FIRST_TIME)


def _plans(sides: Sequence[Side], arguments: argparse.Namespace) -> tuple[Plan, ...]:
    """One plan with both variants where they can share their processes, else two plans.

    In one process both meet the same place in memory and the same clock, so more cancels. A first
    call takes part in no process but its own. The same variant twice shows what chance does.
    """
    one, other = sides
    kernels = [toolchain.c_kernel_source(side.kernel).resolve() for side in sides]
    together = kernels[0] == kernels[1] and one.variant != other.variant
    if together and not (one.first_time or other.first_time):
        plans = [_plan(one.kernel, f"{one.variant},{other.variant}", arguments)]
    else:
        plans = [_plan(side.kernel, side.variant, arguments) for side in sides]
    for plan in plans:
        plan.check()
    return tuple(plans)


def _plan(kernel: str, variant: str, arguments: argparse.Namespace) -> Plan:
    stated = {**vars(arguments), "kernel": kernel, "variant": variant}
    if not variant and stated["samples"] is None:
        stated["samples"] = 1  # only its list is asked for
    return options.plan_of_line(argparse.Namespace(**stated))


def _paths(folder: Path | None, plans: Sequence[Plan]) -> list[Path]:
    """Where the recordings go; none if they are not saved. Raises BadPlan."""
    if folder is None:
        return []
    names = ("both",) if len(plans) == 1 else ("a", "b")
    paths = [folder / f"{name}.csv" for name in names]
    for plan, path in zip(plans, paths, strict=True):
        measure.must_have_place(path)
        must_not_replace_other_c(plan, path)
    return paths


def _save(
    plans: Sequence[Plan], recordings: Sequence[Recording], paths: Sequence[Path]
) -> Exception | None:
    """Save each recording, and return what prevented it."""
    try:
        for plan, recording, path in zip(plans, recordings, paths, strict=False):
            measure.save(plan, recording, path)
    except (CannotWrite, ValueError) as error:
        return error
    return None


def _print(
    results: Sequence[Result],
    sides: Sequence[Side],
    saved: Sequence[str],
    arguments: argparse.Namespace,
) -> int:
    files = (sides[0].kernel, sides[1].kernel)
    told = _sentences(results, files)
    if any(each.estimate is None for each in results):
        for sentence in told:
            say(words(sentence), file=sys.stderr)
        return _stop(ValueError(_ONE_MISSING), FAILED)
    found = compared(results[0], results[1], files=files)
    if arguments.json:
        places = (saved[0], saved[-1]) if saved else (None, None)
        say_json(results_compared.as_json(found, results, places))
        return 0
    if arguments.csv or arguments.markdown:
        form = results_compared.as_csv if arguments.csv else results_compared.as_markdown
        say(form(found, results))
        for warning in remarks.of_results(results).warnings:
            say(warning, file=sys.stderr)
        return 0
    for sentence in told:
        say(words(sentence))
    for line in remarks.of_results(results).as_lines():
        say(f"  {line}")
    for sentence in results_compared.in_sentences(found):
        say(words(sentence))
    for path in saved:
        say(f"  {words('recording')}: {path}")
    return 0


def _sentences(results: Sequence[Result], files: tuple[str, str]) -> list[str]:
    """The sentence of each result, under a name of its own."""
    one, other = results
    if (one.recording.kernel, one.variant) != (other.recording.kernel, other.variant):
        return [one.sentence(), other.sentence()]
    names = names_of(one, other, ("", ""), files)
    return [one.sentence(names[0]), other.sentence(names[1])]


def _stop(error: Exception, status: int) -> int:
    complain("labs compare", error)
    return status
