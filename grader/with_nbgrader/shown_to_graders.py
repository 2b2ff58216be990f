"""What a person sees beside a free text that they grade: the figures and conditions it is about.

A report says value, interval, samples and conditions. Here stand those of the recordings, so that
nobody has to open a file to see whether the sentence is true. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode
from nbformat.notebooknode import from_dict

from grader.cases.verdict import Verdict
from grader.judging.presentation import headline
from labs.common.html import filled
from labs.recording.file import BadRecording, Recording, read

CELL_ID = "evidence-beside-"

#: Conditions a report should name, and what they are called here.
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
        runs=[(_short(name), _run(Path(folder) / name)) for name in names],
    )


def _run(path: Path) -> str:
    try:
        return _short(_in_words(read(path)))
    except BadRecording as error:
        return f"cannot be read: {_short(error.what)}"


def _in_words(recording: Recording) -> str:
    steady = recording.sample >= 0
    samples = ", ".join(
        f"{int((steady & (recording.variant_index == index)).sum()):,} of {variant}"
        for index, variant in enumerate(recording.variants)
    )
    told = [f"samples: {samples}", f"processes: {len(recording.processes)}"]
    for key, what in CONDITIONS:
        if recording.condition(key):
            told.append(f"{what}: {', '.join(dict.fromkeys(recording.condition(key)))}")
    return "; ".join(told)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]} ..."


def evidence_cell(page: str, number: int) -> NotebookNode:
    """A cell that shows `page` and belongs to nobody: it is neither an answer nor graded."""
    node: NotebookNode = from_dict(  # type: ignore[no-untyped-call]
        {
            "cell_type": "code",
            "id": f"{CELL_ID}{number}",
            "metadata": {"editable": False, "deletable": False},
            "execution_count": None,
            "source": "# for the grader: what the recordings say",
            "outputs": [
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": page}}
            ],
        }
    )
    return node
