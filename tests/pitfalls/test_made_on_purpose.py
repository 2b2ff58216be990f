"""A run of a C kernel that is wrong on purpose passes for no figure, also where it looks right."""

from __future__ import annotations

from collections import defaultdict
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

#: By figure, the C kernels that are wrong on purpose.
LIVE = defaultdict[str, set[str]](set)
for live in (live for pitfall in CATALOGUE for live in pitfall.broken):
    spec = figure_named(live.figure)
    if not spec.demonstrates and not spec.of and spec.quantity is not Quantity.CHOICE:
        LIVE[live.figure].add(live.kernel)


@pytest.mark.parametrize("figure_id", sorted(LIVE))
def test_an_honest_recording_with_the_hash_of_a_broken_c_kernel(figure_id: str) -> None:
    spec, figure = figure_named(figure_id), honest(figure_id)
    path = FOLDER / spec.lab / (figure.recording or "")
    honestly = read(path)
    source = source_of(honestly, path.with_suffix(".c"))
    assert check(spec, figure, honestly, source).outcome is Outcome.PASSED
    assert sources.broken_name(honestly) is None

    for kernel in LIVE[figure_id]:
        wrong = broken.find(kernel).source
        stated = {**honestly.conditions, "source.sha256": toolchain.source_hash(wrong)}
        recording = replace(honestly, conditions=stated)
        assert sources.broken_name(recording) == kernel
        verdict = check(spec, figure, recording, wrong)
        assert verdict.outcome is Outcome.FAILED, kernel
        assert verdict.praise == "", kernel
        assert verdict.findings, kernel
