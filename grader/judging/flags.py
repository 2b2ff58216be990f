"""Flags: oddities in a submission or a class for a person to look at. A flag never costs points.

Students own their machines, so they can make up evidence. But an honest run can look odd too.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grader.evidence import caveats
from grader.evidence.observed import follows_seed, measured_after, seeds_of
from grader.evidence.sources import broken_sources, is_of_the_kit
from grader.figures.spec import FigureSpec
from labs.course.account import NO_ACCOUNT, Account, Course, name_hash, parse_account
from labs.course.figures import BadFigure, Figure
from labs.limits import MOST_RECORDING_ROWS
from labs.recording.file import BadRecording, Integers, Recording, are_in_order, memoized, numbered

#: The tolerated share of samples off the declared step; under a hypervisor there are always some.
MOST_OFF_STEP = 0.02

#: Samples of more steps than this are left out: a hypervisor may pause or move its guest for
#: milliseconds, which shifts the counter by any number of ticks.
MOST_CLOCK_STEPS = 400_000

#: Conditions that stay the same on one machine during a lab.
OF_THE_MACHINE = ("os", "libc", "counter", "cpu.pinning")


def flags_by_figure(
    submitted: Mapping[str, Figure | BadFigure | None],
    recordings: Mapping[str, Recording | BadRecording],
    specs: Sequence[FigureSpec],
    handed_in: datetime.datetime | None = None,
) -> dict[str, tuple[str, ...]]:
    """The flags of each figure, by figure id; `handed_in` is when the submission was made."""
    usable = {name: each for name, each in recordings.items() if isinstance(each, Recording)}
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        figure = submitted.get(spec.id)
        name = figure.recording if isinstance(figure, Figure) else None
        if name is not None and name in usable:
            raised = [*_flags_of_recording(usable[name], spec), *_flags_by_comparison(name, usable)]
            raised += signs(usable[name], handed_in)
            raised += _flags_of_dates(figure, usable[name])
            if raised:
                found[spec.id] = tuple(raised)
    return found


def _flags_of_recording(recording: Recording, spec: FigureSpec) -> list[str]:
    raised = []
    # C of another name is already "something else": a notebook asks for some of it.
    if recording.kernel == spec.kernel and not spec.own and not is_of_the_kit(recording):
        raised.append("the source hash of the C kernel belongs to no released C kernel")
    if caveats.binds_no_task(recording) and _is_plain_linux(recording):
        raised.append(
            "the recording states that no task can be bound to a CPU, but it is from Linux without "
            "a filter of system calls"
        )
    for name in spec.variants:
        try:
            samples = recording.samples(name)
        except (KeyError, BadRecording):
            continue  # the variant or its clock is missing, which is a finding
        step = samples.clock.step
        ticks = samples.ticks[samples.ticks <= MOST_CLOCK_STEPS * step]
        off = int((ticks % step != 0).sum())
        if off > MOST_OFF_STEP * len(ticks):
            raised.append(
                f"{off} of {len(ticks)} samples of {name} are not multiples of the declared step "
                f"of {step} ticks"
            )
    return raised


def _is_plain_linux(recording: Recording) -> bool:
    """Whether the run was on Linux without a filter of system calls, where a program can pin."""
    filtered = recording.condition("seccomp")
    return filtered == ("off",) and " ".join(recording.condition("os")).startswith("Linux ")


def _flags_of_dates(figure: Figure | BadFigure | None, recording: Recording) -> list[str]:
    """A flag if the figure is older than the samples of its recording."""
    if not isinstance(figure, Figure) or not measured_after(figure, recording):
        return []
    created = recording.conditions["created"]
    return [
        f"the figure, stored at {figure.when}, is older than its recording, made at {created}: the "
        "student has measured again, or a clock was wrong"
    ]


def _flags_by_comparison(name: str, usable: Mapping[str, Recording]) -> list[str]:
    """Flags from the comparison with the other recordings of the submission."""
    raised = []
    mine = usable[name]
    for other, recording in usable.items():
        if other == name:
            continue
        if recording.samples_sha256 == mine.samples_sha256:
            raised.append(f"the recording has the same samples as {other}")
        changed = [
            key
            for key in OF_THE_MACHINE
            if set(recording.condition(key)) != set(mine.condition(key))
        ]
        if changed:
            raised.append(f"{', '.join(changed)} differ from {other}")
    return raised


# Signs that a recording does not come from a run: made up, edited, or copied from the project.
#
# Nothing on a student's machine can prove that a run took place. A person can see what does not fit
# together. Each sign is one that an honest run does not have.

_SAVED_RUNS = Path(__file__).with_name("saved_runs.json")
#: What the kit writes into every recording.
_ALWAYS = ("source.sha256", "command", "os", "variants", "batch")
#: The kit runs on these systems, and did not exist before this date.
_SYSTEMS, _FIRST = ("Linux", "Darwin"), datetime.date(2026, 1, 1)
#: A clock may be wrong by a time zone.
_WRONG_CLOCK = datetime.timedelta(days=1)
#: So many samples of one batch size, each of so many steps of the counter, are never all equal.
_EQUAL_SAMPLES, _STEPS = 10, 20


def signs(recording: Recording, handed_in: datetime.datetime | None = None) -> list[str]:
    """What a person should look at, each a clause; `handed_in` is when the submission was made."""
    return [
        *_missing(recording),
        *_contradictions(recording),
        *_dates(recording, handed_in),
        *_too_even(recording),
        *_copies(recording),
    ]


def _missing(recording: Recording) -> list[str]:
    missing = [key for key in _ALWAYS if not recording.condition(key)]
    if None in seeds_of(recording):
        missing.append("seed")
    return [f"the recording does not state {', '.join(missing)}"] if missing else []


@memoized
def _contradictions(recording: Recording) -> list[str]:
    found = []
    # Some broken C kernels measure in another order on purpose.
    is_broken = recording.conditions.get("source.sha256", "") in broken_sources()
    if not is_broken and follows_seed(recording) is False:
        found.append("the rows are not in the order that the recorded seeds give")
    systems = {text.split(" ")[0] for text in recording.condition("os")}
    if systems - set(_SYSTEMS):
        found.append(f"the kit does not run on {', '.join(sorted(systems - set(_SYSTEMS)))}")
    asked = _variants_of(recording.conditions.get("command", ""))
    if absent := [name for name in asked if name not in recording.variants]:
        found.append(
            f"the command asks for {', '.join(absent)}, but the recording has no sample of this"
        )
    return found


def _variants_of(command: str) -> list[str]:
    """The variants that a command names; none where it names none."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return words[words.index("--variant") + 1].split(",") if "--variant" in words[:-1] else []


