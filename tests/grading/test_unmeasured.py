"""Recordings that were made up or copied are flagged, and honest ones never."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.facts.observed import _random
from grader.judging import flags
from grader.judging.lab_folder import check_folder, handed_in
from grader.with_nbgrader.class_flags import EvidenceRegister
from labs.recording.file import Recording, parse, read
from testing.fixtures.saved_runs import fingerprints_under
from testing.paths import FIXTURES

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


@pytest.mark.parametrize("seed", [1, 2, 3, 1_431_655_765, 2**31 - 1])
def test_the_numbers_drawn_are_those_of_the_generator_step_by_step(seed: int) -> None:
    state, drawn, most = seed, [], 2**64 - 1
    for _ in range(300):
        state ^= state >> 12
        state ^= (state << 25) & most
        state ^= state >> 27
        drawn.append((state * 2685821657736338717) & most)
    for count in (0, 1, 128, 300):
        assert _random(seed, count).tolist() == drawn[:count]


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
