"""What a person should look at in a submission. A flag never costs points.

Students own their machines, so that evidence can be made up; and an honest run can look odd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.cases.spec import FigureSpec
from grader.facts import unbound
from grader.facts.dates import measured_after
from grader.facts.sources import broken_sources, released_sources
from labs.course.figures import BadFigure, Figure
from labs.recording.file import BadRecording, Recording

#: Samples off the declared step: a counter seen through a hypervisor has a few of its own.
MOST_OFF_STEP = 0.02

#: Intervals of more steps than this are left out: what a hypervisor does in milliseconds, such as
#: moving its guest, shifts the counter by any number of ticks.
MOST_STEPS = 400_000

#: Conditions that one machine keeps through a lab.
OF_THE_MACHINE = ("os", "libc", "counter", "cpu.pinning")


def of_submission(
    submitted: Mapping[str, Figure | BadFigure | None],
    recordings: Mapping[str, Recording | BadRecording],
    specs: Sequence[FigureSpec],
) -> dict[str, tuple[str, ...]]:
    """The flags of each figure, by figure id."""
    usable = {name: each for name, each in recordings.items() if isinstance(each, Recording)}
    found: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        figure = submitted.get(spec.id)
        name = figure.recording if isinstance(figure, Figure) else None
        if name is not None and name in usable:
            raised = [*_of_recording(usable[name], spec), *_beside(name, usable)]
            raised += _of_dates(figure, usable[name])
            if raised:
                found[spec.id] = tuple(raised)
    return found


def _of_recording(recording: Recording, spec: FigureSpec) -> list[str]:
    raised = []
    stated = recording.conditions.get("source.sha256", "")
    if not spec.own and stated not in released_sources() and stated not in broken_sources():
        raised.append("the C kernel's source hash is not that of a released one")
    if unbound.is_honest(recording) and _is_plain_linux(recording):
        raised.append(
            "it says that no task can be bound to a CPU, on Linux and without a filter of calls"
        )
    for name in spec.variants:
        try:
            samples = recording.samples(name)
        except (KeyError, BadRecording):
            continue  # of something else, or its clock is not described: told as a finding
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
    """Whether nothing stands between the run and a Linux kernel, which can pin."""
    filtered = recording.condition("seccomp")
    return filtered == ("off",) and " ".join(recording.condition("os")).startswith("Linux ")


def _of_dates(figure: Figure | BadFigure | None, recording: Recording) -> list[str]:
    """A figure cannot be older than the samples that it was taken from."""
    if not isinstance(figure, Figure) or not measured_after(figure, recording):
        return []
    created = recording.conditions["created"]
    return [
        f"the figure, handed in at {figure.when}, is older than its recording, of {created}: "
        "measured again since, or by a wrong clock"
    ]


def _beside(name: str, usable: Mapping[str, Recording]) -> list[str]:
    raised = []
    mine = usable[name]
    for other, recording in usable.items():
        if other == name:
            continue
        if recording.samples_sha256 == mine.samples_sha256:
            raised.append(f"the same samples as {other}")
        changed = [
            key
            for key in OF_THE_MACHINE
            if set(recording.condition(key)) != set(mine.condition(key))
        ]
        if changed:
            raised.append(f"{', '.join(changed)} differ from {other}")
    return raised