def _dates(recording: Recording, handed_in: datetime.datetime | None) -> list[str]:
    stated = recording.conditions.get("created", "")
    try:
        created = datetime.datetime.fromisoformat(stated)
    except ValueError:
        return []
    if created.date() < _FIRST:
        return [f"the recording was made at {stated}, before the kit existed, or a clock was wrong"]
    if handed_in is None or created.tzinfo is None or created <= handed_in + _WRONG_CLOCK:
        return []
    return [f"the recording was made at {stated}, after it was handed in, or a clock was wrong"]


@memoized
def _too_even(recording: Recording) -> list[str]:
    """A sign if no sample of the run differs from the others of its variant and batch size."""
    steady = recording.sample >= 0
    if int(steady.sum()) < _EQUAL_SAMPLES:
        return []
    cell = _cells(recording)[steady]
    ticks, order = recording.ticks[steady], np.argsort(cell, kind="stable")
    begins = np.flatnonzero(np.diff(cell[order].astype(np.int64), prepend=-1))
    count = np.diff(np.append(begins, len(order)))
    least = np.minimum.reduceat(ticks[order], begins)
    most = np.maximum.reduceat(ticks[order], begins)
    step = max(recording.number("counter.step") or 1.0, 1.0)
    enough = (count >= _EQUAL_SAMPLES) & (least >= _STEPS * step)
    if not enough.any() or (least[enough] != most[enough]).any():
        return []
    return ["in every batch size all samples are equal, which no real run shows"]


@memoized
def _cells(recording: Recording) -> NDArray[np.uint16]:
    """A number for the variant and batch size of each sample. There are at most 64 of each, and
    numpy sorts numbers of 16 bits in a tenth of the time."""
    sizes = numbered(recording.batch)[1]
    return (sizes * len(recording.variants) + recording.variant_index).astype(np.uint16)


def _copies(recording: Recording) -> list[str]:
    own = set(fingerprints(recording))
    return ["the recording is a saved run of the project"] if own & saved_runs() else []


# What only one run has. A copy is found by it although somebody changed a part of the run.

