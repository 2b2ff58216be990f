"""Two tasks on two CPUs that look until it is their turn, and never sleep."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import switch_counts
from grader.pitfalls.pitfall import Live, Pitfall
from labs.recording.places import as_text

CODE = "never-slept"


def detect(case: Case) -> str | None:
    seen = switch_counts.shown_by(case, CODE)
    places = switch_counts.apart(case.recording, seen.variant) if seen is not None else None
    if seen is None or places is None:
        return None
    return f"{seen.as_text()}. Its tasks were on CPU {as_text(places.mine | places.peers)}."


PITFALL = Pitfall(
    code=CODE,
    level=Level.VALIDITY,
    symptom="The tasks had a CPU each and never slept: nothing was switched.",
    misconception="A futex, the call behind most locks, enters the OS kernel only if the task "
    "must wait. With two CPUs its word changes before that.",
    experiment="Pin both threads to one CPU and compare the count with the claim.",
    seen_in="a futex benchmark: 2,000,000 switches at 112 ns; the OS counted 2",
    detect=detect,
    broken=(Live("spins_on_two_cpus", "thread-switch-condvar", needs="two CPUs"),),
)
