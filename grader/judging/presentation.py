"""Present a verdict as text, as HTML, and with the plot of its recording.

The notebook, the command line, nbgrader's feedback and the formgrader show the same texts. We
escape all text, because parts of a verdict may come from a student's files.
"""

from __future__ import annotations

import html
from pathlib import Path

from grader.cases.verdict import Finding, Outcome, Verdict

MOST_FINDINGS = 3

_MARKS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.NOT_GRADED: "?"}
#: Colours of the border, visible on light and dark backgrounds; text has the page's own colour.
_COLOURS = {Outcome.PASSED: "#009E73", Outcome.FAILED: "#D55E00", Outcome.NOT_GRADED: "#808080"}


def points_as_text(points: float) -> str:
    """Points without unnecessary decimals."""
    return f"{points:g}"


def headline(verdict: Verdict) -> str:
    """Figure, outcome and points in one line."""
    return (
        f"{verdict.figure}: {verdict.outcome.value}, {points_as_text(verdict.points)} of "
        f"{points_as_text(verdict.max_points)} points"
        if verdict.outcome is not Outcome.NOT_GRADED
        else f"{verdict.figure}: {verdict.outcome.value}"
    )


def as_text(verdict: Verdict) -> str:
    """The verdict for a terminal: headline, reason, findings, what to look at next."""
    lines = [f"{_MARKS[verdict.outcome]} {headline(verdict)}"]
    if not verdict.findings:  # otherwise the reason is the symptom of the first finding
        lines.append(f"  {verdict.reason}")
    for finding in verdict.findings[:MOST_FINDINGS]:
        lines += [
            f"  [{finding.code}] {finding.symptom}",
            f"    In your data: {finding.evidence}",
            f"    Likely: {finding.misconception}",
            f"    To decide: {finding.experiment}",
        ]
    if verdict.praise:
        lines += [f"  {verdict.praise}", f"  Look next: {verdict.look_next}"]
    lines += [f"  For a person to look at: {flag}." for flag in verdict.flags]
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The verdict as a self-contained piece of HTML without scripts and links; text is escaped."""
    colour = _COLOURS[verdict.outcome]
    mark = _MARKS[verdict.outcome]
    parts = [
        f'<div style="border-left:4px solid {colour};padding:0.2em 0.9em;margin:0.4em 0">',
        f'<p style="margin:0.2em 0"><strong><span aria-hidden="true">{mark}</span> '
        f"{html.escape(headline(verdict))}</strong></p>",
    ]
    if not verdict.findings:  # otherwise the reason is the symptom of the first finding
        parts.append(f'<p style="margin:0.2em 0">{html.escape(verdict.reason)}</p>')
    parts += [_finding(finding) for finding in verdict.findings[:MOST_FINDINGS]]
    if verdict.praise:
        parts.append(
            f'<p style="margin:0.4em 0">{html.escape(verdict.praise)}<br>'
            f"<em>Look next:</em> {html.escape(verdict.look_next)}</p>"
        )
    for flag in verdict.flags:
        parts.append(
            f'<p style="margin:0.2em 0"><em>For a person to look at:</em> {html.escape(flag)}.</p>'
        )
    parts.append("</div>")
    return "".join(parts)


def _finding(finding: Finding) -> str:
    rows = (
        ("In your data", finding.evidence),
        ("Likely", finding.misconception),
        ("To decide", finding.experiment),
    )
    entries = "".join(
        f"<dt><em>{label}</em></dt><dd style='margin:0 0 0.2em 1.5em'>{html.escape(text)}</dd>"
        for label, text in rows
    )
    return (
        f"<p style='margin:0.5em 0 0.1em'><strong>{html.escape(finding.symptom)}</strong> "
        f"<code>{html.escape(finding.code)}</code></p><dl style='margin:0'>{entries}</dl>"
    )


def plot_png(verdict: Verdict, folder: Path) -> bytes | None:
    """The plot of the judged recording, as PNG; None if there is nothing to draw."""
    from grader.figures import figure_named
    from labs.plots import plot
    from labs.recording.file import BadRecording, read

    if verdict.recording is None:
        return None
    path = Path(folder) / verdict.recording
    try:
        recording = read(path)
        spec = figure_named(verdict.figure)
        variant = spec.variant if spec.variants else ""
        if variant not in recording.variants:
            return None
        return plot.png(plot.samples_figure(recording, variant, "ns"))
    except (BadRecording, KeyError):
        return None
