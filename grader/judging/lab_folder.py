"""Read figures.json and the recordings of a lab folder, and check every figure of the lab.

A submission may hold anything. Nothing here follows a link, waits for a writer, reads without a
limit, or raises because of a student's file. If our own code fails, the figure is `not graded`.
"""

from __future__ import annotations

import datetime
import logging
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.evidence import caveats
from grader.evidence.borne_out import FOLLOWS_FROM_FIGURES as FOLLOWS
from grader.evidence.observed import made_before
from grader.evidence.other_numbers import variants_of_same_value
from grader.evidence.sources import source_of
from grader.figures import LABS, figure_named, figures_of, lab_of_figures
from grader.figures.case import Case, is_number, is_rounded
from grader.figures.expected import canonical_or
from grader.figures.spec import FigureSpec, Quantity
from grader.figures.verdict import Finding, Outcome, Verdict
from grader.judging import flags
from grader.judging.check import judge, of_second_run, open_case, open_relation
from grader.pitfalls.recordings import FIGURE_UNREADABLE
from labs import limits
from labs.course import figures, lab_names, predictions
from labs.course.figures import RECORDINGS, BadFigure, BadFigures, Figure
from labs.files import denied, read_bounded
from labs.recording.file import BadRecording, Recording, read
from labs.recording.run_conditions import CANCELLED, TIME_LIMIT, cut_short
from labs.results.result import result_of
from labs.units import NANOSECONDS, rounded

log = logging.getLogger(__name__)

#: How nbgrader notes a time, without the fraction of a second and the zone, which is UTC.
_NOTED = "%Y-%m-%d %H:%M:%S"

Recordings = dict[str, Recording | BadRecording]


Cases = dict[str, Case | Finding]


def check_folder(folder: Path, lab: str) -> list[Verdict]:
    """One verdict for each figure of `lab`, from the files in `folder`, as a student checks it.

    A wrong conclusion is not told the right one. Raises KeyError if there is no such lab or if it
    has no figures.
    """
    return with_predictions(examined(folder, lab)[0], folder)


def check_handed_in(folder: Path, lab: str) -> list[Verdict]:
    """The same verdicts on a lab that is handed in: they say which conclusions are right."""
    return with_predictions(examined(folder, lab, tell_answers=True)[0], folder)


def check_figure(folder: Path, spec: FigureSpec) -> Verdict:
    """What `check_folder` says of one figure, without judging those on which it does not depend."""
    (verdict,) = (v for v in examined(folder, spec.lab, only=spec)[0] if v.figure == spec.id)
    return with_predictions([verdict], folder)[0]


def with_predictions(verdicts: Sequence[Verdict], folder: Path) -> list[Verdict]:
    """The verdicts with what was predicted for each figure, if both are times."""
    try:
        stored = predictions.read(folder)
    except (predictions.BadPredictions, OSError):
        return list(verdicts)
    return [_with(each, stored.get(each.figure, ())) for each in verdicts]


def _with(verdict: Verdict, versions: tuple[predictions.Prediction, ...]) -> Verdict:
    made, unit = predictions.counting(versions), verdict.values.get("unit")
    if made is None or made.unit not in NANOSECONDS or unit not in NANOSECONDS:
        return verdict
    value = made.value * NANOSECONDS[made.unit] / NANOSECONDS[unit]
    if not math.isfinite(value):
        return verdict
    return replace(verdict, values={**verdict.values, "predicted": value})


