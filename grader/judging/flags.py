"""Flags: oddities in a submission that a person should look at. A flag never costs points.

Students own their machines, so they can make up evidence. But an honest run can look odd too.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from grader.cases.spec import FigureSpec
from grader.facts import unbound
from grader.facts.dates import measured_after
from grader.facts.sources import is_of_the_kit
from grader.judging import unmeasured
from labs.course.figures import BadFigure, Figure
from labs.recording.file import BadRecording, Recording

#: The tolerated share of samples off the declared step; under a hypervisor there are always some.
MOST_OFF_STEP = 0.02

#: Samples of more steps than this are left out: a hypervisor may pause or move its guest for
#: milliseconds, which shifts the counter by any number of ticks.
MOST_STEPS = 400_000

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
            raised += unmeasured.signs(usable[name], handed_in)
            raised += _flags_of_dates(figure, usable[name])
            if raised:
                found[spec.id] = tuple(raised)
    return found


def _flags_of_recording(recording: Recording, spec: FigureSpec) -> list[str]:
    raised = []
    # C of another name is already "something else": a notebook asks for some of it.
    if recording.kernel == spec.kernel and not spec.own and not is_of_the_kit(recording):
        raised.append("the source hash of the C kernel belongs to no released C kernel")
    if unbound.is_honest(recording) and _is_plain_linux(recording):
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
        ticks = samples.ticks[samples.ticks <= MOST_STEPS * step]
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
