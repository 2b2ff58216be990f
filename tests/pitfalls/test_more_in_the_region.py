"""More between the readings than the operation: by the compiler's options, and by saved samples."""

from __future__ import annotations

import numpy as np
import pytest

from grader.figures import figure_named
from support.submission import Submission, honest_submission

MORE = "more-than-the-operation"


def codes(found: Submission) -> list[str]:
    return [finding.code for finding in found.verdict().findings]


@pytest.mark.parametrize(
    "figure", ["system-call-getppid", "call-args0", "creation-fork-wait", "ladder-memory"]
)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-O2 -pg", "-pg"),
        ("-fsanitize=address,undefined -O2", "-fsanitize=address,undefined"),
        ("-O2 -finstrument-functions", "-finstrument-functions"),
        ("--coverage -O2", "--coverage"),
        ("-O2 -pipe -g -march=native -Wall -fno-sanitize=all -fprofile-use=x -pthread", None),
    ],
)
def test_what_the_compiler_adds_is_told_of_every_c_kernel(
    figure: str, options: str, said: str | None
) -> None:
    found = honest_submission(figure_named(figure)).states({"flags": options})
    evidence = [each.evidence for each in found.verdict().findings if each.code == MORE]
    assert (said is None and not evidence) or f"compiled with {said}:" in evidence[0]


def test_a_step_is_the_same_in_an_instrumented_program() -> None:
    assert codes(honest_submission(figure_named("timer-step")).states({"flags": "-O2 -pg"})) == []


@pytest.mark.parametrize(("times", "said"), [(1.1, False), (1.5, True)])
def test_a_fence_beside_each_few_additions_is_told(times: float, said: bool) -> None:
    found = honest_submission(figure_named("timer-own-addition"))
    recording = found.recording
    assert recording is not None
    cycle = recording.number("core_cycle_ticks") or 0.0
    longer = recording.ticks + (times - 1) * cycle * recording.batch
    changed = found.lasting(longer.astype(np.int64)).follows()
    assert codes(changed) == (["more-between-the-readings"] if said else [])


@pytest.mark.parametrize(
    ("additions", "code"), [("0", "work-optimised-away"), ("512", "clock-read-too-early")]
)
def test_additions_that_the_compiler_left_out_need_no_fence(additions: str, code: str) -> None:
    found = honest_submission(figure_named("timer-own-addition"))
    recording = found.recording
    assert recording is not None
    flat = 80 + recording.sample % 3
    seen = {"@.watched_additions": additions, "@.watched_additions_anywhere": additions}
    changed = found.states(seen).lasting(flat.astype(np.int64))
    assert code in codes(changed)
    assert len({"work-optimised-away", "clock-read-too-early"} & set(codes(changed))) == 1


def test_times_that_one_process_in_four_reaches_are_no_evidence() -> None:
    found = honest_submission(figure_named("creation-own"))
    recording = found.recording
    assert recording is not None
    count = len(recording.processes)
    for slow, said in ((count // 4, False), (count // 2, False), (count - count // 4, True)):
        processes = tuple(
            {
                **each,
                "variant.own.beside_own": "60000" if place < slow else "40000",
                "variant.own.beside_kit": "40000",
            }
            for place, each in enumerate(recording.processes)
        )
        assert (MORE in codes(found.with_recording(processes=processes))) == said
