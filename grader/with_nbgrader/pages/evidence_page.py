"""The evidence that a person sees below a free text to grade: figures and conditions.

A report states values, intervals, samples and conditions. This cell shows those of the recordings,
so that a grader can check a sentence without opening a file. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict

from grader.cases.verdict import Verdict
from grader.judging.presentation import headline
from labs.html import filled
from labs.recording.file import BadRecording, Recording, read
from labs.units import times

CELL_ID = "evidence-beside-"

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
        figures=[(_short(headline(each)), _short(each.reason)) for each in verdicts],
        tries=[f"{each.figure} {times(each.tries)}" for each in verdicts if each.tries is not None],
        runs=[(_short(name), _run(Path(folder) / name)) for name in names],
    )


def _run(path: Path) -> str:
    try:
        return _short(_summary(read(path)))
    except BadRecording as error:
        return f"cannot be read: {_short(error.what)}"


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


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."


def evidence_cell(page: str, number: int) -> NotebookNode:
    """A cell that shows `page`; it is not an answer and has no points."""
    node: NotebookNode = from_dict(  # type: ignore[no-untyped-call]
        {
            "cell_type": "code",
            "id": f"{CELL_ID}{number}",
            "metadata": {"editable": False, "deletable": False},
            "execution_count": None,
            "source": "# for the grader: the evidence in the recordings",
            "outputs": [
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": page}}
            ],
        }
    )
    return node
