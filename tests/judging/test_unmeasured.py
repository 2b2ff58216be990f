"""Recordings that were made up or copied are flagged, and honest ones never."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.evidence.observed import _random, follows_seed
from grader.judging import flags
from grader.judging.lab_folder import check_folder, handed_in
from grader.with_nbgrader.class_flags import EvidenceRegister
from labs.recording.file import Recording, numbered, parse, read
from support.fixtures.saved_runs import fingerprints_under
from support.paths import FIXTURES

LAB = "01-timer-overhead"
HONEST = FIXTURES / "honest" / LAB / "recordings" / "clocks.csv"
TEXT = HONEST.read_text(encoding="utf-8")
ROWS = TEXT[TEXT.index("\nvariant,") + 1 :].splitlines()[1:]


def with_rows(rows: list[str], text: str = TEXT) -> str:
    """The recording with other rows, and the hash of its samples as it then must be."""
    head = text[: text.index("\nvariant,") + 1]
    made = head + "\n".join(["variant,process,sample,batch,ticks", *rows]) + "\n"
    own = parse(made.encode()).samples_sha256
    return re.sub(r"(?m)^(# samples.sha256: ).*$", rf"\g<1>{own}", made)


def in_rows(change: Callable[[list[str]], list[str]]) -> str:
    return with_rows([",".join(change(row.split(","))) for row in ROWS])


def noise_free() -> str:
    """A line without noise, in the order of the honest run."""
    return in_rows(lambda row: [*row[:4], str(26 * (3 + int(row[3])))])


def exchanged(row: list[str]) -> list[str]:
    """Two batch sizes, one in the place of the other."""
    return [*row[:3], {"64": "128", "128": "64"}.get(row[3], row[3]), row[4]]


def sorted_rows() -> str:
    """The honest numbers, sorted by batch size, as somebody lists them who makes them up."""
    cells = [row.split(",") for row in ROWS]
    numbered = [f"{row[1]},{row[2]}" for row in cells]
    by_size = sorted(cells, key=lambda row: (int(row[1]), row[0], int(row[3])))
    pairs = zip(by_size, numbered, strict=True)
    return with_rows([f"{row[0]},{place},{row[3]},{row[4]}" for row, place in pairs])


#: Kinds of forgery, by what somebody does; and what the flag says of it, if there is one.
FORGED = {
    "numbers without noise": (noise_free, "all samples are equal"),
    "numbers made up and sorted": (sorted_rows, "order that the recorded seeds give"),
    "another seed": (
        lambda: re.sub(r'"seed": "\d+"', '"seed": "12345"', TEXT),
        "order that the recorded seeds give",
    ),
    "one batch size taken for another": (
        lambda: in_rows(exchanged),
        "order that the recorded seeds give",
    ),
    "a variant renamed": (
        lambda: with_rows(
            [row.replace("monotonic,", "realtime,") for row in ROWS],
            TEXT.replace("variants: monotonic", "variants: realtime").replace(
                ".monotonic.", ".realtime."
            ),
        ),
        "asks for monotonic",
    ),
    "no hash, seed or command": (
        lambda: re.sub(
            r'(?m)^# (command|source.sha256): .*\n|"seed": "\d+", ', "", TEXT
        ),
        "does not state source.sha256, command, seed",
    ),
    "a machine called TempleOS": (
        lambda: re.sub(r"(?m)^# os: .*$", "# os: TempleOS 5.03 x86_64", TEXT),
        "does not run on TempleOS",
    ),
    "measured in 1970": (
        lambda: re.sub(r"(?m)^# created: .*$", "# created: 1970-01-01T00:00:00+00:00", TEXT),
        "before the kit existed",
    ),
    "measured after it was handed in": (
        lambda: re.sub(r"(?m)^# created: .*$", "# created: 2026-12-24T00:00:00+00:00", TEXT),
        "after it was handed in",
    ),
    "a copy of a saved run": (lambda: TEXT, "a saved run of the project"),
}  # fmt: skip


def signs_of(text: str) -> list[str]:
    handed = datetime.datetime(2026, 12, 1, tzinfo=datetime.timezone.utc)
    return flags.signs(parse(text.encode()), handed)


@pytest.mark.parametrize("kind", FORGED)
def test_a_forgery_is_flagged(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, said = FORGED[kind]
    if kind != "a copy of a saved run":
        monkeypatch.setattr(flags, "saved_runs", frozenset)
    found = signs_of(make())
    assert [sign for sign in found if said in sign], found


def test_a_clock_may_be_wrong_by_a_day() -> None:
    """As where a laptop takes another time zone for its own."""
    for created, told in (
        ("2026-11-30T00:00", 0),
        ("2026-12-01T23:00", 0),
        ("2026-12-02T01:00", 1),
    ):
        text = re.sub(r"(?m)^# created: .*$", f"# created: {created}:00+00:00", TEXT)
        assert sum("after it was handed in" in sign for sign in signs_of(text)) == told, created


@functools.cache
def honest_recordings() -> list[tuple[Path, Recording]]:
    found = []
    for folder in (*(FIXTURES / "honest").iterdir(), *(FIXTURES / "honest_runs").iterdir()):
        for path in sorted((folder / "recordings").glob("*.csv")):
            found.append((path, read(path)))
    return found


def test_no_honest_recording_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "saved_runs", frozenset)
    found = {path: flags.signs(recording) for path, recording in honest_recordings()}
    assert len(found) > 100
    assert {path: signs for path, signs in found.items() if signs} == {}


# A friend's run, of which a student changes a part. Each change is told by the run's fingerprints,
# or by a sign of the recording itself.


def only(run: Recording, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Recording:
    """The run with these rows."""
    names = ("variant_index", "process", "sample", "batch", "ticks")
    return replace(run, **{name: getattr(run, name)[rows] for name in names})


def with_processes(run: Recording, kept: list[int]) -> Recording:
    """The run with these processes, in this order."""
    order = np.concatenate([np.flatnonzero(run.process == number) for number in kept])
    place = np.zeros(len(run.processes), np.int64)
    place[kept] = np.arange(len(kept))
    made = only(run, order)
    processes = tuple(run.processes[number] for number in kept)
    return replace(made, process=place[made.process], processes=processes)


def with_seeds(run: Recording, count: int) -> Recording:
    """The run with other seeds in its first `count` processes."""
    changed = [{**each, "seed": str(7 + 2 * n)} for n, each in enumerate(run.processes[:count])]
    return replace(run, processes=(*changed, *run.processes[count:]))


def with_ticks(run: Recording, rows: Any, more: int = 1) -> Recording:
    """The run with some longer samples; `more` is in steps of the counter."""
    ticks = run.ticks.copy()
    ticks[rows] += more * int(run.number("counter.step") or 1)
    return replace(run, ticks=ticks)


def one_tick_of_each(run: Recording) -> Recording:
    return with_ticks(
        run, [np.flatnonzero(run.process == n)[-3] for n in range(len(run.processes))]
    )


def exchanged_ticks(run: Recording) -> Recording:
    """The steady ticks of each variant, batch size and process in another order."""
    ticks, chance = run.ticks.copy(), np.random.default_rng(1)
    cell = (run.process << 20) + numbered((run.variant_index << 40) + run.batch)[1]
    cell[run.sample < 0] = -1
    for number in np.unique(cell[cell >= 0]):
        rows = np.flatnonzero(cell == number)
        ticks[rows] = chance.permutation(ticks[rows])
    return replace(run, ticks=ticks)


def scaled(run: Recording, most: int, least: int = 1) -> Recording:
    """The run with a clock of another frequency, so that all times are the same."""
    factor = most / least
    clock = re.compile(r"(clock\..*|counter)\.frequency_hz")

    def of(stated: Mapping[str, str]) -> dict[str, str]:
        return {k: str(float(v) * factor) if clock.fullmatch(k) else v for k, v in stated.items()}

    processes = tuple(of(each) for each in run.processes)
    ticks = run.ticks * most // least
    return replace(run, ticks=ticks, conditions=of(run.conditions), processes=processes)


def among_own(run: Recording) -> Recording:
    """Every second process is the friend's; the others are longer, as if the student ran them."""
    own = run.process % 2 == 0
    made = with_ticks(exchanged_ticks(run), own, 1)
    made.ticks[~own] = run.ticks[~own]
    seeds = [
        each if n % 2 else {**each, "seed": str(101 + 2 * n)}
        for n, each in enumerate(run.processes)
    ]
    return replace(made, processes=tuple(seeds))


