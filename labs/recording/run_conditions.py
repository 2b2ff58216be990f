"""What the conditions of a recording state: CPUs, load, disturbances, the kind of machine."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labs.files import cpu_list, read_head
from labs.limits import MOST_HEAD_BYTES, MOST_VALUE
from labs.recording.file import Integers, Recording, Samples, memoized

# How often others interrupt what the CPU runs.

#: A process that had less than this share of the CPU cannot say how often it is interrupted there.
LEAST_OWN = 1e-3


def gaps_per_cpu_s(recording: Recording) -> float | None:
    """Interruptions per second in which a process had the CPU; the median over processes.

    Each process counts them in a time of which others took the share `cpu.taken`, and can see them
    in the rest of it only (kernels_c/calibration.h). None if no process states a count.
    """
    counted, taken = recording.numbers("cpu.gaps_per_s"), recording.numbers("cpu.taken")
    if len(taken) == 1:  # the same in all processes
        taken *= len(counted)
    if not counted or len(counted) != len(taken):
        return recording.number("cpu.gaps_per_s")
    shares = np.clip(1 - np.array(taken), LEAST_OWN, 1)
    return float(np.median(np.array(counted) / shares))


# On which CPUs the tasks of a variant were during the measurement.


@dataclass(frozen=True)
class Places:
    """CPUs of the measuring task (`mine`), CPUs of its peers, and CPUs that the peers may use.

    The last two are empty if the variant has no peers, or if the recording does not state them.
    """

    mine: frozenset[int]
    peers: frozenset[int]
    may_use: frozenset[int]

    @property
    def bound_together(self) -> bool:
        """Whether the peers could use only one CPU, which the measuring task used as well."""
        return len(self.may_use) == 1 and bool(self.may_use & self.mine)


def places_of(recording: Recording, variant: str) -> tuple[Places, ...]:
    """For each process that states it, where the tasks were during the samples of `variant`.

    A C kernel notes these places for each variant that claims switches (kernels_c/tasks.h).
    """
    keys = [f"variant.{variant}.{key}" for key in ("cpus", "peers_cpus", "peers_may_use")]
    stated = ({**process, **recording.conditions} for process in recording.processes)
    known: dict[str, frozenset[int]] = {}  # processes state the same lists

    def cpus(text: str) -> frozenset[int]:
        if text not in known:
            known[text] = cpus_of(text)
        return known[text]

    every = (Places(*(cpus(each.get(key, "")) for key in keys)) for each in stated)
    return tuple(each for each in every if each.mine)


def why_unbound(recording: Recording) -> str | None:
    """Why the machine of this run could bind no task to a CPU; None if it could, or has one CPU.

    Without binding, two tasks may each have had a CPU, whatever the plan asked for. Each process
    states the cause (kernels_c/pinning.h) as `none: REASON`, or as `left out: REASON` if the C
    kernel was built without binding.
    """
    stated = recording.conditions.get("cpu.pinning")
    if stated is None or recording.number("cpus.online") == 1:
        return None
    allowed = recording.condition("cpu.allowed")
    if allowed and all(len(cpus_of(each)) == 1 for each in allowed):
        return None
    return stated.partition(": ")[2] or stated


def cpus_of(words: str) -> frozenset[int]:
    """The CPUs of a list such as `0-2,5`; empty if `words` is no such list."""
    return frozenset(cpu_list(words) or ())


def as_text(cpus: frozenset[int]) -> str:
    """CPU numbers as text: `0 and 1`."""
    return " and ".join(map(str, sorted(cpus)))


# How much of the machine other programs used during the run.

#: If a hypervisor took a smaller share of the CPU time than this, we ignore it.
STEAL_SHARE = 0.02


def busy_cpus(recording: Recording) -> float:
    """How many CPUs were busy, if nearly all of them were; else 0."""
    busy, online = recording.number("cpus.busy"), recording.number("cpus.online")
    return busy if busy and online and busy > max(1.5, 0.9 * online) else 0.0


def stolen(recording: Recording) -> float:
    """The share of the CPU time that a hypervisor took, if it took much; else 0."""
    steal = recording.number("steal.share") or 0.0
    return steal if steal > STEAL_SHARE else 0.0


def was_shared(recording: Recording) -> bool:
    """Whether other programs used much of the machine."""
    return bool(busy_cpus(recording) or stolen(recording))


# What the run inherited from the program that started it, and which clocks disagree.
#
# Each process states its scheduling, the libraries that were put before the C library, and the
# clocks that disagree with the OS kernel's (kernels_c/conditions.h, kernels_c/calibration.h).

USUAL_POLICY = "SCHED_OTHER"
#: What puts libraries before the C library, by the end of the key that states them.
_PRELOADED_BY = {
    "ld_preload": "LD_PRELOAD",
    "ld_audit": "LD_AUDIT",
    "ld_so_preload": "/etc/ld.so.preload",
}
#: The name of the counter among the clocks; all others are of the C library.
COUNTER_CLOCK = "counter"


def states_inherited(recording: Recording) -> bool:
    """Whether the recording states what it inherited."""
    return bool(recording.condition("scheduling.nice"))


def policies(recording: Recording) -> tuple[str, ...]:
    """The scheduling policies with which the processes were started; empty if not stated."""
    return _different(recording, "scheduling.policy")


def unusual_policies(recording: Recording) -> list[str]:
    """Those of them that are not the usual one."""
    return [each for each in policies(recording) if each != USUAL_POLICY]


def nice_values(recording: Recording) -> tuple[str, ...]:
    """The nice values with which the processes were started; empty if not stated."""
    return _different(recording, "scheduling.nice")


def preloaded(recording: Recording) -> dict[str, str]:
    """What puts libraries before the C library (LD_PRELOAD, LD_AUDIT, /etc/ld.so.preload), and the
    names of these libraries."""
    stated = {by: _different(recording, f"preloaded.{key}") for key, by in _PRELOADED_BY.items()}
    return {by: " ".join(names) for by, names in stated.items() if names}


def is_filtered(recording: Recording) -> bool | None:
    """Whether a filter of system calls (seccomp) was set; None if not stated."""
    stated = recording.condition("seccomp")
    return stated != ("off",) if stated else None


def clocks_off(recording: Recording) -> dict[str, float]:
    """Each clock that disagreed with the OS kernel's, and how many times as fast it was.

    This is the median over the processes that state it.
    """
    found: dict[str, list[float]] = {}
    for stated in recording.condition("clocks.off"):
        for each in stated.split(", "):
            clock, _, speed = each.partition(" ")
            try:
                found.setdefault(clock, []).append(float(speed))
            except ValueError:
                continue
    return {clock: statistics.median(speeds) for clock, speeds in found.items() if speeds}


def _different(recording: Recording, key: str) -> tuple[str, ...]:
    return tuple(sorted(set(recording.condition(key))))


# Whether a tracer followed the run, and the switches that the C kernel does not claim.

#: The condition with the name of the tracer; it is left out if there is none.
TRACER_KEY = "tracer"


def tracer_of(recording: Recording) -> str:
    """The name of the tracer that followed the run; '' if the recording states none."""
    return next(iter(recording.condition(TRACER_KEY)), "")


def unclaimed_switches(recording: Recording) -> int | None:
    """Voluntary switches of all tasks that the C kernel does not claim; None if not recorded."""
    counted = [recording.total(f"task.{task}.voluntary_switches") for task in ("main", "peers")]
    if counted[0] is None:
        return None
    claimed = recording.total("claimed.switches") or 0
    return max(0, sum(count or 0 for count in counted) - claimed)


# Which samples were preempted: another program had the CPU of their tasks for a part of the time.
#
# A C kernel states the numbers of such samples for each process that has one, as ranges in
# ascending order: `sample.preempted: 0-3 7 12-14`. kernels_c/preempted.h says how it knows. It
# knows this of variants that create tasks on one CPU, and of samples that take longer than 100 us.
# Of other samples nothing is stated.
#
# Anybody may have written the condition. A text that is anything else marks no sample.

PREEMPTED_KEY = "sample.preempted"
#: A shorter sample is never marked (SHORTEST_JUDGED_US in kernels_c/preempted.h).
SHORTEST_S = 100e-6

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


@memoized
def preempted(recording: Recording, variant: str) -> NDArray[np.bool_]:
    """Which steady samples of a variant were preempted; shape (n,)."""
    samples = recording.samples(variant)
    long_enough = samples.ticks > SHORTEST_S * samples.clock.frequency_hz
    found = np.zeros(len(samples), dtype=np.bool_)
    for process, stated in enumerate(_stated(recording)):
        if not len(stated):
            continue
        mine = np.flatnonzero((samples.process == process) & long_enough)
        place = np.searchsorted(stated[:, 0], samples.sample[mine], side="right") - 1
        found[mine] = (place >= 0) & (samples.sample[mine] <= stated[place, 1])
    return found


@memoized
def _stated(recording: Recording) -> list[Integers]:
    """The ranges that each process states."""
    # If all processes state the same ones, the recording holds them once.
    common = recording.conditions.get(PREEMPTED_KEY, "")
    return [ranges_of(each.get(PREEMPTED_KEY, common)) for each in recording.processes]


def ranges_of(text: str) -> Integers:
    """The first and last numbers of ascending ranges in a text; shape (ranges, 2).

    No ranges if the text is anything else.
    """
    none = np.zeros((0, 2), dtype=np.int64)
    words = [_RANGE.fullmatch(word) for word in text.split(" ")] if len(text) <= MOST_VALUE else []
    ranges = [(int(word[1]), int(word[2] or word[1])) for word in words if word is not None]
    if not ranges or len(ranges) < len(words):
        return none
    found = np.array(ranges, dtype=np.int64)
    flat = found.ravel()
    # In a range the last number may be the first one; the next range begins after it.
    ascending = bool((np.diff(flat) >= 0).all() and (np.diff(flat)[1::2] > 0).all())
    return found if ascending else none


# What the core did in rounds spread over the samples of each process.
#
# kernels_c/core_rounds.h defines the rounds. Each counts additions and stores per core cycle. If
# another hardware thread of the same physical core is busy, the additions fall to about half. If
# that thread often waits for memory, only the stores show it.

#: What a round counts per core cycle: the conditions of a process that list these numbers.
ADDITIONS, STORES = "core_width", "core_stores"
#: A round has eight chains, so it does at most eight additions per cycle (kernels_c/core_rounds.h),
#: and no core does more stores.
MOST_WIDTH = 8.5


@memoized
def core_rounds(recording: Recording, counted: str = ADDITIONS) -> tuple[tuple[float, ...], ...]:
    """What was `counted` in each round, one tuple for each process.

    The tuple is empty if the process does not state a list of such numbers.
    """
    return tuple(_numbers(text) for text in recording.condition(counted))


def rounds_around(
    recording: Recording, samples: Samples, rounds: Sequence[Sequence[float]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The values of the round before each sample and of the round after it; each of shape (n,).

    `samples` are all steady samples of a variant, and `rounds` holds the values of each process,
    round by round. None if the recording does not state as many places of rounds among the samples.
    """
    places = _places(recording)
    # If all processes have the same values, the recording holds them once.
    rounds = list(rounds) * len(places) if len(rounds) == 1 else rounds
    if not places or [len(each) for each in rounds] != [len(each) for each in places]:
        return None
    # The first round stands for the one before it, and the last one for the one after it.
    known = np.array([x for each in rounds for x in (each[0], *each, each[-1])])
    before = _round_before(recording, samples.variant)
    return known[before], known[before + 1]


