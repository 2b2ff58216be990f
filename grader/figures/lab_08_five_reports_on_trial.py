"""Lab 08: five published reports on trial, each by one mistake made again and repaired."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from grader.figures.spec import (
    Choice,
    Decide,
    Estimates,
    FigureSpec,
    Quantity,
    choices_of,
)
from grader.figures.verdict import Level
from labs.analysis.confidence import Estimate, side
from labs.course import published
from labs.units import off_by

LAB = "08-five-reports-on-trial"


@dataclass(frozen=True)
class _Measurement:
    """A C kernel and the variant that a figure is taken from."""

    kernel: str
    variant: str
    compare_with: tuple[str, ...] = ()
    own: bool = False


@dataclass(frozen=True)
class Trial:
    """What one report is tried by.

    `code` is the pitfall that `broken` shows, `repaired` the measurement that does without it.
    `look_at_broken` and `look_next` ask a question about each of the two runs. `rest` says what
    else made the printed figure what it is, as far as the report shows it.
    """

    report: str
    code: str
    mistake: str
    right: str
    broken: _Measurement
    repaired: _Measurement
    look_at_broken: str
    look_next: str
    rest: str

    @property
    def name(self) -> str:
        """How the ids of its figures begin."""
        return f"trial-{self.report.lower()}"

    def choices(self) -> tuple[Choice, ...]:
        """The quantities to choose from, and what speaks against those got in another way."""
        listed = choices_of(LAB, f"{self.name}-suspect")
        return tuple(replace(each, known=self._against(each.text)) for each in listed)

    def _against(self, quantity: str) -> str:
        """What speaks against the figures of a quantity; '' if this trial's mistake does."""
        figures = published.figures(quantity, report=self.report)
        if any(mark.code == self.code for each in figures for mark in each.suspicions):
            return ""
        # The last figure of a series is the one that it settles on.
        return figures[-1].suspicions[0].reason

    @property
    def printed(self) -> str:
        """The quantity that the report measured with this mistake."""
        return next(each.text for each in self.choices() if not each.known)


TRIALS = (
    Trial(
        report="A",
        code="library-call-not-system-call",
        mistake="a system call that never enters the OS kernel",
        right="the cost of getppid by the trap instruction",
        broken=_Measurement("system_call", "getppid"),
        repaired=_Measurement("system_call", "getppid", compare_with=("invalid",)),
        look_at_broken="Which line of the broken C decides whether the OS kernel is asked?",
        look_next="Newer C libraries do not cache the process id. What would report A print today?",
        rest="The two readings around the report's one call take 26 ticks or more, but the "
        "report prints 7 to 43. How much of this may be an error of the subtraction?",
    ),
    Trial(
        report="B",
        code="vdso-not-system-call",
        mistake="a call that the vDSO answers, taken for a system call",
        right="the cost of gettimeofday by the trap instruction, by your own C",
        broken=_Measurement("system_call", "gettimeofday-trap", compare_with=("invalid",)),
        repaired=_Measurement("own_call", "gettimeofday", compare_with=("invalid",), own=True),
        look_at_broken="How many calls a second is this figure? Could a trap be so fast here?",
        look_next="Count the calls of both runs with strace: which of them does strace see?",
        rest="The report's figure also holds one round of its loop. How much does a round cost "
        "here?",
    ),
    Trial(
        report="C",
        code="wrong-registers",
        mistake="a read whose arguments lie where the OS kernel does not look",
        right="the cost of reading 0 bytes by the trap instruction",
        broken=_Measurement("own_call", "read0"),
        repaired=_Measurement("system_call", "read0", compare_with=("invalid",)),
        look_at_broken="Which register does the broken C load that `syscall` does not read?",
        look_next="Which single line would have told report C that its call fails?",
        rest="3.2 s for 10 million calls are 320 ns a call: the slip of the unit alone is a "
        "factor of 1,000. How much of the rest do the registers explain?",
    ),
    Trial(
        report="D",
        code="lock-convoy",
        mistake="an exchange by a bare mutex, called a switch",
        right="the cost of a switch by mutex and condition variable, on one CPU",
        broken=_Measurement("thread_switch", "condvar"),
        repaired=_Measurement("thread_switch", "condvar"),
        look_at_broken="For 1,000 switches that the broken run claims, how many did the OS count?",
        look_next="Release the mutex for longer between two exchanges: do the switches come back?",
        rest="Around each exchange the report reads a clock that is a system call, and its mean "
        "includes time slices of the other thread. Which count would have shown this?",
    ),
    Trial(
        report="E",
        code="timer-not-subtracted",
        mistake="a reading of the clock on either side of each call, with nothing subtracted",
        right="the cost of a procedure call without arguments",
        broken=_Measurement("procedure_call", "args0"),
        repaired=_Measurement("procedure_call", "args0"),
        look_at_broken="How many times does the broken C read the clock for 512 calls?",
        look_next="How much of the report's 180 ns for getpid is the clock?",
        rest="The report's mean includes a cold sample of 366 ns, and its median is 90 ns. Is "
        "this median its clock?",
    ),
)


