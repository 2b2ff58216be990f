"""The plan of a run: what to measure, whether this machine can do it, and the C that is kept."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from labs import limits, paths
from labs.c_kernels import toolchain
from labs.c_kernels.catalogue import SOURCES
from labs.files import read_bounded
from labs.machine import surroundings
from labs.recording.file import BadRecording, Recording, read
from labs.run import declared_options

#: The limits of `within`, as a share of the value. Runs of one operation differ by 1 %, which is in
#: the interval of each, so no run can be narrower than that.
LEAST_WITHIN, MOST_WITHIN = 0.02, 0.5
MOST_AT_MOST_S = 600.0


class BadPlan(ValueError):
    """A plan cannot be carried out; the message names the option and its possible values."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    `kernel` is the name of a released C kernel or the path of a file in C or C++, and `variants`
    are the names of its variants (empty: its first). `samples` is the number of samples per variant
    in the whole run, spread evenly over `processes` and `batches` (empty: the C kernel's own). In
    each process, `warmup` samples per variant come first. The processes start evenly over
    `spread_s` seconds, so that the run sees more than one state of the machine (clock speed,
    neighbours). `cpu` and `peer_cpu` pin the tasks (None: not pinned). `time_limit_s` limits the
    whole run. A C kernel of a student's own is ended if it takes no sample for `patience_s`
    seconds.

    With `within`, a share such as 0.02, the run is adaptive. After its planned processes it adds
    others until half the width of its interval is at most this share of the value, or until
    `at_most_s` seconds are over. Without it, a run of which something else took the core adds
    processes in place of those that it lost, for at most `replace_s` seconds.

    With `perf`, further processes count events of the processor and of the OS afterwards.
    """

    kernel: str
    variants: tuple[str, ...] = ()
    samples: int = declared_options.DEFAULT_SAMPLES
    batches: tuple[int, ...] = ()
    warmup: int = declared_options.DEFAULT_WARMUP
    cpu: int | None = None
    peer_cpu: int | None = None
    processes: int = 10
    flags: tuple[str, ...] = toolchain.DEFAULT_FLAGS
    time_limit_s: float = declared_options.DEFAULT_TIME_LIMIT_S
    patience_s: float = declared_options.DEFAULT_PATIENCE_S
    source: str | None = field(default=None, repr=False)
    shown_as: str | None = field(default=None, repr=False)
    first_line: int = 1
    spread_s: float = 0.0
    within: float | None = None
    at_most_s: float = declared_options.DEFAULT_AT_MOST_S
    replace_s: float = 0.0
    perf: bool = False

    @property
    def kernel_name(self) -> str:
        """The C kernel's name; for a file, its name without folder and suffix."""
        return Path(self.kernel).stem

    @property
    def of_student(self) -> bool:
        """Whether this measures C that is not one of the kit's own C kernels."""
        return self.source is not None or self.kernel.endswith(SOURCES)

    @property
    def longer_s(self) -> float:
        """For how many seconds at most the run may add processes to those planned."""
        return self.replace_s if self.within is None else self.at_most_s

    def check(self) -> None:
        """Raise BadPlan if this machine cannot carry out the plan."""
        _within("samples", self.samples, 1, limits.MOST_SAMPLES)
        _within("processes", self.processes, 1, limits.MOST_PROCESSES)
        _within("warmup", self.warmup, 0, limits.MOST_WARMUP)
        for size in self.batches:
            _within("batch", size, 0, 10**9)
        if not 0 < self.time_limit_s <= limits.MOST_TIME_LIMIT_S:
            raise BadPlan(
                f"time limit {self.time_limit_s} s: choose from 0 to {limits.MOST_TIME_LIMIT_S:g} s"
            )
        if not 0 < self.patience_s <= 3600:
            raise BadPlan(f"patience {self.patience_s} s: choose from 0 to 3600 s")
        if not (_is_number(self.spread_s) and 0 <= self.spread_s < self.time_limit_s):
            raise BadPlan(
                f"spread {self.spread_s} s: choose from 0 to the time limit ({self.time_limit_s} s)"
            )
        self._check_adaptive()
        allowed = surroundings.allowed_cpus()
        for name, cpu in (("cpu", self.cpu), ("peer-cpu", self.peer_cpu)):
            if cpu is None:
                continue
            if isinstance(cpu, bool) or not isinstance(cpu, int):
                raise BadPlan(f"{name} {cpu}: choose the number of a CPU")
            if allowed is None:
                raise BadPlan(f"{name} {cpu}: this system cannot pin a task; leave the option out")
            if cpu not in allowed:
                may_use = ", ".join(map(str, sorted(allowed)))
                raise BadPlan(
                    f"{name} {cpu}: this process may use CPU {may_use}; choose one of these, or "
                    "leave the option out"
                )
        rows = len(self.variants or "1") * (self.samples + self.warmup * self.processes)
        if rows > limits.MOST_RECORDING_ROWS:
            raise BadPlan(
                f"{rows} rows (samples and warm-up of all variants) are more than a recording "
                f"can hold ({limits.MOST_RECORDING_ROWS}); take fewer samples, variants or "
                "processes"
            )

    def _check_adaptive(self) -> None:
        within = self.within
        if within is not None and not (
            _is_number(within) and LEAST_WITHIN <= within <= MOST_WITHIN
        ):
            shown = f"{within * 100:g} %" if _is_number(within) else within
            least, most = LEAST_WITHIN * 100, MOST_WITHIN * 100
            raise BadPlan(f"within {shown}: choose from {least:g} to {most:g} percent")
        for name, seconds in (("at-most", self.at_most_s), ("replace", self.replace_s)):
            if not (_is_number(seconds) and 0 <= seconds <= MOST_AT_MOST_S):
                raise BadPlan(f"{name} {seconds} s: choose from 0 to {MOST_AT_MOST_S:g} s")

    def shares(self) -> list[int]:
        """The number of samples of each process, without processes that take none."""
        each, rest = divmod(self.samples, self.processes)
        return [n for n in (each + (i < rest) for i in range(self.processes)) if n > 0]

    def words_of_c(self) -> list[str]:
        """The batch sizes and CPUs that are asked for, as options of a command and of the C."""
        sizes, words = ",".join(map(str, self.batches)), list[str]()
        for option, asked in (
            ("--batch", sizes or None),
            ("--cpu", self.cpu),
            ("--peer-cpu", self.peer_cpu),
        ):
            words += [] if asked is None else [option, str(asked)]
        return words

    def command_line(self) -> str:
        """The `labs measure` command that carries out the same plan."""
        words = ["labs", "measure", _shown(self.kernel)]
        if self.variants:
            words += ["--variant", ",".join(self.variants)]
        words += ["--samples", str(self.samples), "--warmup", str(self.warmup)]
        words += self.words_of_c()
        words += ["--spread", f"{self.spread_s:g}"]
        words += ["--processes", str(self.processes)]
        if self.within is not None:
            words += ["--within", f"{self.within * 100:g}", "--at-most", f"{self.at_most_s:g}"]
        elif self.replace_s != declared_options.DEFAULT_REPLACE_S:
            words += ["--replace", f"{self.replace_s:g}"]
        if self.perf:
            words.append("--perf")
        words.append("--flags=" + shlex.quote(self.shown_flags))
        return " ".join(words)

    @property
    def shown_flags(self) -> str:
        """The flags as a recording states them."""
        return " ".join(map(without_home, self.flags))


def _shown(kernel: str) -> str:
    """The C kernel as a recording states it: without the path of the kit."""
    path = Path(kernel)
    if path.is_relative_to(paths.kernels_c()):
        return f"kernels_c/{path.relative_to(paths.kernels_c()).as_posix()}"
    shown = without_home(kernel)
    home = "~/" if shown.startswith("~/") else ""  # in quotes, it would be a folder named `~`
    return home + shlex.quote(shown.removeprefix(home))


def without_home(word: str) -> str:
    """A path, or a flag with one, with `~` for the home folder, which has the user's name.

    Students hand in recordings, which state the command.
    """
    try:
        home = Path.home()
    except RuntimeError:  # this user has none
        return word
    if not home.name:
        return word
    # The path begins the word, or follows a flag (-I, -isystem), an = or a comma.
    return re.sub(rf"(^|^-[A-Za-z]+|[=,]){re.escape(str(home))}(?=/|$)", r"\1~", word)


def _within(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadPlan(f"{name} {value}: choose a whole number from {least:,} to {most:,}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Save the C of a student next to the recording that was made from it.
#
# The grader reads the C only if its hash is the one that the recording states.


def must_not_replace_other_c(plan: Plan, save: Path) -> None:
    """Raise BadPlan if saving the run would destroy C that no recording there was made from."""
    source = _source(plan)
    if source is None:
        return
    place = save.with_suffix(source.suffix)
    if not place.exists() or place.samefile(source):
        return
    try:
        text = read_bounded(place, limits.MOST_SOURCE_BYTES).decode("utf-8")
        stated = read(save).conditions.get("source.sha256")
    except (OSError, ValueError, BadRecording):
        stated = text = None
    if text is None or toolchain.source_hash(text) not in (stated, _hash(source)):
        raise BadPlan(
            f"--save {save}: the C is saved next to it, and {place} holds other C; choose "
            "another name"
        )


def c_beside(plan: Plan, recording: Recording, save: Path) -> dict[Path, bytes]:
    """The C of `plan` by its path beside the recording that goes to `save`, if it is a student's.

    Raises ValueError if the file has changed since it was measured.
    """
    source = _source(plan)
    if source is None:
        return {}
    text = toolchain.text_of_c(source)
    if toolchain.source_hash(text) != recording.conditions.get("source.sha256"):
        raise ValueError(f"{source} was changed while it was measured; run it again")
    place = save.with_suffix(source.suffix)
    return {} if place.exists() and place.samefile(source) else {place: text.encode()}


def _source(plan: Plan) -> Path | None:
    """The file that `plan` measures; None if it is a C kernel of the kit or no file."""
    source = Path(plan.kernel)
    if plan.source is not None or source.suffix not in SOURCES:
        return None
    return None if source.resolve().is_relative_to(paths.kernels_c()) else source


def _hash(source: Path) -> str:
    return toolchain.source_hash(toolchain.text_of_c(source))