def examined(
    folder: Path, lab: str, *, tell_answers: bool = False, only: FigureSpec | None = None
) -> tuple[list[Verdict], Cases]:
    """The verdicts, and by figure the case on which its verdict is, or what prevented a case.

    With `only`, those on this figure and on those on which it depends.
    """
    every = figures_of(lab)
    needed = {only.id, *_parts(only)} if only else {spec.id for spec in every}
    specs = [spec for spec in every if spec.id in needed]
    closed = denied(folder, figures.FILE_NAME)
    if closed is not None:
        return [_not_graded(spec, closed) for spec in specs], {}
    try:
        submitted = figures.read(folder)
    except BadFigures as error:
        return [judge(spec, FIGURE_UNREADABLE.finding(f"{error}."), None) for spec in specs], {}
    recordings = _recordings(folder, [submitted.get(spec.id) for spec in every])
    try:
        raised = flags.flags_by_figure(submitted, recordings, specs, handed_in(folder))
    except MemoryError:
        raise
    except Exception:  # flags cost no points, so we can grade without them
        log.exception("the flags of %s failed", folder)
        raised = {}
    recordings = caveats.without_contradicted(recordings)
    cases: Cases = {}
    verdicts: dict[str, Verdict] = {}
    for spec in sorted(specs, key=lambda spec: bool(spec.of)):  # relations come after their parts
        figure = submitted.get(spec.id)
        verdict = _kept_from(folder, spec, figure, verdicts)
        if verdict is None:
            known = Elsewhere(Path(folder), submitted, recordings)
            verdict = _verdict(spec, figure, known, cases, tell_answers)
        used = recordings.get(figure.recording or "") if isinstance(figure, Figure) else None
        case = cases.get(spec.id)
        estimate = case.result.estimate if isinstance(case, Case) else None
        verdict = _of_wrong_figures(spec, verdict, verdicts)
        verdicts[spec.id] = replace(
            _of_cut_short_run(used, _of_earlier_run(folder, figure, verdict)),
            tries=figure.tries if spec.choices and isinstance(figure, Figure) else None,
            flags=raised.get(spec.id, ()),
            fingerprints=flags.fingerprints(used) if isinstance(used, Recording) else (),
            at_most=estimate is not None and estimate.at_most,
        )
    return [verdicts[spec.id] for spec in specs], cases


def _parts(spec: FigureSpec) -> Iterator[str]:
    """The figures whose cases that of `spec` may be made of, and theirs."""
    for name in (*spec.of, *spec.changed_from, *(spec.compare_with if spec.of else ())):
        yield name
        yield from _parts(figure_named(name))


def handed_in(folder: Path) -> datetime.datetime | None:
    """When the submission was made, as nbgrader notes it in the folder; None without a usable note.

    The file may come from the student: it decides nothing but the wording of a flag.
    """
    try:
        text = read_bounded(Path(folder) / "timestamp.txt", 200).decode("utf-8").strip()
        noted = datetime.datetime.strptime(text.partition(".")[0].removesuffix(" UTC"), _NOTED)
    except (OSError, ValueError):
        return None
    return noted.replace(tzinfo=datetime.timezone.utc)


def _kept_from(
    folder: Path,
    spec: FigureSpec,
    figure: Figure | BadFigure | None,
    verdicts: dict[str, Verdict],
) -> Verdict | None:
    """The verdict on a figure that we are kept from judging; None if nothing keeps us from it."""
    evidence = figures.evidence_of(figure)
    closed = denied(folder, *evidence) if evidence else None
    if closed is not None:
        return _not_graded(spec, closed, evidence[0])
    for name in spec.of:
        if name in verdicts and verdicts[name].outcome is Outcome.NOT_GRADED:
            return _not_graded(spec, f"It relates {name}, which was not graded.")
    return None


def _of_wrong_figures(
    spec: FigureSpec, verdict: Verdict, verdicts: Mapping[str, Verdict]
) -> Verdict:
    """The verdict on a relation, with praise only for what is so: figures that are wrong may have a
    right ratio, which is no ratio of what they are called after.
    """
    wrong = any(verdicts[name].outcome is Outcome.FAILED for name in spec.of if name in verdicts)
    return replace(verdict, praise=FOLLOWS.text) if verdict.praise and wrong else verdict


def _of_earlier_run(folder: Path, figure: Figure | BadFigure | None, verdict: Verdict) -> Verdict:
    """The verdict, without praise and with a note if its recording is not of the newest run."""
    if not isinstance(figure, Figure) or figure.recording is None:
        return verdict
    newer = figures.newer_run(folder, figure)
    if newer is not None:
        note = f"This is the run that you handed in; the newer one, {newer}, is not judged."
    elif figures.failed_later(folder, figure.recording):
        note = figures.EARLIER_RUN
    else:
        return verdict
    return replace(verdict, note=note, praise="", look_next="")


def _of_cut_short_run(used: Recording | BadRecording | None, verdict: Verdict) -> Verdict:
    """The verdict, with a note if the run of its recording was cut short."""
    found = cut_short(used) if isinstance(used, Recording) else None
    if found is None or found.whole >= found.planned:
        return verdict
    ended = {
        TIME_LIMIT: f"The time limit of {found.after_s:g} s ended this run",
        CANCELLED: "This run was cancelled",
    }
    stuck = f"A process took no sample for {found.after_s:g} s, and Ticklab ended this run"
    note = (
        f"{ended.get(found.by, stuck)} after {found.whole} of {found.planned} processes. The "
        "figure comes from these processes."
    )
    return replace(verdict, note=f"{verdict.note} {note}".strip())


