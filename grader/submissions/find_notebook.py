"""Finds the notebook that a student handed in, also under another name."""

from __future__ import annotations

from pathlib import Path

import nbformat

from grader.submissions.rebuild import known_answers, quoted
from grader.submissions.student_notebook import Submitted, read_submitted


def find_submitted(
    path: Path, released: nbformat.NotebookNode, names: set[str]
) -> tuple[Submitted, list[str]]:
    """The submitted notebook, also if the student renamed it, and notes about this."""
    submitted = read_submitted(path)
    if path.exists() or path.is_symlink():
        return submitted, []
    others = [p for p in sorted(path.parent.glob("*.ipynb")) if p.stem not in names]
    read = [(other, read_submitted(other)) for other in others[:10]]
    best = max(read, key=lambda pair: known_answers(released, pair[1]), default=None)
    if best is not None and known_answers(released, best[1]):
        return best[1], [f"the notebook was found under the name {quoted(best[0].name)}"]
    unread = [
        f"{quoted(other.name)}: {one.trouble or 'no cell of this lab'}" for other, one in read
    ]
    return submitted, unread
