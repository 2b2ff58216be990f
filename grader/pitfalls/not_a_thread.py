"""A task that is called a thread, and is a process: clone without CLONE_VM, or vfork."""

from __future__ import annotations

from grader.cases.case import Case
from grader.cases.verdict import Level
from grader.facts import creations
from grader.facts.c import calls, parts
from grader.facts.sources import own_source
from grader.pitfalls.pitfall import Live, Pitfall
from labs.common.units import rounded

#: A task in its parent's memory finds every page there; a process faults in several before it ends.
FAULTS_OF_A_COPY = 0.5
#: The OS charges a parent with at least one switch of each child process that it waited for.
SWITCHES_OF_A_CHILD = 0.5

_BY_NUMBER = ("SYS_clone", "__NR_clone")
_SHARES = ("CLONE_VM", "pthread_create", "thrd_create", "vfork")


def detect(case: Case) -> str | None:
    about = [name for name in case.spec.variants if name in creations.SAME_MEMORY]
    if about:
        for account in creations.accounts(case):
            if account.variant in about and (evidence := _evidence(case, account)) is not None:
                return evidence
    if about or case.spec.kernel == "thread_switch":
        return _by_source(case)
    return None


def _evidence(case: Case, account: creations.Account) -> str | None:
    name, created = account.variant, account.created
    seen = case.recording.total(f"variant.{name}.seen")
    trial = creations.trial_of(case.recording, name)
    # If the task does not raise it, the number shows nothing about the task's memory.
    raises = trial is None or 2 * trial.by_task > trial.tried
    if seen is not None and seen < created / 2 and raises:
        return (
            f"{created:,} tasks each raised a number by one, but their parent saw it raised by "
            f"{seen:,}. A task with memory of its own raises a copy."
        )
    if account.children_faults < FAULTS_OF_A_COPY * created:
        switches = account.children_switches or 0
        if name not in creations.THREADS or switches < SWITCHES_OF_A_CHILD * created:
            return None
        return (
            f"For your {created:,} {name} the OS counted {switches:,} switches of ended child "
            "processes; a thread is not a child process."
        )
    return (
        f"Each of your {created:,} {name} was a child process that faulted in "
        f"{rounded(account.children_faults / created, 2)} pages of its own; a thread needs none."
    )


def _by_source(case: Case) -> str | None:
    source = own_source(case)
    if source is None:
        return None
    code = parts.whole(source)
    clones = calls.called(code, ("clone",)) or not code.words.isdisjoint(_BY_NUMBER)
    if not clones or not code.words.isdisjoint(_SHARES):
        return None
    return "Your C calls clone, but CLONE_VM appears nowhere in it."


PITFALL = Pitfall(
    code="not-a-thread",
    level=Level.VALIDITY,
    symptom="This task is a process, not a thread.",
    misconception="The flags of clone decide whether it makes a thread: without CLONE_VM it "
    "copies the memory, as fork does. vfork lends the parent's memory to a process.",
    experiment="Let the task raise a variable, and print it in the parent.",
    seen_in="report A: clone with flags 0, on the wrong end of its stack",
    detect=detect,
    broken=(Live("clone_without_memory", "creation-thread"),),
)