@memoized
def _places(recording: Recording) -> list[list[int]]:
    """After how many samples each round of each process came; none if that is not known of each."""
    after = [_whole_numbers(text) for text in recording.condition("core_width.after")]
    count = len(recording.processes)
    after = after * count if len(after) == 1 else after
    return after if len(after) == count and all(after) else []


@memoized
def _round_before(recording: Recording, variant: str) -> Integers:
    """The round before each steady sample, counted over all processes, with one more round before
    the first and after the last one of each; shape (n,)."""
    samples, places = recording.samples(variant), _places(recording)
    before = np.zeros(len(samples), dtype=np.int64)
    by_process = np.argsort(samples.process.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(samples.process, minlength=len(places)))
    first = 0
    for place, mine in zip(places, np.split(by_process, ends[:-1]), strict=True):
        before[mine] = first + np.searchsorted(place, samples.sample[mine])
        first += len(place) + 2
    return before


def _whole_numbers(text: str) -> list[int]:
    """Ascending whole numbers from a text; none if the text is anything else."""
    try:
        found = [int(word) for word in text.split() if len(word) < 12]
    except ValueError:
        return []
    return found if found == sorted(found) else []


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, text.split()))
    except ValueError:
        return ()
    return found if all(0 <= width < math.inf for width in found) else ()


