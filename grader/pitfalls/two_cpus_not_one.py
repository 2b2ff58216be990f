"""Two tasks that were not kept on one CPU: a wake-up across CPUs."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall
from labs.recording.places import as_text

CODE = "two-cpus-not-one"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    places = switch_counts.apart(case.recording, seen.variant) if seen is not None else None
    if seen is None or places is None:
        return None
    return (
        f"The measuring task of your variant {seen.variant} was on CPU {as_text(places.mine)}; "
        f"the other was on CPU {as_text(places.peers)} and may use {as_text(places.may_use)}."
    )


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The two tasks were not kept on one CPU.",
    misconception="If each task has its own CPU, no CPU switches from one to the other. The run "
    "then times the wake-up of another CPU, which is another quantity.",
    experiment="Pin both to one CPU, then to two, and compare the two results.",
    seen_in="report B: not pinned, 3,452 to 3,485 ns",
    detect=detect,
    broken=(Live("not_pinned", "process-switch-pipe-pinned", needs="two CPUs"),),
)