def _not_graded(spec: FigureSpec, why: str, recording: str | None = None) -> Verdict:
    most = spec.max_points
    outcome = Outcome.NOT_GRADED
    return Verdict(spec.id, outcome, 0.0, most, why, recording=recording, asked=spec.asked)


def _verdict(
    spec: FigureSpec,
    figure: Figure | BadFigure | None,
    known: Elsewhere,
    cases: Cases,
    tell_answers: bool,
) -> Verdict:
    """The verdict on one figure; this adds its case to `cases`, which later relations need."""
    name = figure.recording if isinstance(figure, Figure) else None
    try:
        if spec.of:
            case = open_relation(spec, figure, cases)
        else:
            recording, source = known.recordings.get(name or ""), None
            if isinstance(recording, Recording):
                source = source_of(recording, known.folder / (name or ""))
            case = open_case(spec, figure, recording, source)
            before = [each for each in map(cases.get, spec.changed_from) if isinstance(each, Case)]
            if isinstance(case, Case) and before:
                case = of_second_run(case, before)
        cases[spec.id] = case
        return judge(spec, case, figure, known.what_it_is, tell_answers=tell_answers)
    except MemoryError:  # of the whole process, so no figure of it can be trusted to be judged
        raise
    except Exception as error:  # our fault must not give a zero or end the batch
        log.exception("the check of %s failed", spec.id)
        why = f"The check itself failed ({type(error).__name__}); a person must look at it."
        return _not_graded(spec, why, name)


def _recordings(folder: Path, submitted: list[Figure | BadFigure | None]) -> Recordings:
    """The recordings that the figures name, each read once, without missing ones."""
    found: Recordings = {}
    for figure in submitted:
        name = figure.recording if isinstance(figure, Figure) else None
        if name is None or name in found:
            continue
        path = Path(folder) / name
        if _is_link(path.parent):
            found[name] = BadRecording("the folder recordings is a link", where=name)
        elif os.path.lexists(path):  # false for a file that we may not see
            try:
                found[name] = read(path)
            except BadRecording as error:
                found[name] = BadRecording(error.what, where=name, line=error.line)
    return found


def handed_in_for_practice(folder: Path) -> frozenset[str] | None:
    """The figures in `folder` if it is a lab in which no figure counts; else None.

    Such a folder holds figures of other labs, so we can check only the figures that it has.
    """
    folder = Path(folder).resolve()
    if folder.name in LABS or folder.name not in lab_names.labs():
        return None
    try:
        return frozenset(figures.read(folder))
    except BadFigures:
        return None


def lab_of(folder: Path) -> str:
    """The lab of `folder`, from its name, its notebook, or its figures.

    Raises LookupError, whose message says what was expected.
    """
    folder = Path(folder).resolve()
    for lab in LABS:
        if folder.name == lab or (folder / f"{lab}.ipynb").exists():
            return lab
    try:
        lab_by_figures = lab_of_figures(list(figures.read(folder)))
    except BadFigures:
        lab_by_figures = None
    if lab_by_figures is not None:
        return lab_by_figures
    raise LookupError(
        f"{folder} is not a lab folder: it has no notebook and no figures.json of {', '.join(LABS)}"
    )


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except PermissionError:  # older Pythons raise it
        return False


# A value may not follow from its own recording, but be in the folder elsewhere. The verdict reports
# this as a fact and blames no misconception: somebody handed in the value of an earlier run, of
# another variant or of another figure.

#: So many recordings that no figure names are looked at, each up to this size.
MOST_UNNAMED = 6
MOST_BYTES = min(1 << 21, limits.MOST_FILE_BYTES)


