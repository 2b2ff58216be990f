"""Hand a lab in from its notebook."""

from __future__ import annotations

import datetime
from pathlib import Path

from labs.common.files import CannotWrite
from labs.common.messages import Message, Refused
from labs.hand_in.archive import CannotHandIn
from labs.hand_in.hand_in import carry_out
from labs.notebook import explain


def handed_in(folder: Path) -> Message:
    """Hand in the lab in `folder`, and say what was handed in. Raises Refused."""
    try:
        report = carry_out(folder)
    except (CannotHandIn, CannotWrite) as error:
        raise Refused(explain.of_error(error)) from None
    sentences = report.lines()
    for notebook in folder.glob("*.ipynb"):
        saved = datetime.datetime.fromtimestamp(notebook.stat().st_mtime)
        sentences.append(
            f"{notebook.name} is handed in as it was saved at {saved:%H:%M:%S}. If you have "
            "changed it since, save it and run this cell again."
        )
    complete = not (report.missing or report.failed or report.trouble)
    heading = "handed in" if report.submitted else "packed to be handed in"
    return Message("done" if complete else "note", heading, tuple(sentences))
