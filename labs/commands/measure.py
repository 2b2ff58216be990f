"""`labs measure`, `labs record`, `labs compare` and `labs broken NAME`: measure and print.

`labs record` keeps the recording under a name that is free. `labs compare A B` measures two things
in turns, and says by how much they differ. `labs broken NAME` does so with a broken C kernel and
its repaired twin.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from labs import paths
from labs.c_kernels import toolchain
from labs.commands import outputs
from labs.commands.command_line import INTERRUPTED, complain
from labs.course import figures
from labs.course.account import with_account
from labs.course.figures import RECORDINGS
from labs.files import CannotWrite
from labs.messages import Refused
from labs.notebook.run_errors import EXPECTED, of_unknown_variants
from labs.recording.file import BadRecording, Recording
from labs.results import event_counts, remarks, results_compared, stopping
from labs.results.result import Result, result_of
from labs.results.results_compared import Comparison, beside_a_table, compared, names_of
from labs.run import c_process, declared_options, measure, variants
from labs.run.broken import BrokenKernel
from labs.run.measure import Plan
from labs.run.plan import LEAST_WITHIN, MOST_WITHIN, c_beside, must_not_replace_other_c
from labs.terminal import columns, say, say_json, say_result, suggestion
from labs.units import canonical

FAILED, USAGE, IMPOSSIBLE = 1, 2, 3
#: Without --within, processes of two programs are added up to so many of each. With 40, a hash that
#: is 1 % slower was found in 8 of 10 comparisons, and with 80 in all (`python -m bench a_or_b`).
PAIRS = 80
#: Of `labs compare --fail-if`: a CI reads them, and they stay.
SLOWER, CANNOT_TELL = 4, 5


def run_measure(arguments: argparse.Namespace) -> int:
    """Measure and print. The exit status says whether the run finished, not whether it is good.

    Of a run that Control-C ends, the processes that had finished are printed; the status is 130.
    """
    command = arguments.command
    try:
        unit = canonical(arguments.unit)
        plan = variants.plan_of_line(arguments)
        plan.check()
        if arguments.save is not None:
            must_have_place(arguments.save)
            must_not_replace_other_c(plan, arguments.save)
        (recording,), status = carry_out_or_keep((plan,), unit)
        results = [result_of(recording, name, unit) for name in plan.variants or (None,)]
    except BadRecording as error:
        why = f"the output of the C kernel cannot be used: {error}"
        return complain(f"labs {command}", why, USAGE)
    except c_process.RunFailed as error:
        unknown = of_unknown_variants(plan) if error.status == USAGE else None
        if unknown is not None:
            why = " ".join((f"{unknown.heading}.", *unknown.sentences))
            return complain(f"labs {command}", why, USAGE)
        return _stop(command, error, USAGE if error.status == USAGE else FAILED)
    except (Refused, *EXPECTED) as error:
        return _stop(command, error)
    saved: str | None = None
    contradicts: tuple[str, ...] = ()
    problem: Exception | None = None
    if arguments.save is not None:
        before = results_compared.saved_at(arguments.save)
        contradicts = results_compared.disagreements(before, results) if before is not None else ()
        problem = _save((plan,), (recording,), (arguments.save,))
        saved = str(arguments.save) if problem is None else None
    outputs.put(arguments.form, "measure", results, saved, warnings=beside_a_table(results))
    for sentence in contradicts:
        say(f"  {sentence}", file=sys.stdout if arguments.form == "text" else sys.stderr)
    # The figure is already printed, so the run is not lost if the disk is full.
    return complain(f"labs {command}", problem, FAILED) if problem is not None else status


def _stop(command: str, error: Exception, status: int = FAILED) -> int:
    """Report what ended a run; the exit status is `status` if it is neither a wrong option nor
    impossible here."""
    if isinstance(error, c_process.RunFailed) and error.impossible_here:
        status = IMPOSSIBLE
    elif isinstance(error, ValueError | FileNotFoundError | Refused):
        status = USAGE
    why = error.message.heading if isinstance(error, Refused) else error
    return complain(f"labs {command}", why, status)


def must_have_place(save: Path) -> None:
    """Raises BadPlan if the folder of `save` is not there, and figures.IsLinked.

    A lab's folder gets its `recordings`, as in a notebook. No other folder is made unasked: it may
    be a misspelt one, or belong to another folder than the current one.
    """
    folder = save.absolute().parent
    if save.is_dir():
        raise measure.BadPlan(f"--save {save} is a folder; name a file in it, as in run.csv")
    if folder.name == RECORDINGS:
        figures.must_not_be_linked(folder.parent)
    if folder.is_dir() or (folder.name == RECORDINGS and figures.is_of_lab(folder.parent)):
        return
    made = shlex.join(["mkdir", "-p", str(save.parent)])
    raise measure.BadPlan(f"--save {save}: there is no folder {save.parent}; make it: {made}")


def save(plan: measure.Plan, recording: Recording, path: Path) -> None:
    """Save the recording, and C of a student's own beside it.

    A recording with which a figure was handed in is kept under another name first, with its C.
    """
    folder, name = path.absolute().parent.parent, path.name.removesuffix(".csv")
    of_lab = path.absolute().parent.name == RECORDINGS and path.suffix == ".csv"
    if of_lab and (kept := figures.make_room(folder, name)) is not None:
        said = f"the recording that your figure names is now {kept}.csv"
        say(f"  {said}", file=sys.stderr)
    with_account(recording, path).write(path, c_beside(plan, recording, path))
    if of_lab:
        figures.forget_failure(folder, name)


def carry_out_or_keep(
    plans: Sequence[measure.Plan], unit: str, tells: stopping.Tells | None = None
) -> tuple[tuple[Recording, ...], int]:
    """Carry out `plans` as `carry_out` does, and return the exit status too: 0, or 130 if Control-C
    ended the run after some processes had finished."""
    kept: list[Recording] = []
    try:
        return carry_out(plans, unit, kept.extend, tells), 0
    except KeyboardInterrupt:
        if not kept:
            raise
        return tuple(kept), INTERRUPTED


def carry_out(
    plans: Sequence[measure.Plan],
    unit: str = "ns",
    kept: measure.Kept | None = None,
    tells: stopping.Tells | None = None,
) -> tuple[Recording, ...]:
    """Carry out the `plans`, whose processes take turns, with a progress bar, which only a terminal
    shows.

    An adaptive run checks the width of its interval in `unit`. For `kept` see
    `measure.measure_in_turns_now`, for `tells` `stopping.rule_of`.
    """
    with tqdm(unit=" samples", leave=False, disable=None, file=sys.stderr) as bar:

        def progress(at: measure.Progress) -> None:
            bar.total = at.total
            bar.update(at.done - bar.n)

        rule = stopping.rule_of(plans, unit, tells)
        return measure.measure_in_turns_now(plans, progress, rule, kept=kept)


def as_json(results: Sequence[Result], saved: str | None) -> object:
    """The object of each result, with how it compares with the first, and the events counted."""
    objects = [result.as_json(saved) for result in results]
    for stated, result in zip(objects, results, strict=True):
        counts = event_counts.as_json(result.recording, result.variant)
        if any(counts.values()):
            stated["counts"] = counts
    for stated, ratio in zip(objects[1:], results_compared.with_first(results), strict=True):
        stated["ratio"] = ratio.as_json() if ratio is not None else None
    return objects[0] if len(objects) == 1 else objects


def as_text(results: Sequence[Result], saved: str | None) -> str:
    """The values, what they rest on, the comparisons, and which events were counted."""
    lines = remarks.in_lines(results, [saved] if saved is not None else [], width=columns())
    lines += results_compared.sentences_with_first(results)
    names = [result.variant for result in results]
    lines += event_counts.as_lines(results[0].recording, names, columns())
    return "\n".join(lines)


def run_record(arguments: argparse.Namespace) -> int:
    """Measure as `labs measure --save` does; the exit status is that of `labs measure`."""
    if arguments.save is None:
        arguments.save = free_name(Path(arguments.kernel).stem, Path())
    return run_measure(arguments)


def free_name(kernel: str, folder: Path, ending: str = ".csv") -> Path:
    """`KERNEL.csv` in `folder`, or `KERNEL-2.csv` and so on: no recording is replaced unasked."""
    names = itertools.chain((kernel,), (f"{kernel}-{n}" for n in itertools.count(2)))
    places = (folder / f"{name}{ending}" for name in names)
    return next(path for path in places if not path.exists() and not path.is_symlink())


def measured_into_folder(
    files: Sequence[str], arguments: argparse.Namespace
) -> tuple[Path | None, int]:
    """Measure C or C++ files in turns, and save them to a new folder `FILE-report`.

    Return the folder, or None if nothing was saved, and the exit status.
    """
    folder = free_name(f"{Path(files[0]).stem}-report", Path(), "")
    try:
        unit = canonical(arguments.unit)
        plans = [
            variants.plan_of_line(argparse.Namespace(**vars(arguments), kernel=file))
            for file in files
        ]
        for plan in plans:
            plan.check()
        folder.mkdir()  # before the work
        with contextlib.ExitStack() as undo:
            undo.callback(folder.rmdir)
            recordings, ended = carry_out_or_keep(plans, unit)
            undo.pop_all()
    except (Refused, *EXPECTED) as error:
        return None, _stop("report", error)
    for plan, recording in zip(plans, recordings, strict=False):
        place = free_name(plan.kernel_name, folder)
        problem = _save((plan,), (recording,), (place,))
        if problem is not None:
            return None, complain("labs report", problem)
    say(f"recordings: {folder}")
    return folder, ended


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
    options: argparse.Namespace = field(repr=False)


def run_compare(arguments: argparse.Namespace) -> int:
    """Measure and print; status 1 if one of the two has no figure, and 130 after Control-C.

    With --fail-if the status is that of `_judged`.
    """
    try:
        unit = canonical(arguments.unit)
        if arguments.fail_if is not None and arguments.within is None:
            # An interval as wide as the limit could not tell.
            arguments.within = 100 * min(max(arguments.fail_if / 2, LEAST_WITHIN), MOST_WITHIN)
        words = zip((arguments.a, arguments.b), declared_options.SIDES, strict=True)
        sides = [_side(word, declared_options.of_side(arguments, side)) for word, side in words]
        plans = _plans(sides)
        places = _paths(arguments.save, plans)

        # One recording holds both variants if they come from one plan.
        def in_pair(recordings: tuple[Recording, ...]) -> list[Result]:
            pair = zip((recordings[0], recordings[-1]), sides, strict=True)
            return [result_of(recording, side.variant, unit) for recording, side in pair]

        def tells(recordings: tuple[Recording, ...]) -> bool:
            if arguments.fail_if is not None:
                return _slower_by(in_pair(recordings), sides, arguments.fail_if).side != 0
            every = (len(each.processes) for each in recordings)
            return arguments.within is not None or len(plans) == 1 or min(every) >= PAIRS

        recordings, ended = carry_out_or_keep(plans, unit, tells)
        results = in_pair(recordings)
    except BadRecording as error:
        return complain("labs compare", error, FAILED)
    except (Refused, *EXPECTED) as error:
        return _stop("compare", error)
    problem = _save(plans, recordings, places)
    saved = [str(path) for path in places] if problem is None else []
    status = _print_pair(results, sides, saved, arguments.form)
    if arguments.fail_if is not None:
        status = _judged(results, sides, arguments.fail_if)
    # The figures are already printed, so the run is not lost if the disk is full.
    return complain("labs compare", problem) if problem is not None else ended or status


def _judged(results: Sequence[Result], sides: Sequence[Side], share: float) -> int:
    """Say on standard error whether the first is slower than the second by more than `share`, and
    return the exit status: SLOWER, 0, or CANNOT_TELL."""
    limit = f"slower by more than {100 * share:g} %"
    if any(each.estimate is None for each in results):
        say(f"cannot tell whether A is {limit}", file=sys.stderr)
        return CANNOT_TELL
    found = _slower_by(results, sides, share)
    if found.side == 0:
        more = "take a limit further away, a quieter machine, or more time (--at-most)"
        say(f"cannot tell whether {found.first} is {limit}: {more}", file=sys.stderr)
        return CANNOT_TELL
    sure = "is" if found.side > 0 else "is not"
    say(f"{found.first} {sure} {limit} than {found.second}", file=sys.stderr)
    return SLOWER if found.side > 0 else 0


def _slower_by(results: Sequence[Result], sides: Sequence[Side], share: float) -> Comparison:
    """How the first compares with the second and `share` more of it."""
    (one, other), files = results, (sides[0].kernel, sides[1].kernel)
    return results_compared.compared_at_one_clock(one, other, 1 + share, files=files)


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
    return Side(kernel, chosen.name, chosen.is_first_time, arguments)


def _plans(sides: Sequence[Side]) -> tuple[Plan, ...]:
    """One plan with both variants where they can share their processes, else two plans.

    In one process both meet the same place in memory and the same clock, so more cancels. A first
    call takes part in no process but its own. The same variant twice shows what chance does.
    """
    one, other = sides
    kernels = [toolchain.c_kernel_source(side.kernel).resolve() for side in sides]
    plans = [_plan(side.kernel, side.variant, side.options) for side in sides]
    same = kernels[0] == kernels[1] and plans[0].flags == plans[1].flags
    if same and one.variant != other.variant and not (one.first_time or other.first_time):
        plans = [_plan(one.kernel, f"{one.variant},{other.variant}", one.options)]
    for plan in plans:
        plan.check()
    return tuple(plans)


def _plan(kernel: str, variant: str, arguments: argparse.Namespace) -> Plan:
    stated = {**vars(arguments), "kernel": kernel, "variant": variant}
    if not variant and stated["samples"] is None:
        stated["samples"] = 1  # only its list is asked for
    return variants.plan_of_line(argparse.Namespace(**stated))


def _paths(folder: Path | None, plans: Sequence[Plan]) -> list[Path]:
    """Where the recordings go; none if they are not saved. Raises BadPlan."""
    if folder is None:
        return []
    names = ("both",) if len(plans) == 1 else ("a", "b")
    places = [folder / f"{name}.csv" for name in names]
    for plan, path in zip(plans, places, strict=True):
        must_have_place(path)
        must_not_replace_other_c(plan, path)
    return places


def _save(
    plans: Sequence[Plan], recordings: Sequence[Recording], places: Sequence[Path]
) -> Exception | None:
    """Save each recording, and return what prevented it; those that found no place are kept."""
    runs = list(zip(plans, recordings, places, strict=False))
    for saved, (plan, recording, path) in enumerate(runs):
        try:
            save(plan, recording, path)
        except CannotWrite as error:
            moves = _kept(runs[saved:])
            if not moves:
                return error
            kept = f"This run is kept. When there is space: {moves}"
            return CannotWrite(error.errno, f"{error.strerror}. {kept}")
        except ValueError as error:
            return error
    return None


def _kept(runs: Sequence[tuple[Plan, Recording, Path]]) -> str:
    """Save runs where there is room; the shell's command that moves them to where they belong."""
    for place in (paths.cache, tempfile.gettempdir):
        moves = []
        with contextlib.ExitStack() as undo, contextlib.suppress(OSError, ValueError):
            folder = Path(tempfile.mkdtemp(prefix="kept-", dir=place()))
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            for plan, recording, path in runs:
                here = folder / path.name
                files = c_beside(plan, recording, here)
                with_account(recording, path).write(here, files)
                moves += [
                    shlex.join(["mv", str(each), str(path.absolute().with_name(each.name))])
                    for each in (*files, here)
                ]
            undo.pop_all()
            return " && ".join(moves)
    return ""


