"""Runs the C of one submission again, in the sandbox, and notes for a person what it does.

The instructor asks for it, one student at a time. The note is no part of the grading: nothing here
writes to the gradebook, and no time is compared with a time of the student's.
"""

from __future__ import annotations

import datetime
import errno
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.facts.sources import is_of_the_kit, source_beside
from grader.figures import LABS, figures_of
from grader.sandbox.bubblewrap import NoSandbox, refusal
from grader.sandbox.own_c import OwnC, Seen, look_at
from grader.submissions.safe_files import copy, printable, trouble_with_name
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import NoCompiler
from labs.course import figures
from labs.course.figures import BadFigures, Figure
from labs.files import write_atomically
from labs.recording.file import BadRecording, Recording, read
from labs.terminal import suggestion
from labs.version import __version__

#: The folder of the notes, in the course folder: LAB/STUDENT.json.
RERUNS = "reruns"
_MOST_VARIANTS, _MOST_BATCHES = 64, 32


class CannotRerun(Exception):
    """Nothing was run; the message says why and what to do."""


@dataclass(frozen=True)
class Rerun:
    """What one recording's C did again, and the figures whose evidence it is."""

    recording: str
    figures: tuple[str, ...]
    seen: Seen
    made_with: str

    @property
    def as_it_should(self) -> bool:
        """Whether the C compiles, and prints as many samples as it is asked for."""
        return self.seen.compiles and self.seen.emits and self.seen.scales

    def sentences(self) -> list[str]:
        """What was seen, for a person."""
        if not self.seen.compiles:
            lines = ["It does not compile here.", self.seen.trouble]
            if self.made_with != __version__:
                lines.append(
                    f"The run was made with Ticklab {self.made_with or 'of an unknown version'}, "
                    f"and compiled again with the headers of {__version__}."
                )
            return lines
        lines = ["It compiles."]
        for asked, printed in self.seen.counts:
            same = "as many" if asked == printed else f"{printed:,}"
            lines.append(f"Asked for {asked:,} samples, it printed {same}.")
        if len(self.seen.counts) == 2 and not self.seen.scales:
            lines.append("Asked for twice as many, it did not print twice as many.")
        return [*lines, *([self.seen.trouble] if self.seen.trouble else [])]


def rerun(course: Path, lab: str, student: str, figure: str | None = None) -> list[Rerun]:
    """Run each C of the submission again, or only that of `figure`, and store the note.

    The list is empty if the submission holds no C of the student's own. Raises CannotRerun, and
    OSError if the disk is full.
    """
    _check(lab, student, figure)
    why = refusal()
    if why is not None:
        raise CannotRerun(why)
    submitted = course / "submitted"
    with tempfile.TemporaryDirectory(prefix="ticklab-rerun-") as scratch:
        folder = Path(scratch) / lab
        try:
            # A copy by the same rules as for grading: no links, no pipes, limited sizes.
            copy(submitted / student / lab, folder, ["*.ipynb"], trusted=submitted)
            done = [_again(*each) for each in _own(folder, lab, figure)]
        except FileNotFoundError as error:
            raise CannotRerun(
                f"there is no submission of {printable(student)} for {lab} in {submitted}; "
                "collect it first, or name the course folder with --course"
            ) from error
        except (BadFigures, NoSandbox, NoCompiler) as error:
            raise CannotRerun(str(error)) from error
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
            place = printable(error.filename or str(submitted / student / lab), 200)
            raise CannotRerun(f"{place}: {error.strerror or error}") from error
    if done:
        write_atomically(note_of(course, lab, student), _note(lab, student, done))
    return done


def note_of(course: Path, lab: str, student: str) -> Path:
    """Where the note about a submission is."""
    return course / RERUNS / lab / f"{student}.json"


def _check(lab: str, student: str, figure: str | None) -> None:
    if lab not in LABS:
        raise CannotRerun(f"there is no lab {printable(lab)}{suggestion(lab, tuple(LABS))}")
    trouble = trouble_with_name(student)
    if trouble is not None:
        raise CannotRerun(trouble)
    known = [spec.id for spec in figures_of(lab)]
    if figure is not None and figure not in known:
        raise CannotRerun(f"{lab} has no figure {printable(figure)}{suggestion(figure, known)}")


def _own(
    folder: Path, lab: str, only: str | None
) -> Iterator[tuple[str, tuple[str, ...], Recording, Path, str]]:
    """Each recording in `folder` with the student's own C: its name, figures and content, and the
    file and text of the C."""
    wanted = [spec.id for spec in figures_of(lab) if only in (None, spec.id)]
    named: dict[str, list[str]] = {}
    for name, figure in figures.read(folder).items():
        if isinstance(figure, Figure) and figure.recording is not None and name in wanted:
            named.setdefault(figure.recording, []).append(name)
    for name, of_figures in sorted(named.items()):
        try:
            recording = read(folder / name)
        except BadRecording:
            continue
        source = source_beside(recording, folder / name)
        if source is not None and not is_of_the_kit(recording):
            yield name, tuple(of_figures), recording, *source


def _again(
    name: str, of_figures: tuple[str, ...], recording: Recording, place: Path, source: str
) -> Rerun:
    batches = sorted(set(recording.batch.tolist()))
    own = OwnC(
        source,
        recording.conditions.get("flags", ""),
        recording.variants[:_MOST_VARIANTS],
        tuple(batches[:_MOST_BATCHES]),
        toolchain.language_of(place.name) or toolchain.C,
    )
    version = printable(recording.conditions.get("ticklab", ""), 20)
    return Rerun(name, of_figures, look_at(own), version)


def _note(lab: str, student: str, done: list[Rerun]) -> bytes:
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    runs = [{**asdict(each), "as it should": each.as_it_should} for each in done]
    about = "What the student's C did when it ran again. It changes no points."
    note = {"about": about, "lab": lab, "student": student, "when": now, "runs": runs}
    return json.dumps(note, indent=1).encode("ascii") + b"\n"
