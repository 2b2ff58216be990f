"""`lab.join` and `labs join`: a student joins the class, sees what leaves, and can leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from labs.course.in_class import Findings, Member, NoClass
from labs.files import CannotWrite
from labs.html import Table
from labs.messages import Message, Refused, in_notebook, show
from labs.paths import CacheNotWritable

_EXPLAINED = (
    "The table shows what leaves this machine. It changes before anything else leaves. No name and "
    "no recording is in it. Your lab goes on in the same way if the class does not answer."
)


def joined(folder: Path, code: str, address: str, findings: Callable[[], Findings]) -> Member:
    """Join the class for the lab in `folder`, and say what leaves. Raises Refused."""
    shown = _Shown()
    try:
        member = Member(folder, code, address, findings, shown)
        member.join()
    except (NoClass, CacheNotWritable, CannotWrite) as error:
        raise Refused(Message("problem", "you have not joined", (f"{error}.",))) from None
    words = [_EXPLAINED]
    if member.digits:
        words.append(
            f"The certificate of the class begins with {member.digits}. If the wall shows other "
            "digits, leave: somebody stands between you and the class."
        )
    show(Message("done", f"you are in the class as {member.name}", tuple(words)))
    return member


def left(member: Member) -> Message:
    """Leave the class. Raises Refused."""
    try:
        answered = member.leave()
    except NoClass as error:
        raise Refused(Message("problem", "the class did not let you go", (f"{error}.",))) from None
    if answered:
        return Message("done", "you have left the class", ("It has forgotten what you shared.",))
    return Message(
        "note",
        "nothing more is sent",
        ("The class did not answer, so what you shared before may still be there.",),
    )


class _Shown:
    """The table of what leaves: one output of the cell in a notebook, printed lines elsewhere."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, table: Table) -> None:
        if self._handle is not None:
            self._handle.update(table)
        elif in_notebook():
            from IPython.display import display

            self._handle = display(table, display_id=True)  # type: ignore[no-untyped-call]
        else:
            show(table)


def codes_of(shown: object) -> tuple[str, ...]:
    """The codes of the findings in a verdict that displays itself."""
    verdict = getattr(shown, "verdict", None)
    return tuple(each.code for each in getattr(verdict, "findings", ()))


def codes_in(check: Callable[[str, Path], object], folder: Path) -> dict[str, tuple[str, ...]]:
    """The codes of the findings on each figure in `folder`; none if it cannot be checked."""
    try:
        shown = check("", folder)
    except Refused:
        return {}
    return {
        each.figure: tuple(finding.code for finding in each.findings)
        for each in getattr(shown, "verdicts", ())
    }
