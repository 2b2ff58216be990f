"""A student's progress: the steps done in each lab, the next step, and the figures asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.course import answers, figures, guide, handed_in, lab_names, predictions
from labs.course.guide import Guide, Step
from labs.html import Table
from labs.terminal import suggestion


@dataclass(frozen=True)
class LabProgress:
    """One lab: each of its steps, and whether it is done.

    `here` says whether its folder exists. If a file in it cannot be read, `trouble` says so.
    `handed_in` is what is known about handing it in, as text; '' if it was not handed in.
    `points_missing` says whether it was handed in with fewer points than there are, and
    `not_passed` which figures did not pass the check then.
    """

    lab: str
    steps: tuple[tuple[Step, bool], ...]
    here: bool = True
    trouble: str = ""
    handed_in: str = ""
    points_missing: bool = False
    not_passed: tuple[str, ...] = ()

    @property
    def core(self) -> tuple[bool, ...]:
        """Of each step that does not go further, whether it is done."""
        return tuple(is_done for step, is_done in self.steps if not step.further)

    @property
    def done(self) -> int:
        """How many steps of the core are done."""
        return sum(self.core)

    @property
    def next(self) -> Step | None:
        """The first step of the core that is not done; None if all are done."""
        left = (step for step, is_done in self.steps if not (is_done or step.further))
        return next(left, None)

    @property
    def finished(self) -> bool:
        """Whether all steps of the core are done, and their points handed in."""
        return self.next is None and not self.points_missing

    def heading(self) -> str:
        """How many steps of the core are done, and the next one."""
        if self.next is not None:
            return f"{self.done} of {len(self.core)} steps done; next: {self.next.do}"
        more = f"; {self.handed_in}" if self.handed_in else ""
        done = f"all {len(self.core)} steps done"
        return f"{done}{more}{self._to_mend()}"

    def _to_mend(self) -> str:
        """What to do about points that are missing; '' if none are."""
        if not self.points_missing:
            return ""
        which = f"; not right yet: {', '.join(self.not_passed)}" if self.not_passed else ""
        return f"{which}; check your figures, then hand in again"

    def line(self, step: Step, is_done: bool) -> str:
        """One step as text."""
        if is_done and step.kind == "figure" and step.name in self.not_passed:
            return f"○ handed in, but not right yet: {step.do}"
        more = f" ({self.handed_in})" if step.kind == "hand-in" and self.handed_in else ""
        sign = "✓ done" if is_done else "○ going further" if step.further else "○ open"
        return f"{sign}: {step.do}{more}"

    def lines(self) -> tuple[str, ...]:
        """Each step as text."""
        return tuple(self.line(step, is_done) for step, is_done in self.steps)

    def next_as_text(self) -> str:
        """What to do next in this lab, or why that is unknown."""
        if self.trouble:
            return self.trouble
        if not self.here:
            return "not in this folder"
        if self.next is not None:
            return self.next.do
        if self.points_missing:
            return f"○ {self.handed_in}{self._to_mend()}"
        return "✓ all done" + (f"; {self.handed_in}" if self.handed_in else "")

    def as_json(self) -> dict[str, Any]:
        """The object that `labs progress --json` prints for this lab."""
        return {
            "lab": self.lab,
            "done": self.done,
            "steps": [{"do": step.do, "done": is_done} for step, is_done in self.steps],
            "next": self.next.do if self.next and not self.trouble else None,
            "handed_in": self.handed_in or None,
            "not_passed": list(self.not_passed),
            "trouble": self.trouble or None,
        }


def is_done(step: Step, folder: Path) -> bool:
    """Whether `folder`, the student's folder of this lab, has the evidence that a step is done.

    Raises ValueError or OSError if a file that would hold it cannot be read.
    """
    found = EVIDENCE[step.kind](folder, step.name)
    if not found or not (step.variant or step.no_faults):
        return found
    return _holds(folder, step.name, step.variant, step.no_faults)


def _holds(folder: Path, name: str, variant: str, no_faults: str) -> bool:
    """Whether a recording can be read and holds what `Step` says; '' asks for nothing."""
    # Here: reading recordings takes long to load, and few steps need it.
    from labs.recording import file
    from labs.recording.counts import page_faults_of

    try:
        recording = file.read(figures.recording_path(folder, name))
        counts = page_faults_of(recording, no_faults) if no_faults else None
    except file.BadRecording:
        return False
    if no_faults and (counts is None or counts.has_faults):
        return False
    return not variant or variant in recording.variants


#: The kinds of evidence; a lab has its report and its archive once, so these have no name.
EVIDENCE: dict[str, Callable[[Path, str], bool]] = {
    "prediction": lambda folder, name: name in predictions.read(folder),
    "recording": lambda folder, name: figures.recording_path(folder, name).is_file(),
    "figure": lambda folder, name: isinstance(figures.read(folder).get(name), figures.Figure),
    "answer": lambda folder, name: name in answers.read(folder),
    "report": lambda folder, _: answers.is_written(folder),
    "hand-in": lambda folder, _: handed_in.of_lab(folder).unchanged,
}


def of_lab(folder: Path, lab: str, its_guide: Guide | None = None) -> LabProgress:
    """The progress in `folder`, the student's folder of `lab`; by default with the kit's guide."""
    steps = (its_guide if its_guide is not None else guide.of_lab(lab)).steps
    further = {step.name for step in steps if step.further and step.kind == "figure"}
    if not folder.is_dir():
        return LabProgress(lab, tuple((step, False) for step in steps), here=False)
    try:
        found = tuple((step, is_done(step, folder)) for step in steps)
        state = handed_in.of_lab(folder)
        left_out = further - {step.name for step, done in found if done}
        wrong = tuple(name for name in state.not_passed if name not in left_out)
        missing = state.points_missing and bool(wrong or not state.not_passed)
        return LabProgress(
            lab, found, handed_in=str(state), points_missing=missing, not_passed=wrong
        )
    except (ValueError, OSError) as error:
        return LabProgress(lab, tuple((step, False) for step in steps), True, str(error))


def of_labs(folder: Path) -> tuple[LabProgress, ...]:
    """The progress in every lab of the kit, in the order taught; `folder` holds the lab folders."""
    return tuple(of_lab(folder / lab, lab) for lab in lab_names.labs())


def what_next(labs: tuple[LabProgress, ...], here: str = "") -> str:
    """The next step: in the lab `here`, else in a lab that is begun, else in the first lab."""
    open_labs = [each for each in labs if each.here and not each.trouble and not each.finished]
    # False sorts before True.
    order = sorted(open_labs, key=lambda each: (each.lab != here, each.done == 0))
    return f"{order[0].lab}: {order[0].next_as_text()}" if order else ""


def table(labs: tuple[LabProgress, ...], here: str = "", caption: str = "All labs") -> Table:
    """One row for each lab; the lab `here` is marked."""
    return Table(
        caption,
        ("lab", "steps done", "next"),
        tuple(
            (
                f"{each.lab} (this one)" if each.lab == here else each.lab,
                f"{each.done} of {len(each.core)}",
                each.next_as_text(),
            )
            for each in labs
        ),
    )


def map_of_labs() -> Table:
    """What each lab asks, what people got wrong, and what settles it. Raises paths.PartMissing."""
    known = lab_names.stories()
    return Table(
        "What the labs are about",
        ("lab", "question", "what people got wrong", "what settles it"),
        tuple(
            (each.name[:2], each.asks, *known.get(each.name, ("", "")))
            for each in lab_names.all_labs()
        ),
    ).without_empty()


def figures_asked(guide: Guide) -> tuple[str, ...]:
    """The ids of the figures that a lab has handed in, in the order of its steps."""
    named = (step.name for step in guide.steps if step.kind == "figure")
    return tuple(dict.fromkeys(named))


def about_unknown_figure(figure: str, guide: Guide) -> str:
    """A message if the lab asks for no figure called `figure`.

    It is empty if the lab asks for that figure, or if the guide names no figures.
    """
    known = figures_asked(guide)
    if not known or figure in known:
        return ""
    return f"This lab asks for no figure {figure!r}{suggestion(figure, known)}"
