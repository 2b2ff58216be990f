"""Present a verdict as text, as HTML, with the plot of its recording and as evidence for a person.

The notebook, the command line, nbgrader's feedback and the formgrader show the same texts. All text
is escaped, because parts of a verdict may come from a student's files.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.figures.spec import Quantity
from grader.figures.verdict import LOOKS, MARKS, NOT_HANDED_IN, Finding, Outcome, Verdict
from labs.html import filled
from labs.units import NANOSECONDS, times

if TYPE_CHECKING:
    from labs.recording.file import Recording

MOST_FINDINGS = 3

_VERDICT = Path(__file__).with_name("verdict.html.jinja")


def points_as_text(points: float) -> str:
    """Points without unnecessary decimals."""
    return f"{points:g}"


def headline(verdict: Verdict) -> str:
    """Figure, outcome and points in one line."""
    outcome = f"{verdict.figure}: {verdict.in_words}"
    if verdict.outcome is Outcome.NOT_GRADED:
        return outcome
    points, most = points_as_text(verdict.points), points_as_text(verdict.max_points)
    return f"{outcome}, {points} of {most} points"


def as_text(verdict: Verdict) -> str:
    """The verdict for a terminal: headline, reason, findings, what to look at next."""
    lines = [f"{MARKS[verdict.in_words]} {headline(verdict)}"]
    if verdict.in_words == NOT_HANDED_IN:
        return f"{lines[0]}\n  {verdict.findings[0].experiment}"
    if verdict.note:
        lines.append(f"  {verdict.note}")
    if not verdict.findings:  # otherwise the reason is the symptom of the first finding
        lines.append(f"  {verdict.reason}")
    for finding in verdict.findings[:MOST_FINDINGS]:
        lines.append(f"  [{finding.code}] {finding.symptom}")
        lines += [f"    {label}: {text}" for label, text in _told(finding)]
    if verdict.findings and verdict.accepted:  # otherwise the reason states it
        lines.append(f"  Accepted: {verdict.accepted}. {verdict.why_accepted}".rstrip())
    if verdict.answer:
        lines.append(f"  {verdict.answer}")
    if verdict.praise:
        lines += [f"  {verdict.praise}", f"  Look next: {verdict.look_next}"]
    lines += [f"  For a person to look at: {flag}." for flag in verdict.flags]
    return "\n".join(lines)


# Verdicts for a workflow of GitHub:
# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

#: What stands for letters of a message in a command, and of its other parts.
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PARTS = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})
_KINDS = {
    Outcome.PASSED.value: "notice",
    NOT_HANDED_IN: "notice",
    Outcome.NOT_GRADED.value: "warning",
}


def as_annotation(verdict: Verdict, file: str) -> str:
    """The verdict as a line that has GitHub show it beside `file`, whatever a student wrote."""
    kind = _KINDS.get(verdict.in_words, "error")
    title, file = headline(verdict).translate(_IN_PARTS), file.translate(_IN_PARTS)
    return f"::{kind} file={file},title={title}::{verdict.reason.translate(_IN_MESSAGE)}"


def as_summary(closing: str, verdicts: Sequence[Verdict]) -> str:
    """The report on all verdicts as Markdown, in which nothing that a student wrote is markup."""
    shown = [
        f"<details><summary>{html.escape(f'{MARKS[each.in_words]} {headline(each)}')}</summary>"
        f"<pre>{html.escape(as_text(each))}</pre></details>"
        for each in verdicts
    ]
    # After an empty line, Markdown would begin again.
    lines = (each.replace("\n", "&#10;") for each in shown)
    return "\n".join([f"### {html.escape(closing)}", "", *lines, ""])


def _told(finding: Finding) -> list[tuple[str, str]]:
    """What a finding says below its symptom, each text with its label."""
    told = [
        ("In your data", finding.evidence),
        ("Likely", finding.misconception),
        ("To decide", finding.experiment),
        ("Made and repaired", finding.to_see),
    ]
    return [(label, text) for label, text in told if text]


def as_html(verdict: Verdict, examples: Mapping[str, str] | None = None) -> str:
    """The verdict as a self-contained piece of HTML without scripts and links; text is escaped.

    `examples` is HTML by the code of a finding; it is shown below the finding.
    """
    mark, colour = LOOKS[verdict.in_words]
    return filled(
        _VERDICT,
        colour=colour,
        mark=mark,
        headline=headline(verdict),
        findings=verdict.findings[:MOST_FINDINGS],
        open=verdict.in_words == NOT_HANDED_IN,
        verdict=verdict,
        examples=examples or {},
        picture=_picture(verdict),
    )


def _picture(verdict: Verdict) -> str:
    """What was handed in beside the value of the recording, and what is accepted, as an image.

    '' where a verdict does not tell what is accepted, the unit is unknown, or where the value
    is not what is wrong.
    """
    stated = verdict.values
    ranges, value = stated.get("accepted") or (), stated.get("submitted")
    if not ranges or value is None:
        return ""
    inside = any(low <= value <= high for low, high in ranges)
    if inside != (verdict.outcome is Outcome.PASSED):
        return ""
    from labs.analysis.confidence import Estimate
    from labs.plots.figure_svg import Mark, value_drawing

    marks, unit = [Mark("handed in", value, "handed in")], stated["unit"]
    if "measured" in stated:
        own, low, high = stated["measured"]
        of_run = Estimate(own, low, high, unit, method="", n=0, processes=0)
        marks.append(Mark.of("your recording", of_run))
    if "predicted" in stated:
        marks.append(Mark("your prediction", stated["predicted"], "predicted"))
    return value_drawing(marks, unit, ranges, _published(verdict.figure, unit)).as_html()


def _published(figure: str, unit: str) -> list[float]:
    """What reports print for the same quantity, in `unit`; nothing if that is no unit of time."""
    from grader.figures import figure_named
    from labs.course import published

    try:
        spec = figure_named(figure)
    except KeyError:  # of a course's own lab
        return []
    alone = len(spec.variants) == 1 and spec.quantity in (Quantity.COST, Quantity.OVERHEAD)
    if not alone or unit not in NANOSECONDS:
        return []
    found = published.of_variant(spec.kernel, spec.variants[0], spec.flags)
    return [each.ns / NANOSECONDS[unit] for each in found]


def plot_svg(verdict: Verdict, folder: Path) -> str:
    """The plot of the judged recording, as SVG; "" if there is nothing to draw."""
    from grader.figures import figure_named
    from labs.plots.figure_svg import evidence_drawing
    from labs.recording.file import BadRecording, read

    if verdict.recording is None:
        return ""
    path = Path(folder) / verdict.recording
    try:
        recording = read(path)
        spec = figure_named(verdict.figure)
        variant = spec.variant if spec.variants else ""
        return evidence_drawing(recording, variant).svg if variant in recording.variants else ""
    except (BadRecording, KeyError):
        return ""


# The evidence that a person sees below a free text to grade: figures and conditions.
#
# A report states values, intervals, samples and conditions. This shows those of the recordings, so
# that a grader can check a sentence without opening a file.

#: Conditions that a report should name, and their names on the page.
CONDITIONS = (
    ("machine.cpu", "CPU"),
    ("machine.virtual", "virtual machine"),
    ("os", "OS kernel"),
    ("compiler", "compiler"),
    ("flags", "flags"),
    ("cpu.asked", "pinned to CPU"),
)
_MOST_TEXT = 300

_EVIDENCE = Path(__file__).with_name("evidence.html.jinja")


def evidence_html(verdicts: Sequence[Verdict], folder: Path) -> str:
    """The figures of a submission with their reasons, and the conditions of each recording."""
    names = dict.fromkeys(each.recording for each in verdicts if each.recording)
    return filled(
        _EVIDENCE,
        figures=[(_shortened(headline(each)), _shortened(each.reason)) for each in verdicts],
        tries=[f"{each.figure} {times(each.tries)}" for each in verdicts if each.tries is not None],
        runs=[(_shortened(name), _of_run(Path(folder) / name)) for name in names],
    )


def _of_run(path: Path) -> str:
    from labs.recording.file import BadRecording, read

    try:
        return _shortened(_summary(read(path)))
    except BadRecording as error:
        return f"cannot be read: {_shortened(error.what)}"


def _summary(recording: Recording) -> str:
    steady = recording.sample >= 0
    samples = ", ".join(
        f"{int((steady & (recording.variant_index == index)).sum()):,} of {variant}"
        for index, variant in enumerate(recording.variants)
    )
    parts = [f"samples: {samples}", f"processes: {len(recording.processes)}"]
    for key, what in CONDITIONS:
        if recording.condition(key):
            parts.append(f"{what}: {', '.join(dict.fromkeys(recording.condition(key)))}")
    return "; ".join(parts)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."
