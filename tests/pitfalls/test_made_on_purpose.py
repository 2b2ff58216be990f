"""A run of a C kernel that is wrong on purpose passes for no figure, also where it looks right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.evidence import sources
from grader.evidence.sources import source_of
from grader.figures import figure_named
from grader.figures.spec import Quantity
from grader.figures.verdict import Outcome
from grader.judging.check import check
from grader.pitfalls import CATALOGUE
from labs.c_kernels import toolchain
from labs.recording.file import read
from labs.run import broken
from support.honest_cases import FOLDER, honest

LIVE = [
    (pitfall.code, live.kernel, live.figure)
    for pitfall in CATALOGUE
    for live in pitfall.broken
    if not (spec := figure_named(live.figure)).demonstrates
    and not spec.of
    and spec.quantity is not Quantity.CHOICE
]


@pytest.mark.parametrize(("code", "kernel", "figure_id"), LIVE)
def test_an_honest_recording_with_the_hash_of_a_broken_c_kernel(
    code: str, kernel: str, figure_id: str
) -> None:
    spec, figure = figure_named(figure_id), honest(figure_id)
    path = FOLDER / spec.lab / (figure.recording or "")
    honestly = read(path)
    source = source_of(honestly, path.with_suffix(".c"))
    assert check(spec, figure, honestly, source).outcome is Outcome.PASSED
    assert sources.broken_name(honestly) is None

    wrong = broken.find(kernel).source
    stated = {**honestly.conditions, "source.sha256": toolchain.source_hash(wrong)}
    recording = replace(honestly, conditions=stated)
    assert sources.broken_name(recording) == kernel
    verdict = check(spec, figure, recording, wrong)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.praise == ""
    assert verdict.findings