CHANGES: dict[str, Callable[[Recording], Recording]] = {
    "one seed and one tick": lambda run: with_seeds(with_ticks(run, [len(run) // 2]), 1),
    "one seed": lambda run: with_seeds(run, 1),
    "all seeds": lambda run: with_seeds(run, len(run.processes)),
    "the seeds of all but two": lambda run: with_seeds(run, len(run.processes) - 2),
    "one tick of each process": one_tick_of_each,
    "one tick of each process and one seed": lambda run: with_seeds(one_tick_of_each(run), 1),
    "one tick in a hundred and one seed": lambda run: with_seeds(
        with_ticks(run, slice(None, None, 100)), 1
    ),
    "all ticks and one seed": lambda run: with_seeds(with_ticks(run, slice(None)), 1),
    "half of the processes": lambda run: with_processes(run, list(range(len(run.processes) // 2))),
    "every second process": lambda run: with_processes(run, list(range(0, len(run.processes), 2))),
    "half of the processes, one seed and one tick": lambda run: with_seeds(
        with_ticks(with_processes(run, list(range((len(run.processes) + 1) // 2))), [1]), 1
    ),
    "the processes in another order": lambda run: with_processes(
        run, list(range(len(run.processes)))[::-1]
    ),
    "a friend's processes among own ones": among_own,
    "the lines in another order, and one tick of each process": lambda run: only(
        one_tick_of_each(run), np.lexsort((run.ticks, run.variant_index, run.process))
    ),
    "the ticks of each batch size in another order": exchanged_ticks,
    "twice the ticks in a clock of twice the frequency": lambda run: scaled(run, 2),
    "half the ticks and one seed": lambda run: with_seeds(scaled(run, 1, 2), 1),
    "three times half the ticks and one seed": lambda run: with_seeds(scaled(run, 3, 2), 1),
    "without warm-up": lambda run: only(run, run.sample >= 0),
    "without the last samples": lambda run: only(run, run.sample < int(run.sample.max() * 0.8)),
    "without the last samples, and one seed": lambda run: with_seeds(
        only(run, run.sample < int(run.sample.max() * 0.8)), 1
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_friends_run_of_which_a_part_was_changed_is_flagged(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flags, "saved_runs", frozenset)
    some = honest_recordings()[::4]
    assert len({path.parts[-3] for path, _ in some}) > 15, "several labs"
    passed = [
        path
        for path, run in some
        if set(flags.fingerprints(run)).isdisjoint(flags.fingerprints(CHANGES[change](run)))
        and not flags.signs(CHANGES[change](run))
    ]
    assert passed == []


#: What leaves fingerprints of the ticks alone: all seeds are changed too.
KEPT = {
    name: CHANGES[name]
    for name in (
        "one tick of each process",
        "every second process",
        "a friend's processes among own ones",
        "the lines in another order, and one tick of each process",
        "the ticks of each batch size in another order",
        "twice the ticks in a clock of twice the frequency",
        "without warm-up",
    )
}


@pytest.mark.parametrize("change", KEPT)
def test_ticks_tell_a_copy_without_any_seed(change: str) -> None:
    for lab, name in (
        ("03-system-call", "calls"),
        ("05-task-creation", "kinds"),
        ("10-page-fault", "copy"),
    ):
        run = read(FIXTURES / "honest" / lab / "recordings" / f"{name}.csv")
        copy = KEPT[change](run)
        copy = with_seeds(copy, len(copy.processes))
        assert not set(flags.fingerprints(run)).isdisjoint(flags.fingerprints(copy)), lab
        # It is the ticks: none of them is known in a clock that is one step slower each time.
        strange = with_ticks(exchanged_ticks(copy), slice(None))
        assert set(flags.fingerprints(run)).isdisjoint(flags.fingerprints(strange)), lab


def test_one_process_of_each_of_ten_friends_is_known_by_its_ticks() -> None:
    """Where processes are long: docs/instructors/integrity.md says what is not seen."""
    for lab, name in (
        ("03-system-call", "calls"),
        ("05-task-creation", "kinds"),
        ("10-page-fault", "copy"),
    ):
        run, chance = read(FIXTURES / "honest" / lab / "recordings" / f"{name}.csv"), np.random
        friends = [twin(run, chance.default_rng(n)) for n in range(len(run.processes))]
        parts = [only(friend, friend.process == n) for n, friend in enumerate(friends)]
        names = ("variant_index", "process", "sample", "batch", "ticks")
        rows: dict[str, Any] = {
            each: np.concatenate([getattr(part, each) for part in parts]) for each in names
        }
        made = with_seeds(replace(run, **rows), len(run.processes))
        marks = flags.fingerprints(made)
        assert sum(not set(flags.fingerprints(each)).isdisjoint(marks) for each in friends) > 2, lab


def test_the_order_of_each_process_is_replayed() -> None:
    run = read(HONEST)
    processes = (*run.processes[:9], {**run.processes[9], "seed": "7"})
    assert follows_seed(run) is True
    assert follows_seed(replace(run, processes=processes)) is False
    batch = run.batch.copy()
    (last,) = np.flatnonzero((run.process == 9) & (run.sample == run.sample.max()))
    batch[last] = 64 if batch[last] != 64 else 128  # the 150th row of its process
    assert follows_seed(replace(run, batch=batch)) is False


def test_the_smallest_hashes_are_those_of_all_that_are_sorted() -> None:
    chance = np.random.default_rng(1)
    for different in (3, 100, 1 << 60):
        for count in (0, 5, 64, 5_000):
            hashes = chance.integers(0, different, count).astype(np.uint64)
            assert flags._smallest(hashes).tolist() == np.unique(hashes)[:8].tolist()


def test_a_seed_that_no_harness_takes_is_none() -> None:
    for seed in ("0", "-5", "2147483648", "mine", "000000000001999"):
        text = re.sub(r'"seed": "\d+"', f'"seed": "{seed}"', TEXT, count=1)
        assert "the recording does not state seed" in signs_of(text), seed


def test_the_order_is_compared_whatever_the_head_states() -> None:
    for stated, changed, sign in (
        ("variants: process-cpu,", "variants: ", "order that the recorded seeds give"),
        ("batch: 0,64,", "batch: x,64,", "order that the recorded seeds give"),
        ("# variants: process-cpu,fenced,monotonic\n", "", "does not state variants"),
        ("# batch: 0,64,128,256,512\n", "", "does not state batch"),
    ):
        assert stated in TEXT
        assert sign in " ".join(signs_of(TEXT.replace(stated, changed)))


def twin(run: Recording, chance: np.random.Generator, step: int = 1) -> Recording:
    """Another run on the same machine: each sample has the length of some sample of its process.

    A coarser clock has one step where `step` were.
    """
    cell = (run.process << 20) + numbered((run.variant_index << 40) + run.batch)[1]
    ticks = run.ticks.copy()
    for number in np.unique(cell):
        rows = np.flatnonzero(cell == number)
        ticks[rows] = (chance.choice(run.ticks[rows], len(rows)) + chance.integers(step)) // step
    drawn = chance.integers(1, 2**31 - 1, len(run.processes)).tolist()
    # One seed is that of another student's run, by chance.
    seeds = [run.processes[0]["seed"], *map(str, drawn[1:])]
    processes = tuple({**p, "seed": s} for p, s in zip(run.processes, seeds, strict=True))
    return replace(run, ticks=ticks, processes=processes)


@pytest.mark.slow
def test_honest_runs_on_one_machine_have_no_fingerprint_in_common() -> None:
    """Also with a clock of 24 MHz, and with one that shows no time at all."""
    for step in (1, 40, 10**12):
        chance = np.random.default_rng(step)
        for path, run in honest_recordings()[::4]:
            marks = [flags.fingerprints(twin(run, chance, step)) for _ in range(3)]
            assert len(set(chain.from_iterable(marks))) == sum(map(len, marks)), path


def test_two_lengths_that_each_process_has_about_as_often_are_no_fingerprint_if_sorted() -> None:
    run = read(FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv")
    chance = np.random.default_rng(5)
    marks: list[str] = []
    for _ in range(30):
        process, sample = np.divmod(np.arange(4_000), 400)
        nothing = process * 0
        ticks = 26 * chance.integers(2, 4, 4_000)
        other = replace(
            run,
            variant_index=nothing,
            batch=nothing,
            ticks=ticks,
            process=process,
            sample=sample,
            processes=tuple({**each, "seed": ""} for each in run.processes),
        )
        marks += flags.fingerprints(other)
    assert marks and len(marks) == len(set(marks))


def test_equal_ticks_are_no_fingerprint() -> None:
    run = read(FIXTURES / "honest" / "01-timer-overhead" / "recordings" / "fenced.csv")
    processes = tuple({**each, "seed": ""} for each in run.processes)
    for ticks in (run.ticks * 0, run.ticks * 0 + 41, 26 * run.batch + 52):
        assert flags.fingerprints(replace(run, ticks=ticks, processes=processes)) == ()


def test_the_numbers_drawn_are_those_of_the_generator_step_by_step() -> None:
    for seed in (1, 2, 3, 1_431_655_765, 2**31 - 1):
        state, drawn, most = seed, [], 2**64 - 1
        for _ in range(300):
            state ^= state >> 12
            state ^= (state << 25) & most
            state ^= state >> 27
            drawn.append((state * 2685821657736338717) & most)
        for count in (0, 1, 128, 300):
            assert _random(seed, count).tolist() == drawn[:count]


@pytest.mark.slow
def test_the_list_of_saved_runs_is_complete() -> None:
    """`make fixtures` writes it."""
    assert sorted(flags.saved_runs()) == fingerprints_under(FIXTURES)


def test_a_copy_with_all_ticks_or_all_seeds_changed_is_still_known() -> None:
    shifted = in_rows(lambda row: [*row[:4], str(int(row[4]) + 26)])
    assert "the recording is a saved run of the project" in signs_of(shifted)


def test_two_runs_of_the_same_command_have_nothing_in_common() -> None:
    marks = [set(flags.fingerprints(recording)) for _, recording in honest_recordings()]
    assert len(set.union(*marks)) == sum(map(len, marks))


def test_the_register_finds_a_friends_copy_and_forgets_an_earlier_hand_in(tmp_path: Path) -> None:
    register = EvidenceRegister(tmp_path / "runs.db")
    assert register.enter("ada", LAB, {"fenced": ["t1", "s1"]}) == {}
    assert register.enter("ada", LAB, {"fenced": ["t1", "s1"]}) == {}
    assert register.enter("bob", LAB, {"fenced": ["t1", "s9"], "own": ["t3"]}) == {
        "fenced": ["ada"]
    }
    assert register.enter("cyd", LAB, {"own": ["t2", "s2"]}) == {}
    # Ada measures again; what Dan hands in later is no copy of what she had.
    register.enter("ada", LAB, {"fenced": ["t5", "s5"]})
    register.enter("bob", LAB, {})
    assert register.enter("dan", LAB, {"fenced": ["t1", "s1"]}) == {}
    # Eve hands in five of the ten processes of Fay's run, with another seed and another sample.
    run = read(HONEST)
    part = with_seeds(with_ticks(with_processes(run, [0, 2, 4, 6, 8]), [1]), 1)
    assert register.enter("fay", LAB, {"clocks": flags.fingerprints(run)}) == {}
    assert register.enter("eve", LAB, {"clocks": flags.fingerprints(part)}) == {"clocks": ["fay"]}


def test_a_register_of_a_large_class_is_small_and_is_never_read_as_a_whole(tmp_path: Path) -> None:
    """A class of 5,000 has a million fingerprints."""
    register = EvidenceRegister(tmp_path / "runs.db")
    with register.opened() as entries:
        said: list[str] = []
        entries._register.set_trace_callback(said.append)
        for number in range(200):
            marks = [f"{number} {each}" for each in range(90)]
            assert entries.enter(f"student-{number}", LAB, {"cost": marks}) == {}
        entries._register.set_trace_callback(None)
        for statement in {re.sub(r"x?'[^']*'|-?\b\d+\b", "'1'", each) for each in said}:
            plan = entries._register.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
            assert not [step for *_, step in plan if "SCAN" in step], statement
    assert register.path.stat().st_size < 40 * 90 * 200


@pytest.mark.parametrize(
    ("note", "hour"),
    [
        ("2026-12-01 10:00:00.123456 UTC\n", 10),
        ("2026-12-01 11:00:00 UTC", 11),
        ("yesterday, I think", None),
        ("", None),
        ("9" * 5_000, None),
    ],
)
def test_when_it_was_handed_in(note: str, hour: int | None, tmp_path: Path) -> None:
    (tmp_path / "timestamp.txt").write_text(note)
    found = handed_in(tmp_path)
    assert (found and found.hour) == hour


def test_a_flag_stands_with_the_figure_and_costs_nothing() -> None:
    verdicts = check_folder(FIXTURES / "honest" / LAB, LAB)
    assert all("the recording is a saved run of the project" in each.flags for each in verdicts)
    assert all(each.points == each.max_points for each in verdicts)
