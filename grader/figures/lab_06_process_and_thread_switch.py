"""Lab 06: what a switch costs, between processes and between threads."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity, by_side
from grader.figures.verdict import Level

LAB = "06-process-and-thread-switch"

PROCESS, THREAD = "process-switch-pipe-pinned", "thread-switch-pipe"
OTHER_MECHANISM = "thread-switch-condvar"

_THREE = {
    Level.PROVENANCE: 0.5,
    Level.VALIDITY: 1.0,
    Level.SUFFICIENCY: 0.5,
    Level.INTERPRETATION: 1.0,
}

FIGURES = (
    FigureSpec(
        id=PROCESS,
        asked="one switch between two processes on one CPU, by pipe",
        kernel="process_switch",
        variants=("pipe-pinned",),
        unit="ns",
        central="two-cpus-not-one",
        praise="Both processes were on one CPU, the OS counted the switches, and write and read "
        "are subtracted.",
        checks="on one cpu, switches counted, read-and-write-counted-along, baseline subtracted",
        look_next="Measure pipe-two-cpus as well. Which of the two costs did report B print?",
    ),
    FigureSpec(
        id=OTHER_MECHANISM,
        asked="one switch between two threads on one CPU, by mutex and condition variable",
        kernel="thread_switch",
        variants=("condvar",),
        unit="ns",
        points=_THREE,
        central="lock-convoy",
        praise="The OS counted the switches that you claim, with both threads on one CPU.",
        checks="switches counted, on one cpu",
        look_next="Signal under the mutex (condvar-inside): how many switches does a round trip "
        "take then?",
    ),
    FigureSpec(
        id=THREAD,
        asked="one switch between two threads on one CPU, by the same mechanism: a pipe",
        kernel="thread_switch",
        variants=("pipe",),
        unit="ns",
        points=_THREE,
        central="two-results-for-one",
        praise="The figure comes from the pipe and from nothing else in the run, and the OS "
        "counted the switches that you claim.",
        checks="switches counted",
        look_next="Compare `process.parts` with `pipe.parts`. Which differs more: the round trip, "
        "or the calls that are subtracted?",
    ),
    FigureSpec(
        id="switch-ratio-same-mechanism",
        asked="the cost of a process switch divided by that of a thread switch, both by pipe",
        of=(PROCESS, THREAD),
        quantity=Quantity.RATIO,
        points={Level.INTERPRETATION: 1.0},
        compare_with=(OTHER_MECHANISM,),
        why_exact="A few percent decide which switch costs more.",
        central="mechanisms-differ",
        praise="You divided two figures of the same mechanism.",
        look_next="Divide by the condition variable's figure instead: would you have believed "
        "that ratio?",
    ),
    FigureSpec(
        id="switch-which-is-dearer",
        asked="which switch costs more, by the same mechanism",
        of=(PROCESS, THREAD),
        quantity=Quantity.CHOICE,
        points={Level.INTERPRETATION: 1.0},
        decide=by_side(0, 1, more=1, less=2, undecided=3),
        which_is_larger=True,
        look_at='`lab.compare(process, threads["pipe"])`',
        praise="You concluded what the interval of the difference supports, and no more.",
        look_next="How many samples would it take to halve the interval of the difference?",
    ),
    FigureSpec(
        id="switch-convoy-count",
        asked="switches that the OS counted for one exchange by a bare mutex",
        kernel="thread_switch",
        variants=("bare-mutex",),
        quantity=Quantity.SWITCHES,
        points={Level.PROVENANCE: 0.5, Level.VALIDITY: 0.5, Level.INTERPRETATION: 1.0},
        why_exact="The OS counted the switches, and a count is exact.",
        praise="You give what the OS counted, and not what the program claims.",
        look_next="What did report D really time, 10,000 times?",
    ),
    FigureSpec(
        id="switch-own-hand-over",
        asked="one switch between two threads by your own handoff",
        kernel="own_switch",
        variants=("own",),
        unit="ns",
        own=True,
        central="lock-convoy",
        praise={
            "The OS counted the switches that you claim, and the waiting thread sleeps: when "
            "it got the turn without a wake, it did not go on.": (
                "switches counted, sleeps until woken, not-woken"
            ),
            "The cost of the same calls in one thread alone was subtracted.": "baseline subtracted",
        },
        look_next="In `wake`, lock the mutex, signal, and then unlock it: how many switches does "
        "the OS count now?",
    ),
)