#: So many fingerprints of ticks are kept of each kind, and seeds of which the pairs are: those with
#: the smallest hashes, so that a part of a run keeps its share.
_MOST_MARKS, _MOST_SEEDS = 8, 7
#: Ticks are a fingerprint if one in 2^64 runs on the same machine shows them by chance. All runs of
#: a class of 5,000 make 2^40 pairs.
_FEWEST_BITS = 64
#: Lengths of a row of samples: a changed sample spoils fewer short rows, and long ones are for
#: coarse clocks.
_IN_A_ROW = (32, 64, 128)
#: The step of a clock is the greatest common divisor that most groups of so many ticks have.
_GROUP = 16
#: An odd number, whose powers stand for places in a row of samples, and its inverse.
_PLACE = 0x9E3779B97F4A7C15
_BACK = pow(_PLACE, -1, 1 << 64)


@memoized
def fingerprints(recording: Recording) -> tuple[str, ...]:
    """What only this run has; a part of the run, and a copy that somebody changed, has some of it.

    The sorted ticks of a process are the same in another order, ticks in a row are the same where
    others are changed, and pairs of seeds are the same where all ticks are changed. Ticks are in
    steps of their clock, so it makes no difference to halve them and the clock's frequency. What
    another run on the same machine may show by chance is left out.
    """
    rows = np.flatnonzero(recording.sample >= 0)
    # Rows are mostly in the order taken, and to find that out takes less than to sort them.
    if not are_in_order(recording.process[rows], recording.sample[rows]):
        rows = rows[np.lexsort((recording.sample[rows], recording.process[rows]))]
    process, variant, ticks = (
        each[rows] for each in (recording.process, recording.variant_index, recording.ticks)
    )
    for number in range(len(recording.variants)):
        own = variant == number
        of_variant = ticks[own]
        if (step := _own_step(of_variant)) > 1:
            ticks[own] = of_variant // step
    cell = _cells(recording)[rows].astype(np.int64)
    # Cells have numbers below 2^16. Ticks that differ by 2^48, a day or more, count as the same.
    groups = cell, (ticks << 16) + cell
    by_hash = {
        _short_hash(b"ticks", np.sort(ticks[own]).astype("<i8").tobytes()): own
        for own in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(process)) + 1)
    }
    of_processes = (
        each
        for each in sorted(by_hash)
        if _bits(groups, by_hash[each][np.newaxis], in_order=False)[0] >= _FEWEST_BITS
    )
    # The seed of one process may be drawn twice in a large class; a pair is not.
    seeds = [f"{seed}".encode() for seed in seeds_of(recording) if seed is not None]
    seeds.sort(key=lambda seed: _short_hash(b"seed", seed))
    pairs = [
        _short_hash(b"seeds", b" ".join(each)) for each in combinations(seeds[:_MOST_SEEDS], 2)
    ]
    in_a_row = sorted(_in_a_row(ticks, groups))[:_MOST_MARKS]
    return tuple(dict.fromkeys([*pairs, *islice(of_processes, _MOST_MARKS), *in_a_row]))


def _own_step(ticks: Integers) -> int:
    """The step that most of these ticks have; a few that were changed make no difference."""
    if not len(ticks):
        return 1
    found = np.gcd.reduceat(ticks, np.arange(0, len(ticks), _GROUP))
    steps, counts = np.unique(found, return_counts=True)
    return max(int(steps[counts.argmax()]), 1)


def _in_a_row(ticks: Integers, groups: tuple[Integers, Integers]) -> list[str]:
    """The fingerprints of ticks in a row, of those rows of each length that have the smallest."""
    # The end of SplitMix64 makes numbers of the ticks whose sums have no pattern.
    values = ticks.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    places, back = (each[: len(ticks)] for each in _powers(1 << len(ticks).bit_length()))
    sums = np.cumsum(np.append(np.uint64(0), values * places))
    found = []
    for length in _IN_A_ROW:
        begins = max(len(ticks) - length + 1, 0)
        hashes = (sums[length:] - sums[:begins]) * back[:begins]
        chosen = _smallest(hashes)
        small = np.flatnonzero(hashes <= chosen.max(initial=0))
        firsts = small[[(hashes[small] == one).argmax() for one in chosen]]
        bits = _bits(groups, firsts[:, np.newaxis] + np.arange(length), in_order=True)
        found += [_short_hash(b"row", one.tobytes()) for one in chosen[bits >= _FEWEST_BITS]]
    return found


