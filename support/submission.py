"""One figure as handed in, and ways to change it: the value, the recording, or the C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.evidence.sources import source_of
from grader.figures.case import Case
from grader.figures.spec import FigureSpec
from grader.figures.verdict import Verdict
from grader.judging.check import judge, open_case
from labs.c_kernels.toolchain import source_hash
from labs.course.figures import Figure
from labs.recording.file import Recording, read
from support.honest_cases import FOLDER, honest, opened

#: What today's kit counts when it runs the C of the honest students, by C kernel. Their saved runs
#: are older, and state none of it. `@` stands for the variant.
COUNTED: Mapping[str, Mapping[str, str]] = {
    "own_pair": {
        "@.watched_readings": "2",
        "@.watched_additions": "512",
        "@.watched_chains": "1",
        "@.watched_share": "1.000",
    },
    "own_first_call": {"@.watched_page": "1", "@.watched_other_pages": "0"},
    "own_call": {
        "@.watched_operations": "16",
        "@.watched_system_calls": "16",
        "@.watched_failed": "0",
        "@.watched_empty_reads": "16",
        "@.watched_given_reads": "16",
        "@.watched_failure_noticed": "1",
        "program.imports": "clock_gettime open read",
    },
    "own_procedure": {
        "@.watched_operations": "16",
        "@.watched_calls": "16",
        "@.watched_inside": "16",
        "@.watched_loops": "0",
    },
    "own_creation": {
        "@.tried": "1",
        "@.raised_by_task": "1",
        "@.raised_by_parent": "0",
        "@.raised_by_nobody": "0",
        "@.shares_memory": "1",
        "@.parent_slept": "0",
        "@.created": "42",
        "@.seen": "42",
        "@.children_switches": "42",
    },
    "own_switch": {
        "@.claimed_switches": "216",
        "@.counted_switches": "216",
        "@.voluntary_switches": "116",
        "@.turns_tried": "1",
        "@.turns_unwoken": "0",
    },
    "own_footprint": {
        "@.set_lines": "4096",
        "@.lines_tried": "4096",
        "@.lines_used": "4096",
        "@.last_line_used": "4096",
        "@.keeps": "1",
    },
}


@dataclass(frozen=True)
class Submission:
    """A figure as handed in, with its recording and the C; a relation has neither."""

    spec: FigureSpec
    figure: Figure
    recording: Recording | None = None
    source: str | None = None

    def verdict(self) -> Verdict:
        return judge(self.spec, self.case(), self.figure)

    def case(self) -> Case:
        if self.recording is None:
            found = opened(self.spec, self.figure)
        else:
            found = open_case(self.spec, self.figure, self.recording, self.source)
        assert isinstance(found, Case), found
        return found

    def gives(self, value: float) -> Submission:
        return replace(self, figure=replace(self.figure, value=value))

    def states(self, stated: Mapping[str, str | None]) -> Submission:
        """With these conditions of all processes; `@` is the variant, and None leaves one out."""
        assert self.recording is not None
        names = {k.replace("@", f"variant.{self.spec.variant}"): v for k, v in stated.items()}
        left = {k: v for k, v in self.recording.conditions.items() if k not in names}
        conditions = left | {k: v for k, v in names.items() if v is not None}
        processes = tuple(
            {k: v for k, v in each.items() if k not in names} for each in self.recording.processes
        )
        return self.with_recording(conditions=conditions, processes=processes)

    def with_recording(self, **fields: Any) -> Submission:
        """With these fields of the recording; its hash of the rows is left out."""
        assert self.recording is not None
        conditions = dict(fields.pop("conditions", self.recording.conditions))
        conditions.pop("samples.sha256", None)
        return replace(self, recording=replace(self.recording, conditions=conditions, **fields))

    def of_c(self, text: str) -> Submission:
        """With this C in place of the one that was measured."""
        return replace(self.states({"source.sha256": source_hash(text)}), source=text)

    def rows(self, chosen: NDArray[np.bool_]) -> Submission:
        """Only these rows."""
        assert self.recording is not None
        columns = ("variant_index", "process", "sample", "batch", "ticks")
        return self.with_recording(
            **{name: getattr(self.recording, name)[chosen] for name in columns}
        )

    def lasting(self, ticks: NDArray[np.int64]) -> Submission:
        """With samples of other lengths, and the value that they give."""
        return self.with_recording(ticks=ticks).follows()

    def follows(self) -> Submission:
        """With the value that the recording gives."""
        expected = self.case().expected
        if expected is None:
            return self
        return self.gives(expected.value)


def honest_submission(spec: FigureSpec) -> Submission:
    """The honest figure; what a run of today's kit counts for own C is added to its recording."""
    figure = honest(spec.id)
    if spec.of:
        return Submission(spec, figure)
    assert figure.recording is not None
    path = FOLDER / spec.lab / figure.recording
    recording = read(path)
    found = Submission(spec, figure, recording, source_of(recording, path.with_suffix(".c")))
    if spec.id == "trial-b-repaired":
        # The lab of that time let the library's call run beside the student's.
        assert found.source is not None
        found = found.of_c(found.source.replace("gettimeofday(&today, NULL) == 0", "1"))
    return found.states(COUNTED.get(spec.kernel, {}) if spec.own else {})
