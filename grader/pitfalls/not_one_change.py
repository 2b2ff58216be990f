"""A threat that was tried by two runs which do not differ in one thing: in nothing, or in more."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.spec import Quantity
from grader.cases.verdict import Level
from grader.facts import own_question
from grader.pitfalls.pitfall import Pitfall
from labs.recording.file import Recording

#: What may move a cost: the condition in the recording, and its name in `lab.measure`.
_MAY_MOVE = {
    "source.sha256": "the C",
    "flags": "flags",
    "batch": "batches",
    "cpu.asked": "cpu",
    "warmup": "warmup",
}
#: From this change of the busy CPUs on, another program may be what was changed.
_OTHER_LOAD = 0.3


def detect(case: Case) -> str | None:
    if case.changed_from is not None:
        return _nothing_changed(case, case.changed_from)
    if case.spec.quantity is not Quantity.CHOICE or len(case.others) != 2:
        return None
    first, second = case.others
    if first.spec.variants != second.spec.variants or first.spec.kernel != own_question.KERNEL:
        return None
    return _nothing_changed(first, second) or _several_changed(first, second)


def _nothing_changed(tested: Case, before: Case) -> str | None:
    """That no second run was measured, or the same one again."""
    one, other = tested.recording, before.recording
    if tested.figure.recording == before.figure.recording:
        return f"Both costs are of {tested.figure.recording}: nothing was measured a second time."
    if one.samples_sha256 == other.samples_sha256:
        return (
            f"{tested.figure.recording} and {before.figure.recording} hold the same samples: "
            "nothing was measured a second time."
        )
    moving = _changed(one, other, _MAY_MOVE)
    if not moving and _options(one) == _options(other) and not _other_load(one, other):
        return (
            f"{tested.figure.recording} and {before.figure.recording} were measured with the same "
            "C and the same settings: nothing was changed."
        )
    return None


def _several_changed(tested: Case, before: Case) -> str | None:
    one, other = tested.recording, before.recording
    moving = _changed(one, other, _MAY_MOVE)
    if len(moving) < 2:
        return None
    listed = "; ".join((*moving, *_changed(one, other, {"variants": "variants"})))
    return (
        f"{tested.figure.recording} and {before.figure.recording} differ in more than one thing: "
        f"{listed}."
    )


def _changed(one: Recording, other: Recording, settings: dict[str, str]) -> list[str]:
    """The settings that differ, each with its value in the `other` and in the `one` run."""
    found = []
    for key, name in settings.items():
        now, before = (" ".join(dict.fromkeys(each.condition(key))) for each in (one, other))
        if now != before:
            shown = key != "source.sha256" and now and before
            found.append(f"{name} ({before} and {now})" if shown else name)
    return found


def _options(recording: Recording) -> list[str]:
    """The words of the command without the C that it measures, whose hash is compared."""
    return " ".join(recording.condition("command")).split()[3:]


def _other_load(one: Recording, other: Recording) -> bool:
    """Whether other programs used the machine more in one run: this can be what was changed."""
    now, before = (each.number("cpus.busy") for each in (one, other))
    return now is not None and before is not None and abs(now - before) > _OTHER_LOAD


PITFALL = Pitfall(
    code="not-one-change",
    level=Level.INTERPRETATION,
    symptom="The two runs do not differ in one thing, so no threat was tried.",
    misconception="A second run tries a threat only if the threat would show in it. After several "
    "changes, nobody knows which of them moved the cost.",
    experiment="Change the one thing that you named, keep all other settings, and measure again.",
    seen_in="report E: one run, and no second one under other conditions",
    detect=detect,
)
