"""Runs the C of one submission again, in the sandbox, and notes for a person what it does.

The instructor asks for it, one student at a time. The note is no part of the grading: nothing here
writes to the gradebook, and no time is compared with a time of the student's.
"""

from __future__ import annotations

import datetime
import errno
import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from grader.evidence.sources import is_of_the_kit, source_beside
from grader.figures import LABS, figures_of
from grader.sandbox import GIVEN, Limits, NoSandbox, Result, demand, run
from grader.submissions.safe_files import copy, printable, trouble_with_name
from labs import paths
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import DEFAULT_FLAGS, C, Language, NoCompiler, find_compiler
from labs.course import figures
from labs.course.figures import BadFigures, Figure
from labs.files import write_atomically
from labs.recording.file import BadRecording, read
from labs.run.c_process import parse_run
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
    try:
        demand()
    except NoSandbox as error:
        raise CannotRerun(str(error)) from error
    submitted = course / "submitted"
    with tempfile.TemporaryDirectory(prefix="ticklab-rerun-") as scratch:
        folder = Path(scratch) / lab
        try:
            # A copy by the same rules as for grading: no links, no pipes, limited sizes.
            copy(submitted / student / lab, folder, ["*.ipynb"], trusted=submitted)
            done = list(_runs(folder, lab, figure))
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


def _runs(folder: Path, lab: str, only: str | None) -> Iterator[Rerun]:
    """Runs the C of each recording in `folder` that is of a student's own C."""
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
        if source is None or is_of_the_kit(recording):
            continue
        batches = sorted(set(recording.batch.tolist()))
        own = OwnC(
            source[1],
            recording.conditions.get("flags", ""),
            recording.variants[:_MOST_VARIANTS],
            tuple(batches[:_MOST_BATCHES]),
            toolchain.language_of(source[0].name) or toolchain.C,
        )
        version = printable(recording.conditions.get("ticklab", ""), 20)
        yield Rerun(name, tuple(of_figures), look_at(own), version)


def _note(lab: str, student: str, done: list[Rerun]) -> bytes:
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    runs = [{**asdict(each), "as it should": each.as_it_should} for each in done]
    about = "What the student's C did when it ran again. It changes no points."
    note = {"about": about, "lab": lab, "student": student, "when": now, "runs": runs}
    return json.dumps(note, indent=1).encode("ascii") + b"\n"


# Compiles and runs a student's C in the sandbox, and says what it is: a C kernel that measures?
#
# Only the structure counts: it compiles, it prints as many samples as it is asked for, and twice as
# many if it is asked for twice as many. How long its samples are says nothing here, because the
# student measured on another machine.

#: Samples per variant and batch size in the first run; the second takes twice as many.
SAMPLES = 20

_COMPILING = Limits(wall_s=60.0, cpu_s=60, output=16_000_000)
_RUNNING = Limits(wall_s=30.0, cpu_s=30)
_MOST_FLAGS, _MOST_WORDS = 20, 600
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_PROGRAM = "own"


@dataclass(frozen=True)
class OwnC:
    """A student's C or C++, and what the recording states of its run."""

    source: str
    flags: str
    variants: tuple[str, ...]
    batches: tuple[int, ...]
    language: Language = C

    @property
    def file(self) -> str:
        """The name of its file in the sandbox."""
        return f"{_PROGRAM}.{'c' if self.language is C else 'cpp'}"


@dataclass(frozen=True)
class Seen:
    """What was seen; `counts` holds for each run how many samples were asked for and printed.

    `trouble` says what went wrong, in the words of the compiler or of the program; "" if nothing.
    """

    compiles: bool
    counts: tuple[tuple[int, int], ...] = ()
    trouble: str = ""

    @property
    def emits(self) -> bool:
        """Whether each run printed as many samples as it was asked for."""
        return bool(self.counts) and all(asked == printed for asked, printed in self.counts)

    @property
    def scales(self) -> bool:
        """Whether the run that was asked for twice the samples printed twice as many."""
        printed = [each for _, each in self.counts]
        return len(printed) == 2 and 0 < 2 * printed[0] == printed[1]