@dataclass(frozen=True)
class Elsewhere:
    """What else a lab folder holds: its figures by id, and the recordings that they name."""

    folder: Path
    submitted: Mapping[str, Figure | BadFigure]
    recordings: Mapping[str, Recording | BadRecording]

    def what_it_is(self, case: Case) -> str:
        """What the figure of `case` is the value of, as a sentence; '' if nothing, or several.

        A row of its own run is plainer than the same row of another run, and that plainer than the
        rest: of the first of these that there are there must be one.
        """
        if case.right or case.submitted is None or not case.spec.is_time:
            return ""
        places = [] if case.others else [self._of_own_run(case), *self._of_runs(case)]
        of_figures = (self._of_figures(case), self._of_two_figures(case))
        for place in (*places, *of_figures, self._of_baselines(case)):
            if found := list(dict.fromkeys(place)):
                return f"What you gave is {found[0]}." if len(found) == 1 else ""
        return ""

    def _of_own_run(self, case: Case) -> Iterator[str]:
        for name in variants_of_same_value(case, case.recording):
            if name not in case.spec.variants:
                yield f"the cost of {name}"

    def _of_runs(self, case: Case) -> tuple[list[str], list[str]]:
        """Where it is the same row of another run, and where it is another row of one."""
        own = case.recording
        same: list[str] = []
        different: list[str] = []
        for path, other in self._other_runs(case):
            if other.samples_sha256 == own.samples_sha256:
                continue
            which = "an earlier run" if made_before(other, own) else "another run"
            for name in variants_of_same_value(case, other):
                if name in case.spec.variants:
                    same.append(f"the value by {path}, {which}")
                else:
                    different.append(f"the cost of {name} by {path}, {which}")
        return same, different

    def _of_figures(self, case: Case) -> Iterator[str]:
        for name, figure in self.submitted.items():
            if name != case.spec.id and isinstance(figure, Figure) and _is_same(case, figure):
                yield f"your figure {name}"

    def _of_two_figures(self, case: Case) -> Iterator[str]:
        """The ratio of the two figures whose difference is asked for."""
        if case.spec.quantity is not Quantity.DIFFERENCE:
            return
        two = [self.submitted.get(name) for name in case.spec.of]
        values = [_in_ns(each) for each in two if isinstance(each, Figure)]
        for one, other in ((0, 1), (1, 0)) if len(two) == len(values) == 2 else ():
            above, below = values[one], values[other]
            if above and below and _is_as_given(case, above / below):
                names = f"{case.spec.of[one]} divided by {case.spec.of[other]}"
                yield f"{names}: that is a ratio, and a difference is asked for"

    def _of_baselines(self, case: Case) -> Iterator[str]:
        """The right value without a baseline that another run measured."""
        if case.others or case.expected is None or case.spec.quantity is not Quantity.COST:
            return
        net = case.result.net
        if net is None or net.baseline is None or net.baseline_variant is None:
            return
        name, unit = net.baseline_variant, case.spec.unit
        for path, other in self._other_runs(case):
            line = result_of(other, name, "ns").line if name in other.variants else None
            if line is None:
                continue
            once = line.cost.into(unit, line.clock).value * net.times / net.parts
            if is_number(case, case.expected.value - once):
                yield (
                    f"{rounded(case.expected.value)} - {rounded(once)}: you subtracted what {name} "
                    f"costs by {path}, which is subtracted already"
                )

    def _other_runs(self, case: Case) -> Iterator[tuple[str, Recording]]:
        """The recordings of the same C kernel, without that of `case`, by path."""
        for path, other in (*self.recordings.items(), *self._unnamed()):
            if path == case.figure.recording or not isinstance(other, Recording):
                continue
            if other.kernel == case.recording.kernel:
                yield path, other

    def _unnamed(self) -> Iterator[tuple[str, Recording]]:
        """The recordings that no figure names, by path; without links and large files."""
        inside = self.folder / RECORDINGS
        try:
            # A link may lead to another student's recordings.
            paths = [] if inside.is_symlink() else sorted(inside.glob("*.csv"))
        except OSError:
            return
        named = {Path(path).name for path in self.recordings}
        for path in [each for each in paths if each.name not in named][:MOST_UNNAMED]:
            try:
                if path.is_symlink() or path.stat().st_size > MOST_BYTES:
                    continue
                yield f"{RECORDINGS}/{path.name}", read(path)
            except (BadRecording, OSError):
                continue


def _is_same(case: Case, figure: Figure) -> bool:
    """Whether the figure of `case` has the value of another `figure`, both with a unit of time."""
    mine, other = canonical_or(case.figure.unit), canonical_or(figure.unit)
    if mine and mine == other:
        return _is_as_given(case, figure.value)
    if mine not in NANOSECONDS or other not in NANOSECONDS:
        return False
    return _is_as_given(case, figure.value * (NANOSECONDS[other] / NANOSECONDS[mine]))


def _is_as_given(case: Case, number: float) -> bool:
    """Whether the student wrote this number, whatever its unit."""
    if case.submitted is None or case.figure.value == 0:
        return False
    return is_rounded(case, number * case.submitted / case.figure.value)


def _in_ns(figure: Figure) -> float | None:
    """The value of a figure with a unit of time; None for another unit."""
    factor = NANOSECONDS.get(canonical_or(figure.unit))
    return figure.value * factor if factor else None