@cache
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first powers of _PLACE and of its inverse, so many of each."""
    forth, back = np.full(count, _PLACE, np.uint64), np.full(count, _BACK, np.uint64)
    return np.cumprod(forth), np.cumprod(back)


def _smallest(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The smallest of the distinct hashes, in order; to sort all of them takes much longer."""
    few = 8 * _MOST_MARKS
    if len(hashes) > few:
        # Hashes are spread evenly, so about this many are as small.
        found = np.unique(hashes[hashes < np.uint64(few * 2**64 // len(hashes))])[:_MOST_MARKS]
        if len(found) == _MOST_MARKS:
            return found
    return np.unique(hashes)[:_MOST_MARKS]


def _bits(
    groups: tuple[Integers, Integers], rows: Integers, *, in_order: bool
) -> NDArray[np.float64]:
    """How improbable the ticks of each of `rows` are: 2 to the power of minus this.

    `groups` numbers the cells (variant and batch size) of all samples, and their ticks in each
    cell. Another run draws each cell's ticks as often as a row has them, in this order or in any.
    `rows` has the shape (rows, samples), the result (rows,).
    """
    bits: list[NDArray[np.float64]] = []
    for each in groups:
        ordered = np.sort(each[rows], axis=1)
        is_first = np.ones(ordered.shape, np.bool_)
        is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        firsts = np.flatnonzero(is_first)
        count = np.diff(firsts, append=ordered.size)
        of_group = count * np.log2(count)
        if not in_order:
            of_group -= _log2_factorials()[count]
        of_rows = np.bincount(firsts // ordered.shape[1], of_group, len(rows))
        bits.append(of_rows.astype(np.float64))
    of_cells, of_ticks = bits
    return of_cells - of_ticks


@cache
def _log2_factorials() -> NDArray[np.float64]:
    """log2(n!) by n, for as many samples as a recording may have."""
    found: NDArray[np.float64] = np.cumsum(np.log2(np.arange(1, MOST_RECORDING_ROWS + 1)))
    return np.append(0.0, found)


def _short_hash(kind: bytes, content: bytes) -> str:
    return hashlib.sha256(kind + b"\0" + content).hexdigest()[:16]


@cache
def saved_runs() -> frozenset[str]:
    """The fingerprints of the recordings that the project publishes with its tests."""
    return frozenset(json.loads(_SAVED_RUNS.read_text(encoding="utf-8")))


# The accounts of a class are compared, so a copy shows in a changed file too. A recording states
# hashes of its account (:mod:`labs.course.account`). Nobody loses points. An honest class has no
# flag, whether its students use their own accounts, one account for all, or several machines.

#: Students who measured under one account are few where one had a recording from the other: labs
#: are done alone, in pairs, or by three. What more students name is the account of a room or of a
#: disk image. A copy that goes round a larger group is still found by its samples. Of a class of up
#: to six, half: what most of a class names is the account of the class.
MOST_OF_ONE_ACCOUNT = 3

#: Accounts of rooms, containers and disk images. Even two students of one such account, on one
#: machine, need not know each other.
GENERIC = (
    "admin", "administrator", "codespace", "coder", "debian", "default", "docker", "ec2-user",
    "fedora", "gitpod", "guest", "jovyan", "jupyter", "kali", "lab", "linux", "mac", "main", "mint",
    "nobody", "opc", "os", "osboxes", "pi", "rocky", "root", "rstudio", "runner", "student",
    "students", "test", "ubuntu", "user", "vagrant", "virtualbox", "vm", "vscode", "wsl",
)  # fmt: skip

OF_ANOTHER = "the recording names the account of another student of this course"
SHARED = "another student's submission in this course names the account that made this recording"
MISSING = "the recording does not state account, which every run of this version of the kit states"
MALFORMED = "the recording states an account in a form that the kit does not write"
NONE = "the recording names no account, but the recordings of most students in this course do"


@dataclass(frozen=True)
class Stated:
    """What the head of a recording states; None for a condition that it does not have."""

    account: str | None
    created: str | None = None
    ticklab: str | None = None


#: What the recordings of a class state: by student, by the path of the recording.
OfClass = Mapping[str, Mapping[str, Stated]]


@dataclass(frozen=True)
class AccountFlag:
    """A flag, whose words name nobody, and the students whom an instructor should ask as well."""

    words: str
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class AccountFlags:
    """The flags, by student and by the path of the recording.

    `shared` has the numbers of students of those names of accounts that are no sign of a copy,
    because too many students name them.
    """

    of: Mapping[str, Mapping[str, tuple[AccountFlag, ...]]] = field(default_factory=dict)
    shared: tuple[int, ...] = ()


def flags_of_class(course: Course, stated: OfClass, ids: Iterable[str]) -> AccountFlags:
    """The flags of every recording of one lab; `ids` are those of all students of the course."""
    known = _Class(course, stated, ids)
    flags = {
        student: {
            path: tuple(flags)
            for path, one in recordings.items()
            if (flags := [*known.not_stated(one), *known.flags(student, one)])
        }
        for student, recordings in stated.items()
    }
    return AccountFlags({student: each for student, each in flags.items() if each}, known.shared)


def _must_state_it(one: Stated, course: Course) -> bool:
    """Whether a recording was made when the course had an id."""
    try:
        created, since = map(datetime.datetime.fromisoformat, (one.created or "", course.since))
        return created >= since
    except (ValueError, TypeError):  # no time, or one of them without a zone
        return False


class _Class:
    """Who names which account."""

    def __init__(self, course: Course, stated: OfClass, ids: Iterable[str]) -> None:
        accounts = {
            student: {
                account for one in each.values() if (account := parse_account(one.account or ""))
            }
            for student, each in stated.items()
        }
        self._course = course
        # Where accounts have no names, or labs are of no course, the recordings of most say so.
        self._most_name_one = 2 * sum(map(bool, accounts.values())) > len(accounts)
        self._own = {student: name_hash(course.course, student) for student in {*ids, *stated}}
        self._owner = {name: student for student, name in sorted(self._own.items())}
        self._generic = {name_hash(course.course, name) for name in GENERIC}
        self._students: dict[Account, set[str]] = defaultdict(set)
        for student, each in accounts.items():
            for account in each:
                self._students[account].add(student)
        counts = Counter(name for each in accounts.values() for name in {a.name for a in each})
        half = sum(map(bool, accounts.values())) / 2
        most = min(MOST_OF_ONE_ACCOUNT, half)
        self._many = {name for name, count in counts.items() if count > most}
        self._logins = {
            on_hub for on_hub in (True, False) if self._ids_are_logins(accounts, on_hub)
        }
        # Only what would else be flagged: "me" on everybody's own machine is nothing to tell.
        several = [a for a, each in self._students.items() if len(each) > 1 and a.place]
        told = {a.name for a in several if a.name in self._many and self._owner_of(a) is None}
        self.shared = tuple(sorted((counts[name] for name in told), reverse=True))

    def _ids_are_logins(self, accounts: Mapping[str, set[Account]], on_hub: bool) -> bool:
        """Whether the students' ids are the names of their accounts, on a hub or elsewhere.

        They are if at least half of the students name an account that is called as they are.
        Elsewhere a laptop's account may by chance be called as somebody else in the course is.
        """
        nobodys = self._generic | (self._many - self._owner.keys())
        names = {
            student: {a.name for a in each if a.on_hub == on_hub} - nobodys
            for student, each in accounts.items()
        }
        naming = [student for student, each in names.items() if each]
        own = [student for student in naming if self._own[student] in names[student]]
        return bool(own) and 2 * len(own) >= len(naming)

    def _owner_of(self, account: Account) -> str | None:
        """The student whose account it is, if ids decide this.

        Elsewhere than on a hub, it must be the account of a recording that this student handed in:
        a laptop's account may be called like somebody else's id.
        """
        owner = self._owner.get(account.name)
        if owner is None or account.on_hub not in self._logins:
            return None
        return owner if account.on_hub or owner in self._students[account] else None

    def not_stated(self, one: Stated) -> Iterator[AccountFlag]:
        """The flag of a recording in which somebody took the account out, or wrote something else.

        A recording from before the course had an id has none.
        """
        if one.account is None:
            if _must_state_it(one, self._course):
                yield AccountFlag(MISSING)
        elif one.account.startswith(NO_ACCOUNT):
            if self._most_name_one and _must_state_it(one, self._course):
                yield AccountFlag(NONE)
        elif parse_account(one.account) is None:
            yield AccountFlag(MALFORMED)

    def flags(self, student: str, one: Stated) -> Iterator[AccountFlag]:
        """The flag of a recording of `student` that names somebody else's account, if it does."""
        account = parse_account(one.account or "")
        if account is None or account.name in self._generic:
            return
        owner = self._owner_of(account)
        if owner is not None:
            if account.name != self._own[student]:
                yield AccountFlag(OF_ANOTHER, (owner,))
        # Without its place, an account of another machine may have the same name.
        elif account.place and account.name not in self._many:
            others = tuple(sorted(self._students[account] - {student}))
            if others:
                yield AccountFlag(SHARED, others)
