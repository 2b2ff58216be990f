"""A recording counts as made with the kit's C kernel also after that C kernel has changed."""

from __future__ import annotations

import dataclasses

import pytest

from grader.cases.case import make_case
from grader.facts import sources
from grader.figures import figure_named
from grader.judging import flags
from labs import paths
from labs.c_kernels import toolchain
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from testing.paths import FIXTURES

FOLDERS = {"released": paths.kernels_c(), "broken": paths.kernels_c() / "broken"}
SPEC = figure_named("timer-overhead-fenced")
FOREIGN = "belongs to no released C kernel"

#: The released C kernels as they were before their comments were rewritten.
BEFORE_REWRITING = {
    "first_iteration": "b8497999",
    "procedure_call": "ecc8b69e",
    "process_switch": "fea4a178",
    "switch_footprint": "c51c7e1b",
    "system_call": "ea62ded3",
    "task_creation": "206f26b1",
    "thread_switch": "7eb68b3f",
    "timer_overhead": "ac0a53a1",
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_the_list_ends_with_the_c_kernels_as_they_are_now(kind: str) -> None:
    """So nobody can change a C kernel and forget to keep the hash of the version before."""
    listed = sources.hashes_by_name()[kind]
    now = {path.stem: path.read_text(encoding="utf-8") for path in FOLDERS[kind].glob("*.c")}
    missing = {
        name: toolchain.source_hash(text)
        for name, text in now.items()
        if listed.get(name, [""])[-1] != toolchain.source_hash(text)
    }
    assert missing == {}, "run: python -m testing.lists"


def test_no_hash_is_listed_twice() -> None:
    every = [
        known
        for by_name in sources.hashes_by_name().values()
        for hashes in by_name.values()
        for known in hashes
    ]
    assert len(every) == len(set(every))
    assert all(len(known) == 64 for known in every)


def _stating(known: str) -> Recording:
    run = read(FIXTURES / "fenced.csv")
    return dataclasses.replace(run, conditions={**run.conditions, "source.sha256": known})


def _flags(run: Recording) -> tuple[str, ...]:
    figure = Figure(SPEC.id, 16.0, "ns", "run.csv")
    return flags.flags_by_figure({SPEC.id: figure}, {"run.csv": run}, [SPEC]).get(SPEC.id, ())


@pytest.mark.parametrize(("kernel", "begin"), BEFORE_REWRITING.items())
def test_a_kernel_from_before_this_version_counts_as_released(kernel: str, begin: str) -> None:
    [known] = [each for each in sources.released_hashes() if each.startswith(begin)]
    assert known in sources.hashes_by_name()["released"][kernel]
    run = _stating(known)
    assert sources.is_of_the_kit(run)
    assert not any(FOREIGN in flag for flag in _flags(run))
    # Its C is that of the kit, so the pitfalls in a student's own C are not looked for.
    case = make_case(SPEC, Figure(SPEC.id, 16.0, "ns", "run.csv"), run, "int main(void) { }")
    assert sources.own_source(case) is None


def test_every_broken_kernel_of_an_earlier_version_is_known() -> None:
    for hashes in sources.hashes_by_name()["broken"].values():
        for known in hashes:
            assert not any(FOREIGN in flag for flag in _flags(_stating(known)))


def test_any_other_hash_does_not_count() -> None:
    run = _stating("0" * 64)
    assert not sources.is_of_the_kit(run)
    assert any(FOREIGN in flag for flag in _flags(run))
    case = make_case(SPEC, Figure(SPEC.id, 16.0, "ns", "run.csv"), run, "int main(void) { }")
    assert sources.own_source(case) == "int main(void) { }"