# A run that ended too soon: before all of its processes, or before its interval was narrow enough.
#
# What whole processes have measured is evidence. The process that was running is left out: it may
# have been the slowest one.

#: Why a run was cut short: its time limit, C of a student's own that took no sample for as long as
#: patience lasts, or the student.
TIME_LIMIT, PATIENCE, CANCELLED = "time limit", "patience", "cancelled"

_BY, _SECONDS, _PLANNED = "cut_short.by", "cut_short.after_s", "cut_short.planned_processes"
_CPU_SHARE = "cut_short.cpu_share"

#: Why a run with `--within` added no more processes; see `out_of_reach` for another reason.
TIME_IS_UP, FULL, TOOK_NO_SAMPLE = "time is up", "the recording is full", "took no sample"
_OUT_OF_REACH_AT = re.compile(r"out of reach: about (\d{1,9}(?:\.\d{1,9})?) % at best")

#: C that took no sample waits if it used less than the first share of a CPU. If it used more than
#: the second, it computes.
WAITS, COMPUTES = 0.02, 0.25


@dataclass(frozen=True)
class CutShort:
    """How a run was cut short.

    `after_s` are the seconds of the time limit or of patience, or those that the run had taken when
    it was cancelled. `planned` is the number of processes that were planned, and `whole` of those
    that finished, which may be more. `cpu_share` is the share of a CPU that C used which took no
    sample for as long as patience lasts; None if that is unknown.
    """

    by: str
    after_s: float
    planned: int
    whole: int
    cpu_share: float | None = None

    @property
    def needed_s(self) -> float:
        """About how many seconds all the planned processes need, if this took `after_s`."""
        return self.after_s * self.planned / max(self.whole, 1)