def look_at(own: OwnC) -> Seen:
    """Compile and run `own`. Raises NoSandbox, NoCompiler, and OSError if the disk is full."""
    with tempfile.TemporaryDirectory(prefix="ticklab-rerun-") as scratch:
        folder = Path(scratch) / "given"
        _lay_out(folder, own)
        built = _compiled(folder, own)
        if built.ended or built.status != 0:
            return Seen(False, trouble=_said(built, only=": error: "))
        folder.joinpath(_PROGRAM).write_bytes(built.output)
        folder.joinpath(_PROGRAM).chmod(0o755)
        seen = Seen(True)
        for times in (1, 2):
            asked = times * SAMPLES * max(len(own.batches), 1)
            done = run([f"{GIVEN}/{_PROGRAM}", *_options(own, asked)], folder, _RUNNING)
            if done.ended or done.status != 0:
                return replace(seen, trouble=_said(done))
            try:
                printed = _fewest(done.output, own.variants)
            except BadRecording as error:
                return replace(seen, trouble=_one_line(error.what))
            seen = replace(seen, counts=(*seen.counts, (asked, printed)))
        return seen


def _lay_out(folder: Path, own: OwnC) -> None:
    """The source and the kit's headers, which everybody may read: the sandbox is another user."""
    (folder / "broken").mkdir(parents=True)
    for place in (folder, folder / "broken"):
        place.chmod(0o755)
    kit = paths.kernels_c()
    for header in (*kit.glob("*.h"), *kit.glob("broken/*.h")):
        shutil.copyfile(header, folder / header.relative_to(kit))
        (folder / header.relative_to(kit)).chmod(0o644)
    (folder / own.file).write_text(f'#line 1 "{own.file}"\n{own.source}', encoding="utf-8")
    (folder / own.file).chmod(0o644)


def _compiled(folder: Path, own: OwnC) -> Result:
    """What the compiler said; `output` is the program. Nothing that it writes leaves the sandbox
    but by this output."""
    compiler = list(find_compiler(own.language).command)
    words = [*compiler, *own.language.flags, *_words(own.flags)]
    words += ["-I", GIVEN, "-I", f"{GIVEN}/broken"]
    words += [f"{GIVEN}/{own.file}", "-o", f"/tmp/{_PROGRAM}", "-lm"]
    # What the compiler prints on standard output must not become a part of the program.
    script = f'"$@" >&2 && cat /tmp/{_PROGRAM}'
    # A compiler from a Python or conda environment lies there, and not in /usr.
    elsewhere = not Path(compiler[0]).resolve().is_relative_to("/usr")
    return run(["sh", "-c", script, "sh", *words], folder, _COMPILING, python=elsewhere)


def _words(flags: str) -> Sequence[str]:
    """The compiler flags that the recording states, or the default if they are unusable."""
    try:
        words = shlex.split(flags[:1_000])
    except ValueError:
        return DEFAULT_FLAGS
    return words if len(words) <= _MOST_FLAGS else DEFAULT_FLAGS


def _options(own: OwnC, samples: int) -> list[str]:
    words = ["--samples", str(samples), "--place", "anywhere"]
    names = [name for name in own.variants if _NAME.fullmatch(name)]
    if names:
        words += ["--variant", ",".join(names)]
    if own.batches:
        words += ["--batch", ",".join(map(str, own.batches))]
    return words


def _fewest(output: bytes, variants: tuple[str, ...]) -> int:
    """The samples of the variant that has the fewest, without warm-up. Raises BadRecording."""
    printed = parse_run(output, where="the program")
    if len(printed.variants) == 0:
        return 0
    taken = printed.table[printed.table[:, 1] >= 0]
    counts = dict(zip(*np.unique(taken[:, 0], return_counts=True), strict=True))
    wanted = [name for name in variants if _NAME.fullmatch(name)] or list(printed.variants)
    return min(
        int(counts.get(printed.variants.index(name), 0)) if name in printed.variants else 0
        for name in wanted
    )


def _said(done: Result, only: str = "") -> str:
    """Why a command failed: our limit, or its own first words, of lines that hold `only` if any."""
    text = done.errors.decode("utf-8", "replace")
    chosen = [line for line in text.splitlines() if only in line]
    own = _one_line("\n".join(chosen) or text)
    if done.ended:
        return done.ended
    if done.status is not None and done.status > 128:
        return f"It was ended by signal {done.status - 128}. {own}".strip()
    return own or f"It ended with status {done.status} and printed no error."


def _one_line(text: str) -> str:
    """`text` on one line, shortened, without control characters."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * _MOST_WORDS])
    return " ".join(shown.split())[:_MOST_WORDS]
