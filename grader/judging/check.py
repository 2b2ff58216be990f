"""Compute the verdict on a figure from its recording. These are pure functions that read no files.

Each level has its own points. A finding costs the points of its level. A figure without usable
evidence gets no points. A figure that does not follow from its recording gets only the points for
the recording itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.cases.case import Case, make_case, make_relation
from grader.cases.spec import FigureSpec
from grader.cases.verdict import Finding, Level, Outcome, Verdict
from grader.facts import unbound, watched, wide_interval
from grader.facts.sources import hashes_by_name
from grader.judging import no_counter
from grader.pitfalls import findings_of, pitfall_named, while_reading
from labs.course.figures import BadFigure, Figure
from labs.recording.file import BadRecording, Recording
from labs.run import broken

#: The reason if a broken C kernel was run unchanged and no mistake was found.
NOT_SHOWN_HERE = "This C kernel makes the requested mistake, but this machine does not show it."

#: By finding, another level that loses its points too: if a figure does not follow from its
#: recording, there is nothing to interpret.
FALLS_WITH = {"figure-not-from-recording": Level.INTERPRETATION}


def check(
    spec: FigureSpec,
    figure: Figure | BadFigure | None,
    recording: Recording | BadRecording | None,
    source: str | None = None,
) -> Verdict:
    """The verdict on `figure`, which `spec` asks for, from the recording that it names.

    `figure` is None if none was handed in. `recording` is None if the figure names none or if the
    file is missing, and BadRecording if it cannot be read. `source` is the C of the recording.
    """
    return judge(spec, open_case(spec, figure, recording, source), figure)


def judge(spec: FigureSpec, case: Case | Finding, figure: Figure | BadFigure | None) -> Verdict:
    """The verdict on a case, or on the finding that prevents one."""
    if isinstance(case, Finding):
        return _without_evidence(spec, case, figure if isinstance(figure, Figure) else None)
    return _judged(case)


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
        return while_reading.NO_RECORDING.finding(
            f"The figure names {figure.recording}, but there is no such file."
            if figure.recording
            else "The figure names no recording."
        )
    if isinstance(recording, BadRecording):
        return while_reading.RECORDING_UNREADABLE.finding(f"{recording}.")
    wrong = _wrong_subject(spec, recording)
    if wrong is not None:
        return while_reading.OTHER_RECORDING.finding(wrong)
    try:
        return make_case(spec, figure, recording, source)
    except BadRecording as error:
        return while_reading.RECORDING_UNREADABLE.finding(f"{error}.")


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
        return while_reading.NO_OTHER_FIGURE.finding(f"It needs {missing} with its recording.")
    compare_with = [case for name in spec.compare_with if isinstance(case := cases.get(name), Case)]
    return make_relation(spec, figure, tuple(others), tuple(compare_with))


def _no_figure(spec: FigureSpec, figure: BadFigure | None) -> Finding:
    if figure is None:
        return while_reading.NO_FIGURE.finding(f"figures.json has no entry {spec.id}.")
    return while_reading.FIGURE_UNREADABLE.finding(f"Entry {spec.id}: {figure.what}.")


def _wrong_subject(spec: FigureSpec, recording: Recording) -> str | None:
    missing = [name for name in spec.variants if name not in recording.variants]
    if recording.kernel != spec.kernel:
        return f"The recording is of the C kernel {recording.kernel}, but {spec.kernel} is needed."
    if missing:
        return (
            f"The recording holds {', '.join(recording.variants) or 'no samples'}, but "
            f"{spec.asked} also needs {' and '.join(missing)}."
        )
    return None


def _without_evidence(spec: FigureSpec, finding: Finding, figure: Figure | None) -> Verdict:
    return Verdict(
        figure=spec.id,
        outcome=Outcome.FAILED,
        points=0.0,
        max_points=spec.max_points,
        reason=finding.symptom,
        levels={level: (0.0, most) for level, most in spec.points.items()},
        findings=(finding,),
        recording=figure.recording if figure else None,
    )


def _judged(case: Case) -> Verdict:
    spec = case.spec
    findings = tuple(findings_of(case))
    if spec.demonstrates:
        return _reproduced(case, findings)
    lost = {finding.level for finding in findings}
    lost |= {FALLS_WITH[finding.code] for finding in findings if finding.code in FALLS_WITH}
    if not case.accepted_values:
        # Without a value that could be right, there is nothing to interpret.
        lost.add(Level.INTERPRETATION)
    levels = {level: (0.0 if level in lost else most, most) for level, most in spec.points.items()}
    points = sum(got for got, _ in levels.values())
    # A finding may be of a level for which this figure has no points.
    passed = not findings and points == spec.max_points
    caveat = unbound.caveat(case) if passed else ""
    others = no_counter.caveat(case) if passed else ""
    too_wide = wide_interval.caveat(case) if passed else ""
    praise, look_next = (watched.praise(case), spec.look_next) if passed else ("", "")
    if caveat:
        praise, look_next = unbound.PRAISE, unbound.LOOK_NEXT
    elif too_wide:
        praise, look_next = wide_interval.PRAISE, wide_interval.look_next(case)
    return Verdict(
        figure=spec.id,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        points=points,
        max_points=spec.max_points,
        reason=" ".join(filter(None, (_reason(case, findings, passed), too_wide, caveat, others))),
        levels=levels,
        findings=findings,
        praise=praise,
        look_next=look_next,
        recording=case.figure.recording,
    )


def _is_unchanged(case: Case, code: str) -> bool:
    """Whether the recording is of a broken C kernel that makes the mistake, of any version."""
    stated = case.recording.conditions.get("source.sha256")
    listed = hashes_by_name()["broken"]
    return any(
        case.source == broken.find(live.kernel).source or stated in listed.get(live.kernel, ())
        for live in pitfall_named(code).broken
    )


def _reproduced(case: Case, findings: tuple[Finding, ...]) -> Verdict:
    """The verdict on a requested mistake: the grader must find it, with or without other findings.

    If the broken C kernel was run unchanged and the machine does not show the mistake, the figure
    passes too. For example, a machine may have no vDSO.
    """
    spec = case.spec
    found = next(
        (finding.evidence for finding in findings if finding.code == spec.demonstrates), None
    )
    shown = found or (NOT_SHOWN_HERE if _is_unchanged(case, spec.demonstrates) else None)
    missing = while_reading.NOT_REPRODUCED.finding(
        f"The lab asks for {spec.asked}; in {case.figure.recording} the grader finds "
        f"{' and '.join(finding.code for finding in findings) or 'no mistake'}."
    )
    return Verdict(
        figure=spec.id,
        outcome=Outcome.PASSED if shown else Outcome.FAILED,
        points=spec.max_points if shown else 0.0,
        max_points=spec.max_points,
        reason=shown or missing.symptom,
        levels={level: (most if shown else 0.0, most) for level, most in spec.points.items()},
        findings=() if shown else (missing,),
        praise=spec.praise if shown else "",
        look_next=spec.look_next if shown else "",
        recording=case.figure.recording,
    )


def _reason(case: Case, findings: tuple[Finding, ...], passed: bool) -> str:
    shown = case.matching_value
    if passed and shown is None and case.expected is not None:
        return (
            f"An earlier version of the kit may compute {case.as_submitted()} from "
            f"{case.figure.recording}; this version gives {case.expected.as_text()}."
        )
    if passed and shown is not None:
        if case.others:
            others = ", ".join(each.spec.id for each in case.others)
            return f"{case.as_submitted()} follows from {others}: {shown.as_text()}."
        return (
            f"{case.as_submitted()} follows from {case.figure.recording}, which gives "
            f"{shown.as_text()}."
        )
    if findings:
        return findings[0].symptom
    return f"The recording gives no figure: {case.result.no_figure}."
