"""Warnings about what a run inherited, where it changes the figure and the reader can change it."""

from __future__ import annotations

from labs.common.units import rounded
from labs.recording import declared, inherited, proof
from labs.recording.file import Recording
from labs.results.warnings.warning import RunWarning


def of_inherited(recording: Recording, variant: str) -> list[RunWarning]:
    """Warnings about the scheduling policy, preloaded libraries, and clocks that disagree."""
    return [
        *_of_policy(recording, variant),
        *_of_preloaded(recording),
        *_of_clocks(recording),
    ]


def _of_policy(recording: Recording, variant: str) -> list[RunWarning]:
    """A warning if the OS scheduled the run by another policy than usual.

    It is quiet if `variant` has one task that never waits: its cost does not depend on the policy.
    """
    unusual = [each for each in inherited.policies(recording) if each != inherited.USUAL_POLICY]
    if not unusual:
        return []
    hands_over = proof.claim_of(recording, variant) or declared.other_tasks(recording, variant)
    return [
        RunWarning(
            "scheduled",
            f"this run was scheduled as {unusual[0]}",
            "it inherits this policy from the program that started it, and the policy changes what "
            "a switch costs",
            "start the terminal or JupyterLab without chrt, and measure again",
            quiet=not hands_over,
        )
    ]


def _of_preloaded(recording: Recording) -> list[RunWarning]:
    """A warning if a variable of the environment puts libraries before the C library."""
    by = {k: v for k, v in inherited.preloaded(recording).items() if k.startswith("LD_")}
    if not by:
        return []
    variable, libraries = " and ".join(by), " ".join(by.values())
    return [
        RunWarning(
            "preloaded",
            f"a library was loaded before the C library (by {variable}: {libraries})",
            "its functions may take the place of those that the run times",
            f"unset {variable}, and measure again",
        )
    ]


def _of_clocks(recording: Recording) -> list[RunWarning]:
    """A warning about the first clock that disagrees with the OS kernel's.

    The counter's frequency is measured against the OS kernel's clock, so a figure in ns is wrong
    only if that clock is wrong, or if the figure is of the other clock.
    """
    for clock, speed in inherited.clocks_off(recording).items():
        times = rounded(speed)
        if clock == inherited.COUNTER:
            return [
                RunWarning(
                    "clock-off",
                    f"by the OS kernel's clock, the counter is {times} times as fast as the "
                    "processor states",
                    "the clock of this machine is wrong, or the machine was moved to another "
                    "processor",
                    "measure on another machine, or state core cycles",
                )
            ]
        return [
            RunWarning(
                "clock-off",
                f"the clock {clock} of the C library is {times} times as fast as the OS kernel's",
                "a program such as faketime replaces the clocks that programs read; a figure of "
                "such a clock is wrong",
                "measure without that program",
            )
        ]
    return []
