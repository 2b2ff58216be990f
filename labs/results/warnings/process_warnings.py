"""Warnings about processes that differ, with the cause if the run shows it."""

from __future__ import annotations

from labs.analysis.line import Line
from labs.analysis.stack_effect import StackEffect
from labs.analysis.undisturbed_processes import MOST_BY_PLACE, TwoGroups
from labs.common.advice import Advice, Words, advice
from labs.common.units import rounded
from labs.results.warnings.lost_samples import OTHERS_USED_MEMORY
from labs.results.warnings.more_processes import more_processes
from labs.results.warnings.no_line import LET_IT_WAIT, READ_EARLY
from labs.results.warnings.warning import RunWarning

#: Groups that differ by less, as a share, are not worth a warning.
GROUPS_APART = 0.02
#: Processes that differ are a quiet remark if they are at most this share of all processes, and if
#: they differ by less than this factor.
FEW_OF_MANY, NEARLY_ALIKE = 0.2, 1.25


def of_processes(line: Line, *, early: bool, free: bool, memory: bool) -> list[RunWarning]:
    """A warning if the processes fall into two groups, with the cause if the run shows it.

    `early` says that the second reading was seen not to wait for the work; `free`, that the OS
    chose the CPUs of the tasks; `memory`, that others used what the operation uses.
    """
    groups, by = line.two_groups, line.cost.by_process
    if line.by_stack is not None and by is not None and not early:
        return [_of_stack(line.by_stack, len(by.process))]
    if groups is None or by is None or abs(groups.factor - 1) < GROUPS_APART:
        return []
    aside = int((line.set_aside["process"] > 0).sum())
    count, every = len(groups.others), len(by.process)
    factor = rounded(groups.factor)
    symptom = f"processes differ: {count} of {every} took {factor} times as long as the others"
    brief = f"{count} of {every} processes took {factor} times as long as the others"
    if aside:
        symptom = (
            f"processes differ: {count} of {every} took {factor} times as long as the others, "
            "and these samples were set aside"
        )
        brief = (
            f"{count} of {every} processes took {factor} times as long as the others, and these "
            "samples were set aside"
        )
    # The others agree, and the interval counts what was kept: there is nothing to do.
    few = count <= FEW_OF_MANY * every and 1 / NEARLY_ALIKE < groups.factor < NEARLY_ALIKE
    return [
        RunWarning(
            "processes-differ",
            symptom,
            OTHERS_USED_MEMORY
            if memory and not early
            else _why_processes_differ(groups, early=early, free=free),
            LET_IT_WAIT if early else _look_at_each(len(line.set_aside["process"])),
            quiet=few and not early,
            brief=brief,
        )
    ]


def _of_stack(effect: StackEffect, every: int) -> RunWarning:
    """The remark that the place of the stack decides the cost; `every` is the number of processes.

    The interval counts all places, so there is nothing to do.
    """
    count, factor = len(effect.slowed), rounded(effect.factor)
    slow, fast = effect.slow_bytes(), effect.fast_bytes()
    return RunWarning(
        "processes-differ",
        f"processes differ: {count} of {every} took {factor} times as long as the others",
        f"the place of the stack: it begins at byte {slow} of a cache line in these processes, and "
        f"at byte {fast} in the others",
        _look_at_each(every),
        quiet=True,
        brief=f"{count} of {every} processes took {factor} times as long as the others, with "
        f"the stack at byte {slow} of a cache line instead of {fast}",
    )


def _look_at_each(processes: int) -> Advice:
    """What to try if so many processes fall into groups."""
    plot = Words("plot_processes in a notebook", ".plot_processes() of the run")
    more = more_processes(40, processes)
    if more is None:
        return advice("look at each process ({plot})", plot=plot)
    return advice(
        "look at each process ({plot}), and run more processes ({processes})",
        plot=plot,
        processes=more,
    )


def _why_processes_differ(groups: TwoGroups, *, early: bool, free: bool) -> str:
    """The likely cause, as far as the run shows it."""
    if early:
        return READ_EARLY
    if free and groups.siblings != "move":
        return "the OS chose the CPUs of the tasks, and perhaps others in some processes"
    if groups.factor >= MOST_BY_PLACE and (groups.siblings == "stay" or groups.whole):
        if free:
            return (
                "another state of the machine, for example two tasks on two CPUs in some processes "
                "and on one CPU in others; a place in memory has a smaller effect, and the "
                "samples that were kept show no other program on the core"
            )
        return (
            "another state of the machine; a place in memory has a smaller effect, and the samples "
            "that were kept show no other program on the core"
        )
    if groups.siblings == "stay":
        return (
            "the place of code and stack in memory: another variant in the same processes did not "
            "change, and another program on the core would have slowed it too"
        )
    if groups.whole:
        return (
            "perhaps the place of code and stack in memory; the samples that were kept show no "
            "other program on the core"
        )
    if groups.siblings == "move":
        return (
            "another program on the same core: all variants of this run were slower in the same "
            "processes"
        )
    return (
        "this run does not show the cause: it may be their place in memory, or another program on "
        "the same core"
    )
