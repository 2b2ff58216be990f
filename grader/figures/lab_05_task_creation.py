"""Lab 05: what it costs to create a task."""

from __future__ import annotations

from grader.figures.spec import FigureSpec, Quantity, by_side
from grader.figures.verdict import Level

LAB = "05-task-creation"

FIGURES = (
    FigureSpec(
        id="creation-fork-wait",
        asked="the cost of a process, from fork until its child has ended and was waited for",
        kernel="task_creation",
        variants=("fork-wait",),
        unit="us",
        compare_with=("fork",),
        central="creation-without-its-end",
        praise="The end of the child is in your figure, and the OS confirms that the children "
        "were waited for.",
        checks="child-left-behind, children waited for",
        look_next="How many pages does a child fault in before it ends? The recording counts them.",
    ),
    FigureSpec(
        id="creation-thread",
        asked="the cost of a thread, from pthread_create to pthread_join",
        kernel="task_creation",
        variants=("pthread-wait",),
        unit="us",
        compare_with=("pthread",),
        central="not-a-thread",
        praise="The end of the thread is in your figure, and the OS counted no child process.",
        checks="creation-without-its-end, no child counted",
        look_next="Where does the C library take the thread's stack from, the second time?",
    ),
    FigureSpec(
        id="creation-ratio",
        asked="the cost of the process divided by the cost of the thread",
        of=("creation-fork-wait", "creation-thread"),
        quantity=Quantity.RATIO,
        central="ratio-upside-down",
        praise="You divided the cost of the process by the cost of the thread.",
        look_next="Give the parent more memory first. Which of the two does the ratio follow?",
    ),
    FigureSpec(
        id="creation-fork-64mb",
        asked="the cost of the same process when its parent holds 64 MB more memory",
        kernel="task_creation",
        variants=("fork-wait-64mb",),
        unit="us",
        points={Level.PROVENANCE: 0.5, Level.VALIDITY: 1.0, Level.SUFFICIENCY: 0.5},
        # A copy of so large tables waits for memory, which every neighbour on the machine uses.
        widest=0.3,
        central="memory-not-resident",
        praise="The memory was really there when the process forked: the OS says how much the "
        "parent held.",
        checks="memory held",
        look_next="64 MB are 16,384 small pages. What does one of them add to a fork?",
    ),
    FigureSpec(
        id="creation-cause",
        asked="the cause of most of the cost of fork",
        kernel="task_creation",
        variants=("fork-wait", "vfork-wait"),
        quantity=Quantity.CHOICE,
        points={Level.INTERPRETATION: 2.0},
        # Less than half with vfork: the copy. More: the process itself.
        decide=by_side(1, 0, times=0.5, less=1, more=2, undecided=3),
        compared_in="us",
        look_at='`lab.compare(kinds["vfork-wait"], kinds["fork-wait"], times=0.5)`',
        praise="Your two variants support this conclusion.",
        look_next="A vforked child borrows its parent's memory. What must it never do with it?",
    ),
    FigureSpec(
        id="creation-own",
        asked="the cost of a task in the same memory, by clone in your own C",
        kernel="own_creation",
        variants=("own",),
        unit="us",
        own=True,
        compare_with=("fork",),
        central="not-a-thread",
        praise={
            "The OS confirms it: the task that you created raised the number, its parent saw "
            "that in the same memory, and the parent did not sleep meanwhile.": (
                "raised by task, number-not-by-the-task, parent awake, vfork-for-thread"
            ),
            "The OS confirms that your tasks were waited for.": "children waited for",
        },
        look_next="Remove CLONE_VM and run your C again: what happens to the cost and to the "
        "number?",
    ),
)
