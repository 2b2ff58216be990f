"""The processes of several plans, carried out one after the other: who takes a turn, and how far it
has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from labs.c_kernels import toolchain
from labs.recording import cut_short
from labs.recording.file import Recording
from labs.run import counting, first_cpus, stack_places
from labs.run.one_process import Place, one_process
from labs.run.output import ProcessRun
from labs.run.plan import Plan
from labs.run.provenance import of_stopping, recording_of
from labs.run.run_clock import Deadline

ProgressCallback = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """How far a run has come: samples taken so far and in total, over all processes."""

    done: int
    total: int


def turns_of(shares: Sequence[Sequence[int]]) -> list[tuple[int, float, int]]:
    """Who takes a turn, in this order: the number of the plan, when it is due at the earliest (as a
    share of the time that the plan is spread over), and its samples."""
    rounds = [
        [(which, n / len(mine), mine[n]) for which, mine in enumerate(shares) if n < len(mine)]
        for n in range(max(map(len, shares), default=0))
    ]
    return [turn for n, row in enumerate(rounds) for turn in (row if n % 2 == 0 else row[::-1])]


class Runs:
    """The processes of several plans, carried out one after the other.

    `seconds` are those that processes have taken. `stopped` says why the run adds no more processes
    to those planned; None if it may not add any.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        binaries: Sequence[toolchain.Binary],
        deadline: Deadline,
        progress: ProgressCallback | None,
    ) -> None:
        self.plans, self.binaries, self.deadline = plans, binaries, deadline
        self.seconds = 0.0
        self.stopped: str | None = None
        self._cut: tuple[str, float, float | None] | None = None
        self._printed: list[list[ProcessRun]] = [[] for _ in plans]
        self._counted: dict[int, dict[str, str]] = {}
        self._start = stack_places.random_start()
        self._first_cpu = first_cpus.random_start()
        self._progress = progress
        self._done = self._total = 0

    @property
    def rounds(self) -> int:
        """How many processes the plan has that has most."""
        return max(map(len, self._printed), default=0)

    def keep_what_is_whole(self, by: str, after_s: float, cpu_share: float | None = None) -> bool:
        """Call the run cut short, for a reason of labs.recording.cut_short.

        Does nothing and returns False if a plan has no process that is whole. The process that was
        ended is no evidence: it may have been the slowest one.
        """
        if not all(self._printed):
            return False
        self._cut = self._cut or (by, after_s, cpu_share)
        return True

    def expect(self, turns: Sequence[tuple[int, int]]) -> None:
        """Count these processes into the total: each a number of a plan, and its samples."""
        self._total += sum(_sample_count(self.plans[which], share) for which, share in turns)

    async def one(self, which: int, share: int) -> None:
        """Carry out one process of the plan `which`, with so many samples of each variant."""
        plan, printed = self.plans[which], self._printed[which]
        mine = _sample_count(plan, share)
        report_progress = _reporter(self._progress, self._done, mine, self._total)
        place = stack_places.place_of(len(printed), self._start)
        cpu = first_cpus.cpu_of(plan, len(printed), self._first_cpu)
        clock = self.deadline.clock
        begin = clock.now()
        output = one_process(
            self.binaries[which], plan, share, Place(place, cpu), self.deadline, report_progress
        )
        printed.append(await output)
        self.seconds += clock.now() - begin
        self._done += mine
        if self._progress is not None:
            self._progress(Progress(self._done, self._total))

    def so_far(self) -> tuple[Recording, ...]:
        """The recordings of what has been carried out until now; nothing is remembered of them."""
        return self._recordings({})

    async def count(self) -> None:
        """Count events for the plans that ask for it; the recordings state them."""
        for which, plan in enumerate(self.plans):
            if plan.perf:
                self._counted[which] = await counting.counted(plan, self.deadline.clock)

    def recordings(self, meanwhile: Mapping[str, str]) -> tuple[Recording, ...]:
        """The recordings of the whole run, with the conditions `meanwhile`."""
        return self._recordings(meanwhile)

    def _recordings(self, meanwhile: Mapping[str, str]) -> tuple[Recording, ...]:
        recordings = []
        for which, (plan, binary, printed) in enumerate(
            zip(self.plans, self.binaries, self._printed, strict=True)
        ):
            others = [each.command_line() for each in self.plans if each is not plan]
            other_plans = {"in_turns_with": "; ".join(others)} if others else {}
            stopping = of_stopping(plan, self.stopped) if self.stopped is not None else {}
            if self._cut is not None:
                by, after_s, cpu_share = self._cut
                stopping |= cut_short.conditions(after_s, len(plan.shares()), by, cpu_share)
            uncounted = counting.CANCELLED if plan.perf and self._cut is not None else {}
            counted = self._counted.get(which, uncounted)
            known = {**other_plans, **meanwhile, **stopping, **counted}
            recordings.append(recording_of(plan, binary, printed, known))
        return tuple(recordings)


def _sample_count(plan: Plan, share: int) -> int:
    """How many samples a process takes, if it takes `share` steady samples of each variant."""
    return (share + plan.warmup) * max(len(plan.variants), 1)


def _reporter(
    progress: ProgressCallback | None, before: int, mine: int, total: int
) -> Callable[[int, int], None]:
    """A callback for the progress of a process; `mine` of the `total` samples are its own.

    The process also counts the samples of baselines, which are not part of the total. Therefore the
    callback uses only the share of its samples that the process has taken.
    """

    def report_progress(done: int, of: int) -> None:
        if progress is not None:
            progress(Progress(before + mine * min(done, of) // max(of, 1), total))

    return report_progress
