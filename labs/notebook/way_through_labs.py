"""A student's way through the labs, shown: hints, what is done, and predictions with results."""

from __future__ import annotations

from pathlib import Path

from labs.common.messages import Message, Refused, show
from labs.course import comparison, progress
from labs.course.guide import Guide


def hint(guide: Guide, topic: str, rung: int) -> int:
    """Show the hints of `topic` up to number `rung`, and return how many these are.

    Raises Refused for no topic, or another, naming those there are.
    """
    rungs = guide.hints.get(topic)
    if rungs is None:
        known = ", ".join(f'lab.hint("{name}")' for name in guide.hints) or "no hints"
        what = f"no hint {topic!r} in this lab" if topic else "name what the hint is for"
        raise Refused(Message("problem", f"{what}; there is {known}"))
    shown = min(max(rung, 1), len(rungs))
    words = tuple(f"{number}. {text}" for number, text in enumerate(rungs[:shown], start=1))
    more = "" if shown == len(rungs) else "; run the cell again for the next"
    show(Message("note", f"hint {shown} of {len(rungs)}{more}", words))
    return shown


def progress_of(folder: Path, name: str, guide: Guide) -> None:
    """Show what is done in the lab `name` and what comes next, and how far the other labs are.

    Raises Refused where it cannot be read.
    """
    mine = progress.of_lab(folder, name, guide)
    if mine.trouble:
        raise Refused(Message("problem", "your progress cannot be read", (mine.trouble,)))
    lines = tuple(f"{'✓ done' if is_done else '○ open'}: {step.do}" for step, is_done in mine.steps)
    heading = f"{mine.done} of {len(mine.steps)} steps done"
    heading += f"; next: {mine.next.do}" if mine.next else "; all of them"
    show(Message("done" if mine.finished else "note", heading, lines))
    others = progress.of_labs(folder.parent)
    if any(each.here and each.lab != name for each in others):
        show(progress.table(others, name))


def wrap_up(labs_folder: Path) -> None:
    """Show prediction against result over all labs so far, and how far off the guesses are."""
    rows = comparison.of_labs(labs_folder)
    if not rows:
        show(Message("note", "no predictions yet", ("`lab.predict(...)` stores one.",)))
        return
    show(comparison.table(rows))
    sentences = comparison.calibration(rows)
    if sentences:
        show(Message("note", sentences[0].removesuffix("."), sentences[1:]))
