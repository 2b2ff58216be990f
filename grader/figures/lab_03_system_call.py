"""Lab 03: what a system call costs."""

from __future__ import annotations

from grader.figures.spec import Estimates, FigureSpec, Quantity
from grader.figures.verdict import Level
from labs.analysis.confidence import side

LAB = "03-system-call"

#: A call number that does not exist: into the OS kernel and back, and nothing done there.
FLOOR = "invalid"

#: The conclusions, by number.
MORE_THAN_HALF, LESS_THAN_HALF, CHEAPER, UNDECIDED = range(1, 5)


def _larger_part(estimates: Estimates) -> int:
    """What share of a getppid the way in and out has, unless it costs more than the getppid."""
    getppid, floor = estimates
    if side(floor, getppid) > 0:
        return CHEAPER
    return {1: MORE_THAN_HALF, -1: LESS_THAN_HALF, 0: UNDECIDED}[side(floor, getppid, 0.5)]


FIGURES = (
    FigureSpec(
        id="system-call-getppid",
        asked="the cost of getppid by the trap instruction",
        kernel="system_call",
        variants=("getppid",),
        unit="ns",
        compare_with=(FLOOR,),
        central="library-call-not-system-call",
        praise="The call entered the OS kernel: no answer from a cache costs as much. The loop "
        "is subtracted.",
        checks="calls comparable, loop-counted-along, baseline subtracted",
        look_next="strace counts the calls that this run claims. Does the variant getpid-libc "
        "make as many on your machine?",
    ),
    FigureSpec(
        id="system-call-floor",
        asked="the floor of every trap, by a call number that does not exist",
        kernel="system_call",
        variants=(FLOOR,),
        unit="ns",
        points={Level.PROVENANCE: 0.5, Level.VALIDITY: 0.5, Level.INTERPRETATION: 1.0},
        central="cost-of-many-for-one",
        praise="This is the cost of one call that does nothing, with the loop subtracted.",
        checks="baseline subtracted",
        look_next="A filter of system calls (seccomp) raises this floor. Is one active here?",
    ),
    FigureSpec(
        id="system-call-setuid",
        asked="the cost of setuid to one's own id, when it works",
        kernel="system_call",
        variants=("setuid",),
        unit="ns",
        points={Level.VALIDITY: 1.0, Level.INTERPRETATION: 1.0},
        compare_with=("setuid-refused", FLOOR),
        central="call-without-its-argument",
        praise={
            "Your setuid costs more than a refused one in the same run, as a setuid that "
            "works does.": "costs more than refused"
        },
        look_next="A refused setuid costs less. Which line of the C kernel keeps refused calls "
        "out of this figure?",
    ),
    FigureSpec(
        id="system-call-vdso-ratio",
        asked="the cost of gettimeofday by the trap instruction divided by its cost by the vDSO",
        kernel="system_call",
        variants=("gettimeofday-trap", "gettimeofday-vdso"),
        quantity=Quantity.RATIO,
        compare_with=(FLOOR,),
        central="vdso-not-system-call",
        praise="The call by the trap entered the OS kernel, and the samples of both calls were "
        "interleaved in one run.",
        checks="library-call-not-system-call, calls comparable, interleaved",
        look_next="What must the OS kernel keep up to date in shared memory for the cheap call?",
    ),
    FigureSpec(
        id="system-call-trap-share",
        asked="the larger part of the cost of getppid",
        of=("system-call-getppid", "system-call-floor"),
        quantity=Quantity.CHOICE,
        decide=_larger_part,
        look_at="`lab.compare(floor, getppid, times=0.5)` and `lab.compare(floor, getppid)`",
        praise="Your two figures support this conclusion.",
        look_next="Which part would a faster processor shrink, and which part a smaller OS kernel?",
    ),
    FigureSpec(
        id="system-call-read0",
        asked="the cost of reading 0 bytes, by the system call in your own C",
        kernel="own_call",
        variants=("read0",),
        unit="ns",
        own=True,
        compare_with=(FLOOR,),
        central="wrong-registers",
        praise={
            "The OS kernel got one read of 0 bytes for each operation. Your function returned "
            "0 for a read that failed, so it looks at the result.": (
                "failure noticed, reads seen, other-call-than-asked, failing-call-timed"
            ),
            "The OS kernel got one read of 0 bytes for each operation and refused none; the "
            "loop is subtracted.": (
                "reads seen, other-call-than-asked, failing-call-timed, baseline subtracted"
            ),
            "The loop is subtracted, and the floor is from the same run.": (
                "baseline subtracted, floor in run"
            ),
        },
        look_next="Put the file descriptor into another register: who notices, and when?",
    ),
)
