"""Lab 05: what it costs to create a task."""

from __future__ import annotations

from grader.cases.spec import CHOICE, TIMES, FigureSpec, Quantity, relation
from grader.cases.verdict import Level
from grader.figures.choices import by_side, choices_of

LAB = "05-task-creation"

FIGURES = (
    FigureSpec(
        id="creation-fork-wait",
        lab=LAB,
        asked="what a process costs: fork, until its child has ended and was waited for",
        kernel="task_creation",
        variants=("fork-wait",),
        quantity=Quantity.COST,
        unit="us",
        compare_with=("fork",),
        central="creation-without-its-end",
        praise="The whole life of a child stands in your sample: nothing of it is left to be "
        "paid for in the next one.",
        look_next="How many pages does a child fault in before it ends? The recording counts them.",
    ),
    FigureSpec(
        id="creation-thread",
        lab=LAB,
        asked="what a thread costs: pthread_create to pthread_join",
        kernel="task_creation",
        variants=("pthread-wait",),
        quantity=Quantity.COST,
        unit="us",
        compare_with=("pthread",),
        central="not-a-thread",
        praise="The thread was made, ran and was joined, and the OS counted no child process.",
        look_next="Where does the C library take the thread's stack from, the second time?",
    ),
    relation(
        "creation-ratio",
        LAB,
        "how many times dearer the process is than the thread",
        ("creation-fork-wait", "creation-thread"),
        Quantity.RATIO,
        TIMES,
        central="ratio-upside-down",
        praise="Both lives were measured from create to wait: like is compared with like.",
        look_next="Give the parent more memory first. Which of the two does the ratio follow?",
    ),
    FigureSpec(
        id="creation-fork-64mb",
        lab=LAB,
        asked="what the same process costs where its parent holds 64 MB more of memory",
        kernel="task_creation",
        variants=("fork-wait-64mb",),
        quantity=Quantity.COST,
        unit="us",
        points={Level.PROVENANCE: 0.5, Level.VALIDITY: 1.0, Level.SUFFICIENCY: 0.5},
        # A copy of so large tables waits for memory, which every neighbour on the machine uses.
        widest=0.3,
        central="memory-not-resident",
        praise="The memory was really there when the process forked, which the recording proves.",
        look_next="64 MB are 16,384 small pages. What does one of them add to a fork?",
    ),
    FigureSpec(
        id="creation-cause",
        lab=LAB,
        asked="what most of the price of fork is paid for",
        kernel="task_creation",
        variants=("fork-wait", "vfork-wait"),
        quantity=Quantity.CHOICE,
        unit=CHOICE,
        points={Level.INTERPRETATION: 2.0},
        choices=choices_of(LAB, "creation-cause"),
        # Less than half with vfork: the copy. More: the process itself.
        decide=by_side(1, 0, times=0.5, less=1, more=2, undecided=3),
        look_at='`lab.compare(kinds["vfork-wait"], kinds["fork-wait"], times=0.5)`',
        central="conclusion-against-table",
        praise="A variant that lacks just one step tells what that step costs.",
        look_next="A vforked child borrows its parent's memory. What must it never do with it?",
    ),
    FigureSpec(
        id="creation-own",
        lab=LAB,
        asked="what a task in the same memory costs, by clone in your own C",
        kernel="own_creation",
        variants=("own",),
        quantity=Quantity.COST,
        unit="us",
        own=True,
        compare_with=("fork",),
        central="not-a-thread",
        praise="Each of your tasks was waited for, and ended without an error.",
        look_next="Take CLONE_VM away and run it again: the price and the number both tell.",
    ),
)