def _print_pair(
    results: Sequence[Result], sides: Sequence[Side], saved: Sequence[str], form: str
) -> int:
    files = (sides[0].kernel, sides[1].kernel)
    if any(each.estimate is None for each in results):
        for sentence in _sentences(results, names_of(results[0], results[1], ("", ""), files)):
            say(sentence, file=sys.stderr)
        return complain("labs compare", _ONE_MISSING, FAILED)
    found = compared(results[0], results[1], files=files)
    outputs.put(form, "compare", results, saved, found, warnings=beside_a_table(results))
    return 0


def pair_as_text(results: Sequence[Result], saved: Sequence[str], found: Comparison) -> str:
    """How the two compare, and below it both values and what they rest on."""
    below = remarks.in_lines(results, saved, (found.first, found.second), columns())
    return "\n".join([*results_compared.in_sentences(found), *below])


def _sentences(results: Sequence[Result], names: tuple[str, str]) -> list[str]:
    """The sentence of each result; two results of one variant have the `names` of a comparison."""
    one, other = results
    if (one.recording.kernel, one.variant) != (other.recording.kernel, other.variant):
        names = ("", "")
    return [each.sentence(name) for each, name in zip(results, names, strict=True)]


def measure_broken(kernel: BrokenKernel, arguments: argparse.Namespace) -> int:
    """Run the pair and print it; the exit status is that of `labs measure`."""
    # Here: what draws takes long to load.
    from labs.notebook.broken_pair import Pair, plans
    from labs.notebook.run import Run

    try:
        unit = canonical(arguments.unit)
        runs = []
        for plan in plans(kernel):
            plan.check()
            (recording,) = carry_out((plan,))
            runs.append(Run.of(recording, plan.variants, unit))
        pair = Pair(kernel, *runs)
    except (Refused, *EXPECTED) as error:
        return _stop("broken", error)
    # Outside the `try`, because a closed pipe is an OSError too.
    if arguments.json:
        say_json(pair.as_json())
    else:
        say_result(pair.as_text())
    return 0
