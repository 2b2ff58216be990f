"""Compiles and runs a student's C in the sandbox, and says what it is: a C kernel that measures?

Only the structure counts: it compiles, it prints as many samples as it is asked for, and twice as
many if it is asked for twice as many. How long its samples are says nothing here, because the
student measured on another machine.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader.sandbox.bubblewrap import GIVEN, Limits, Result, run
from labs import paths
from labs.c_kernels.toolchain import DEFAULT_FLAGS, C, Language, find_compiler
from labs.recording.file import BadRecording
from labs.run.c_process import parse_run

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
