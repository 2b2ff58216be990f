"""A recording counts as made with the kit's C kernel by the hash of its source."""

from __future__ import annotations

import dataclasses
from pathlib import Path

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

FOLDERS = (paths.kernels_c(), paths.kernels_c() / "broken")
SPEC = figure_named("timer-overhead-fenced")
FOREIGN = "belongs to no released C kernel"


def _stating(known: str) -> Recording:
    run = read(FIXTURES / "fenced.csv")
    return dataclasses.replace(run, conditions={**run.conditions, "source.sha256": known})


def _flags(run: Recording) -> tuple[str, ...]:
    figure = Figure(SPEC.id, 16.0, "ns", "run.csv")
    return flags.flags_by_figure({SPEC.id: figure}, {"run.csv": run}, [SPEC]).get(SPEC.id, ())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.name)
def test_each_c_kernel_of_the_kit_counts_as_released(folder: Path) -> None:
    for path in folder.glob("*.c"):
        run = _stating(toolchain.source_hash(path.read_text(encoding="utf-8")))
        assert sources.is_of_the_kit(run)
        assert not any(FOREIGN in flag for flag in _flags(run))


def test_any_other_hash_does_not_count() -> None:
    run = _stating("0" * 64)
    assert not sources.is_of_the_kit(run)
    assert any(FOREIGN in flag for flag in _flags(run))
    case = make_case(SPEC, Figure(SPEC.id, 16.0, "ns", "run.csv"), run, "int main(void) { }")
    assert sources.own_source(case) == "int main(void) { }"