def cut_short_conditions(
    after_s: float, planned: int, by: str = TIME_LIMIT, cpu_share: float | None = None
) -> Mapping[str, str]:
    """What the recording of such a run states."""
    stated = {_BY: by, _SECONDS: f"{after_s:g}", _PLANNED: str(planned)}
    return stated if cpu_share is None else {**stated, _CPU_SHARE: f"{cpu_share:.2f}"}


def cut_short(recording: Recording) -> CutShort | None:
    """How the run was cut short; None if it was not."""
    seconds, planned = recording.number(_SECONDS), recording.number(_PLANNED)
    by = recording.conditions.get(_BY, "")
    if seconds is None or planned is None or not (0 <= seconds <= 1e6 and 0 < planned <= 1e6):
        return None
    if by not in (TIME_LIMIT, PATIENCE, CANCELLED):
        return None
    whole, share = len(recording.processes), recording.number(_CPU_SHARE)
    return CutShort(by, seconds, int(planned), whole, share)


@dataclass(frozen=True)
class NotNarrow:
    """A run that stopped before half the width of its interval was the share `within` of the value.

    `why` is a reason of this module. `at_most_s` are the seconds for which it could add processes.
    `reachable` is the share that it could have reached, if it stopped because that is too large.
    """

    within: float
    why: str
    at_most_s: float
    reachable: float | None = None


def out_of_reach(share: float) -> str:
    """The reason to stop if at best half the width can become this share of the value."""
    percent = float(f"{100 * min(share, 99):.2g}")
    return f"out of reach: about {percent:g} % at best"


