"""Compute the verdict on a figure from its recording. Nothing here reads a file.

A figure without usable evidence gets no points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.evidence import borne_out, caveats
from grader.evidence.observed import reads_the_counter
from grader.evidence.other_numbers import reduction_of
from grader.evidence.sources import broken_name, released_sources
from grader.figures.case import Case, make_case, make_relation
from grader.figures.expected import accepted_as_text, accepted_ranges, why_more_is_accepted
from grader.figures.spec import FigureSpec, Praise, Quantity
from grader.figures.verdict import Finding, Level, Outcome, Verdict
from grader.judging.points import is_far, points_by_level
from grader.pitfalls import OF_RELATIONS, findings_of, pitfall_named, recordings
from labs.c_kernels.toolchain import c_kernel_names
from labs.course.figures import BadFigure, Figure
from labs.recording import declared
from labs.recording.file import BadRecording, Recording

#: Findings that the recording is of another program than asked: no value of it can be right.
OF_ANOTHER_PROGRAM = frozenset({"optimisation-levels-mixed"})
#: The reason if a broken C kernel was run unchanged and no mistake was found.
NOT_SHOWN_HERE = "This C kernel makes the requested mistake, but this machine does not show it."
UNCHANGED = Praise(
    "You made the same mistake as the report, and handed in the figure that your machine gives.",
    by=("mistake-not-reproduced", "figure-not-from-recording"),
)


def check(
    spec: FigureSpec,
    figure: Figure | BadFigure | None,
    recording: Recording | BadRecording | None,
    source: str | None = None,
    *,
    tell_answers: bool = False,
) -> Verdict:
    """The verdict on `figure`, which `spec` asks for, from the recording that it names.

    `figure` is None if none was handed in. `recording` is None if the figure names none or if the
    file is missing, and BadRecording if it cannot be read. `source` is the C of the recording.
    `tell_answers` is as for `judge`.
    """
    case = open_case(spec, figure, recording, source)
    return judge(spec, case, figure, tell_answers=tell_answers)


def judge(
    spec: FigureSpec,
    case: Case | Finding,
    figure: Figure | BadFigure | None,
    what_it_is: Callable[[Case], str] = recordings.what_it_is,
    *,
    tell_answers: bool = False,
) -> Verdict:
    """The verdict on a case, or on the finding that prevents one.

    `what_it_is` says of a wrong figure what it is the value of, as a sentence, or ''. With
    `tell_answers`, the verdict on a wrong conclusion says which one is right. Until the lab is
    handed in, it says only what to look at.
    """
    if isinstance(case, Finding):
        return _without_evidence(spec, case, figure if isinstance(figure, Figure) else None)
    return _judged(case, what_it_is, tell_answers)


def open_case(
    spec: FigureSpec,
    figure: Figure | BadFigure | None,
    recording: Recording | BadRecording | None,
    source: str | None = None,
) -> Case | Finding:
    """The case of a figure that has its own recording, or the finding that prevents one."""
    if not isinstance(figure, Figure):
        return _no_figure(spec, figure)
    if recording is None:
        return recordings.NO_RECORDING.finding(
            f"The figure names {figure.recording}, but there is no such file."
            if figure.recording
            else "The figure names no recording."
        )
    if isinstance(recording, BadRecording):
        return recordings.RECORDING_UNREADABLE.finding(f"{recording}.")
    wrong = _wrong_subject(spec, recording)
    if wrong is not None:
        return recordings.OTHER_RECORDING.finding(wrong)
    try:
        return make_case(spec, figure, recording, source)
    except BadRecording as error:
        return recordings.RECORDING_UNREADABLE.finding(f"{error}.")


def of_second_run(case: Case, before: Sequence[Case]) -> Case:
    """The case of a run with one thing changed, with the case of the run before.

    A student may change something for each operation of which a figure is in `before`: the first
    one of which the value follows from the second run is meant, else the first of all.
    """
    second_runs = [replace(case, changed_from=before[0])]
    for first in before:
        if first.spec.variants == case.spec.variants or (
            first.spec.variant not in case.recording.variants
        ):
            continue
        asked = case.spec
        spec = replace(
            first.spec, id=asked.id, points=asked.points, changed_from=asked.changed_from
        )
        other = make_case(spec, case.figure, case.recording, case.source)
        second_runs.append(replace(other, changed_from=first))
    return next((each for each in second_runs if each.right), second_runs[0])


def open_relation(
    spec: FigureSpec, figure: Figure | BadFigure | None, cases: Mapping[str, Case | Finding]
) -> Case | Finding:
    """The case of a figure that relates others, or the finding that prevents one."""
    if not isinstance(figure, Figure):
        return _no_figure(spec, figure)
    others = [case for name in spec.of if isinstance(case := cases.get(name), Case)]
    if len(others) < len(spec.of):
        usable = {case.spec.id for case in others}
        missing = " and ".join(name for name in spec.of if name not in usable)
        return recordings.NO_OTHER_FIGURE.finding(
            f"This figure needs {missing} with its recording."
        )
    if others[0].changed_from is not None and spec.of[1] in others[0].spec.changed_from:
        others[1] = others[0].changed_from
        spec = replace(spec, of=(spec.of[0], others[1].spec.id))
    compare_with = [case for name in spec.compare_with if isinstance(case := cases.get(name), Case)]
    return make_relation(spec, figure, tuple(others), tuple(compare_with))


def _no_figure(spec: FigureSpec, figure: BadFigure | None) -> Finding:
    if figure is None:
        return recordings.NO_FIGURE.finding(f"figures.json has no entry {spec.id}.")
    return recordings.FIGURE_UNREADABLE.finding(f"Entry {spec.id}: {figure.what}.")


def _wrong_subject(spec: FigureSpec, recording: Recording) -> str | None:
    missing = [name for name in spec.variants if name not in recording.variants]
    if spec.hides_variants and (missing or recording.kernel != spec.kernel):
        measured = ", ".join(recording.variants) or "no samples"
        return f"The lab asks for {spec.asked}. The recording is of {recording.kernel}: {measured}."
    if recording.kernel != spec.kernel:
        return f"The recording is of the C kernel {recording.kernel}, but {spec.kernel} is needed."
    of_the_kit = recording.conditions.get("source.sha256") in released_sources()
    if spec.own and spec.kernel in c_kernel_names() and of_the_kit:
        return f"The recording is of the kit's own {recording.kernel}; the lab asks for your C."
    if missing:
        stated = [recording.condition(f"variant.{name}.baseline") for name in recording.variants]
        baselines = set[str]().union(*stated)
        held = [name for name in recording.variants if name not in baselines]
        needs = "also needs" if set(spec.variants) & set(held) else "needs"
        alone = [one for name in missing if (one := name.removesuffix("-wait")) in held]
        return (
            f"The recording holds {', '.join(held) or 'no samples'}. This figure {needs} "
            f"{' and '.join(missing)}: it is {spec.asked}."
        ) + "".join(f" The variant {one} times the creation without the wait." for one in alone)
    return None


def _without_evidence(spec: FigureSpec, finding: Finding, figure: Figure | None) -> Verdict:
    return Verdict(
        spec.id,
        Outcome.FAILED,
        0.0,
        spec.max_points,
        finding.symptom,
        levels={level: (0.0, most) for level, most in spec.points.items()},
        findings=(finding,),
        recording=figure.recording if figure else None,
        asked=spec.asked,
    )


def _judged(case: Case, what_it_is: Callable[[Case], str], tell_answers: bool) -> Verdict:
    spec = case.spec
    findings = tuple(findings_of(case, what_it_is, tell_answers=tell_answers))
    if spec.demonstrates:
        return _reproduced(case, findings)
    # Without a value that could be right, there is nothing to interpret.
    far = bool(findings) and is_far(case, findings)
    levels = points_by_level(spec, findings, right=bool(case.accepted_values), far=far)
    points = sum(got for got, _ in levels.values())
    by_hand = "" if findings else reduction_of(case)
    passed = bool(case.right or by_hand) and not findings and points == spec.max_points
    caveat = caveats.caveat_of_unbound(case) if passed else ""
    others = caveat_of_no_counter(case) if passed else ""
    too_wide = caveats.caveat_of_width(case) if passed else ""
    other = any(finding.code in OF_ANOTHER_PROGRAM for finding in findings)
    why = _by_hand(case, by_hand) if by_hand else _reason(case, findings, passed)
    # A line by hand passes outside of what is accepted otherwise.
    accepted = "" if other or by_hand else accepted_as_text(case.accepted_values)
    wider = "" if by_hand else _about_accepted(case, findings)
    stated = f"Accepted: {accepted}. {wider}".rstrip() if accepted else ""
    praise, look_next = None, ""
    if passed:
        praise = borne_out.FOLLOWS if by_hand else borne_out.praise_of(case)
        look_next = spec.look_next
    if caveat:
        praise, look_next = caveats.UNBOUND_PRAISE, caveats.UNBOUND_LOOK_NEXT
    elif too_wide:
        look_next = caveats.look_next_if_wide(case)
        if not caveats.is_next_to_nothing(case):
            praise = caveats.WIDE_PRAISE
    return Verdict(
        figure=spec.id,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        points=points,
        max_points=spec.max_points,
        reason=" ".join(filter(None, (why, stated, too_wide, caveat, others))),
        accepted=accepted,
        why_accepted=wider,
        values=_values(case, accepted),
        levels=levels,
        findings=findings,
        praise=praise.text if praise is not None else "",
        look_next=look_next,
        answer=_answer(case) if tell_answers else "",
        recording=case.figure.recording,
        asked=spec.asked,
    )


_TWO_ARE_RIGHT = "Two are right: where a line through the samples begins, and the mean at k = 0. "


def _about_accepted(case: Case, findings: Sequence[Finding]) -> str:
    """What else is accepted; or, of a right value, that the findings are not about it."""
    two = case.spec.quantity is Quantity.OVERHEAD and len(accepted_ranges(case.accepted_values)) > 1
    why = _TWO_ARE_RIGHT if two else ""
    if case.right and findings:
        return f"{why}Your value lies there: the finding is about its evidence."
    return why + why_more_is_accepted(case.accepted_values)


def _values(case: Case, accepted: str) -> dict[str, Any]:
    """The numbers of a verdict, for who reads it by program. What is not told is not in it."""
    numbers: dict[str, Any] = {"submitted": case.submitted, "unit": case.spec.unit}
    if accepted:
        numbers["accepted"] = [list(ends) for ends in accepted_ranges(case.accepted_values)]
        if case.expected is not None:
            of_run = case.matching_value or case.expected
            ends = of_run.low, of_run.high
            if of_run.shown is not None and ends[0] < ends[1]:
                ends = of_run.shown  # as the run prints it; the judged one may be wider
            numbers["measured"] = [of_run.value, *ends]
    return numbers


def _answer(case: Case) -> str:
    """Which conclusion is right, if another one was handed in."""
    if case.spec.quantity is not Quantity.CHOICE or case.right or case.expected is None:
        return ""
    return f"The right conclusion is {case.expected.as_text()}."


def _reproduced(case: Case, findings: tuple[Finding, ...]) -> Verdict:
    """The verdict on a requested mistake: its run must show it, and the value must be that run's.

    The grader looks for the mistake in the recording, whatever value was handed in. If the broken C
    kernel was run unchanged and the machine does not show the mistake, that counts too: for
    example, a machine may have no vDSO.
    """
    spec, in_run = case.spec, findings
    if case.expected is not None:
        in_run = tuple(findings_of(replace(case, submitted=case.expected.value)))
    found = next((each.evidence for each in in_run if each.code == spec.demonstrates), "")
    # A variant that the student chose, for the repair, may have the same name.
    found = found.replace("Your variant", "The broken variant")
    too_wide = caveats.caveat_of_width(case)
    on_purpose = [live.kernel for live in pitfall_named(spec.demonstrates).broken]
    shown = found or (NOT_SHOWN_HERE if broken_name(case.recording) in on_purpose else None)
    missing = []
    if not shown:
        codes = " and ".join(finding.code for finding in in_run) or "no mistake"
        what = (
            f"The lab asks for {spec.asked}; in {case.figure.recording} the grader finds {codes}."
        )
        missing = [recordings.NOT_REPRODUCED.finding(what)]
    by_hand = reduction_of(case) if case.expected is not None else ""
    follows = case.right or bool(by_hand)
    if not follows:
        missing.append(_about_value(case, findings, {each.code for each in in_run}))
    lost = {Level.VALIDITY} if not shown else set()
    lost |= {Level.INTERPRETATION} if not follows else set()
    levels = {level: (0.0 if level in lost else most, most) for level, most in spec.points.items()}
    return Verdict(
        figure=spec.id,
        outcome=Outcome.FAILED if missing else Outcome.PASSED,
        points=sum(got for got, _ in levels.values()),
        max_points=spec.max_points,
        reason=missing[0].symptom
        if missing
        else f"{shown} {_by_hand(case, by_hand) if by_hand else _reason(case, (), True)} "
        f"{too_wide}".rstrip(),
        accepted=(accepted := accepted_as_text(case.accepted_values)),
        why_accepted=_about_accepted(case, missing),
        values=_values(case, accepted),
        levels=levels,
        findings=tuple(missing),
        praise="" if missing else (spec.praises[0] if found else UNCHANGED).text,
        look_next="" if missing else spec.look_next,
        recording=case.figure.recording,
        asked=spec.asked,
    )


def _about_value(case: Case, findings: tuple[Finding, ...], in_run: set[str]) -> Finding:
    """What is wrong with the value itself, if the run shows the mistakes `in_run`."""
    of_value = (
        each
        for each in findings
        if each.code not in in_run
        and (each.code in OF_RELATIONS or pitfall_named(each.code).explains is not None)
    )
    fallback = pitfall_named("figure-not-from-recording").finding(
        f"You gave {case.as_submitted()}; {case.figure.recording} gives "
        f"{case.expected.as_text() if case.expected else 'no figure'} for {case.spec.asked}."
    )
    return next(of_value, fallback)


def _by_hand(case: Case, through: str) -> str:
    """How a value far from the kit's own follows from the same samples, and what is in it."""
    assert case.expected is not None  # without it there is a finding
    return (
        f"{case.as_submitted()} is a line through {through} of {case.figure.recording}. "
        f"{recordings.left_out(case)} Its estimate is {case.expected.as_text()}."
    )