# What of a printed figure a mistake explains: its size, only its direction, or nothing.
#
# Three numbers decide: the printed figure, the run with the mistake, and the repaired run.
#
# - Size: the mistake moves the repaired figure towards the printed one, and by a larger factor than
#   it leaves. The factor that it leaves is at most that by which the timer overhead of report A's
#   machines differs (`published.spread_of_machines`): another machine may cause it.
# - Direction: the mistake moves it to the right side, but leaves more.
# - Nothing: the mistake moves it to the other side.
#
# If the broken and the repaired run are not distinguishable, or if the interval of the broken one
# holds an end of the range for the size, the runs do not decide.

#: The conclusions, by number.
SIZE, DIRECTION, NOTHING, UNDECIDED = range(1, 5)


def by_printed(quantity: str, report: str) -> Decide:
    """The rule for a printed figure, between the broken run and the repaired one."""
    value, factor = published.in_ns(quantity, report), published.spread_of_machines()
    printed = Estimate(value, value, value, "ns", "", 0, 0)

    def decide(estimates: Estimates) -> int:
        broken, repaired = estimates
        moved = side(broken, repaired)
        if moved == 0:
            return UNDECIDED
        if moved != side(printed, repaired):
            return NOTHING
        # That another machine may differ by the factor includes that this one's core was shared.
        as_shown = replace(broken, at_most=False)
        from_below, from_above = (side(as_shown, printed, each) for each in (1 / factor, factor))
        if from_below < 0 or from_above > 0:
            return DIRECTION
        if from_below == 0 or from_above == 0:
            return UNDECIDED
        left, by_mistake = off_by(value / broken.value), math.inf
        if repaired.value > 0:
            by_mistake = off_by(repaired.value / broken.value)
        return SIZE if left < by_mistake else DIRECTION

    return decide


_BY_HAND = {
    "Repaired: your C makes the call by hand, and no call of the C library runs beside it.": (
        "made by hand, call-not-by-hand, library-call-beside-trap"
    )
}


def _figures(trial: Trial) -> tuple[FigureSpec, ...]:
    name = trial.name
    reproduced = FigureSpec(
        id=f"{name}-reproduced",
        asked=trial.mistake,
        kernel=trial.broken.kernel,
        variants=(trial.broken.variant,),
        unit="ns",
        points={Level.VALIDITY: 0.5, Level.INTERPRETATION: 0.5},
        compare_with=trial.broken.compare_with,
        demonstrates=trial.code,
        praise={
            f"Your run shows the mistake of report {trial.report} on your machine.": (
                "mistake-not-reproduced"
            )
        },
        look_next=trial.look_at_broken,
    )
    repaired = FigureSpec(
        id=f"{name}-repaired",
        asked=trial.right,
        kernel=trial.repaired.kernel,
        variants=(trial.repaired.variant,),
        unit="ns",
        points=dict.fromkeys(Level, 0.5),
        own=trial.repaired.own,
        compare_with=trial.repaired.compare_with,
        central=trial.code,
        praise={
            **(_BY_HAND if trial.repaired.own else {}),
            f"Repaired: your run no longer shows the mistake of report {trial.report}.": trial.code,
        },
        look_next=trial.look_next,
        hides_variants=not trial.repaired.own,
    )
    return (reproduced, repaired, *_conclusions(trial, (reproduced.id, repaired.id)))


def _conclusions(trial: Trial, of: tuple[str, str]) -> tuple[FigureSpec, ...]:
    """What is concluded from the broken run and the repaired one."""
    name = trial.name
    suspect = FigureSpec(
        id=f"{name}-suspect",
        asked=f"which printed figure of report {trial.report} was measured in this way",
        of=of,
        quantity=Quantity.CHOICE,
        points={Level.INTERPRETATION: 0.5},
        choices=trial.choices(),
        look_at=f'`published.table("{trial.report}")` and the C of `trial_{trial.report.lower()}`',
        praise="The mistake of this trial speaks against that figure of the report.",
        look_next="What would the authors have seen if they had looked for this mistake?",
    )
    explains = FigureSpec(
        id=f"{name}-explains",
        asked="how much of that printed figure the mistake explains on your machine",
        of=of,
        quantity=Quantity.CHOICE,
        points={Level.INTERPRETATION: 0.5},
        decide=by_printed(trial.printed, trial.report),
        look_at=f'the printed figure\'s row in `views.beside_report("{trial.report}", '
        f"{name.replace('-', '_')})`: the factor (limits 1/6 and 6), the last column, the caption",
        praise="Your two runs and the printed figure support this conclusion.",
        look_next=trial.rest,
    )
    return suspect, explains


FIGURES = tuple(figure for trial in TRIALS for figure in _figures(trial))