def not_narrow(recording: Recording) -> NotNarrow | None:
    """Why the run stopped before its interval was as narrow as asked; None if it did not.

    Also None if an added process took no sample: then the run was cut short.
    """
    why = recording.conditions.get("adaptive.stopped", "")
    within, at_most_s = map(recording.number, ("adaptive.within", "adaptive.at_most_s"))
    if within is None or at_most_s is None or not (1e-6 <= within <= 1 and 0 <= at_most_s <= 1e6):
        return None
    if why in (TIME_IS_UP, FULL, CANCELLED):
        return NotNarrow(within, why, at_most_s)
    found = _OUT_OF_REACH_AT.fullmatch(why)
    return NotNarrow(within, why, at_most_s, float(found[1]) / 100) if found else None


# The kind of machine: architecture, maker of the CPU, virtual or not.
#
# The conditions of a recording are a student's text. So each part of a kind is one of the few words
# below, and nothing of that text is shown.

#: A machine about which its recording says nothing that we know, and a student with several kinds.
UNKNOWN, SEVERAL = "unknown machine", "several machines"

_CONDITION = re.compile(rb"# (os|machine\.cpu|machine\.virtual): ([^\r\n]*)")
_ARCHITECTURES = {"x86_64": "x86-64", "amd64": "x86-64", "aarch64": "Arm", "arm64": "Arm"}
_ARCHITECTURES |= {"riscv64": "RISC-V"}
#: The makers of CPUs by a word in the name of the CPU, the most exact first.
_MAKERS = (
    ("amd", "AMD"),
    ("intel", "Intel"),
    ("apple", "Apple"),
    ("ampere", "Ampere"),
    ("graviton", "Graviton"),
    ("neoverse", "Neoverse"),
    ("cortex", "Cortex"),
)
_VIRTUAL = {"True": "virtual", "False": "not virtual"}


def kind_of(conditions: Mapping[str, str]) -> str:
    """The kind that the `conditions` of a recording state, such as `x86-64, AMD, virtual`."""
    system = conditions.get("os", "")
    parts = [
        _ARCHITECTURES.get(system.rpartition(" ")[2], ""),
        _maker(conditions.get("machine.cpu", "")),
        # WSL 2 is a virtual machine that does not show its hypervisor on every version.
        "WSL"
        if "microsoft" in system.lower()
        else _VIRTUAL.get(conditions.get("machine.virtual", ""), ""),
    ]
    return ", ".join(filter(None, parts)) or UNKNOWN


def is_kind(text: str) -> bool:
    """Whether `kind_of` can give this text: then it holds nothing that a student wrote."""
    parts = text.split(", ")
    words = (_ARCHITECTURES.values(), (name for _, name in _MAKERS), ("WSL", *_VIRTUAL.values()))
    return text in (UNKNOWN, SEVERAL) or (
        len(parts) == len(set(parts)) and set(parts) <= {word for some in words for word in some}
    )


def stated_in_head(head: bytes, condition: re.Pattern[bytes]) -> dict[str, str]:
    """What the first bytes of a recording state, down to its first line about a process.

    `condition` finds a key and its value in a line.
    """
    known: dict[str, str] = {}
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.startswith(b"#") or line.startswith(b"# process."):
            break
        match = condition.match(line)
        if match is not None:
            known.setdefault(match[1].decode(), match[2].decode("utf-8", "replace").strip())
    return known


def kind_in_head(head: bytes) -> str:
    """The kind of machine that the first bytes of a recording state."""
    return kind_of(stated_in_head(head, _CONDITION))


def kind_in_file(path: Path) -> str:
    """The same from a recording's file; UNKNOWN if it cannot be read."""
    try:
        return kind_in_head(read_head(path, MOST_HEAD_BYTES))
    except OSError:
        return UNKNOWN


def kind_of_all(kinds: Iterable[str]) -> str:
    """The kind that all have in common; SEVERAL if they differ, and UNKNOWN if there is none."""
    counted = Counter(kinds)
    if not counted:
        return UNKNOWN
    return next(iter(counted)) if len(counted) == 1 else SEVERAL


def _maker(cpu: str) -> str:
    words = cpu.lower()
    return next((name for word, name in _MAKERS if re.search(rf"\b{word}\b", words)), "")