def _reason(case: Case, findings: tuple[Finding, ...], passed: bool) -> str:
    shown = case.matching_value
    if passed and shown is not None:
        others = ", ".join(each.spec.id for each in case.others)
        follows = f"{case.as_submitted()} follows from {others or case.figure.recording}"
        if case.as_submitted() == shown.as_text():  # a count is given exactly
            return f"{follows}."
        return f"{follows}{':' if others else ', which gives'} {shown.as_text()}."
    if findings:
        return findings[0].symptom
    for name, result in case.results.items():
        if result.no_figure:
            return (
                f"{name if case.others else 'The recording'} gives no figure: {result.no_figure}."
            )
    below = [
        name for name, each in case.results.items() if each.estimate and each.estimate.high < 0
    ]
    return f"By its recording, {' and '.join(below)} is below zero: repair that first."


# Some machines let no program read a counter (sandboxes, other CPUs). There, C kernels read
# clock_gettime instead (kernels_c/counter.h). The cost of an operation is the same with both. But a
# figure of the counter itself is then about clock_gettime, and the verdict says so.

#: The name that C kernels give to clock_gettime if they read it instead of a counter.
STAND_IN = "clock_monotonic"

NO_COUNTER = "That machine lets no program read a counter, only clock_gettime(CLOCK_MONOTONIC)"


def caveat_of_no_counter(case: Case) -> str:
    """A sentence on what a figure of the counter measures on such a machine; else ''."""
    recording = case.recording
    if set(recording.condition("counter")) != {STAND_IN}:
        return ""
    names = [
        name
        for name in case.spec.variants
        if declared.is_overhead(recording, name) and reads_the_counter(recording, name)
    ]
    if not names:
        return ""
    return f"{NO_COUNTER}. So {' and '.join(names)} timed that clock, and the figure is about it."
