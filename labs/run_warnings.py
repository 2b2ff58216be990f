"""What the kit says of a run by itself, before anybody grades: symptom, likely cause, what to try.

Detecting is apart from wording: `of_line` and `of_recording` find, :class:`RunWarning` tells. The
advice depends on the options the run used already.
"""

from __future__ import annotations

from dataclasses import dataclass

from labs import declared, places, proof
from labs.analysis import core_clock
from labs.analysis.estimate import Estimate
from labs.analysis.line import Line
from labs.recording import Recording
from labs.units import rounded, times

#: A run is said to be disturbed from these shares on.
STEAL_SHARE = 0.02
WIDE_INTERVAL = 0.05
FEWEST_PER_BATCH = 30
SPEED_CHANGE = 0.02
SLOW_STRETCHES = 0.02


@dataclass(frozen=True)
class RunWarning:
    """Something in a run that makes its figure worth less."""

    code: str
    symptom: str
    likely_cause: str
    try_this: str

    def __str__(self) -> str:
        return f"{self.symptom}; {self.likely_cause}. Try: {self.try_this}."


def of_run(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Every warning that this run deserves, the gravest first.

    `figure` is what was taken from `line`; None: its intercept or slope itself.
    """
    return (*of_line(recording, line, figure), *of_recording(recording, line.variant))


def of_line(
    recording: Recording, line: Line, figure: Estimate | None = None
) -> tuple[RunWarning, ...]:
    """Warnings that need the line: fit, width of the figure's interval, impossible values."""
    if figure is None:
        figure = line.overhead if declared.is_overhead(recording, line.variant) else line.cost
    found = []
    if not line.straight:
        worst, share = line.worst()
        cause = (
            "the clock is read before the work between the readings is done, or the work does not "
            "grow with k",
            "a look at the disassembly of the measured region",
        )
        if declared.is_unfenced(recording, line.variant):
            cause = (cause[0], "a fenced variant")
        elif _was_shared(recording):
            cause = (
                "where others have the CPU meanwhile, long intervals are met more often than short "
                "ones, and so many were that they cannot be told apart",
                "the run again when the machine is quieter, or with smaller batch sizes (--batch)",
            )
        found.append(
            RunWarning(
                "not-on-a-line",
                f"at k = {line.batch[worst]:.0f} the mean lies "
                f"{rounded(100 * abs(share), 2)} % off the "
                "line T(k) = overhead + k * cost, so that there is no figure",
                *cause,
            )
        )
        return tuple(found)
    if line.cost.high < 0 or figure.high < 0:
        found.append(
            RunWarning(
                "negative",
                "the line gives less than nothing",
                "something was subtracted that was not there, or the machine changed its speed "
                "during the run",
                "the run again, with more processes",
            )
        )
    cycle = core_clock.shortest_cycle(recording, line.clock)
    if cycle and line.cost.high < 0.9 * cycle and not declared.is_unfenced(recording, line.variant):
        found.append(
            RunWarning(
                "below-one-cycle",
                f"one operation takes {rounded(line.cost.value / cycle, 2)} core cycles",
                "operations overlap, or the compiler removed some of them",
                "a look at the disassembly of the measured region",
            )
        )
    width = figure.half_width / abs(figure.value) if figure.value else 1.0
    if width > WIDE_INTERVAL:
        samples = figure.n
        found.append(
            RunWarning(
                "wide-interval",
                f"the interval is {rounded(100 * width, 2)} % of the value on either side",
                "the processes of this run differ, or its samples are too few for this clock's "
                f"step of {line.clock.step} tick{'s' if line.clock.step != 1 else ''}",
                "the run again when the machine is quiet"
                if samples >= 50_000
                else f"--samples {min(max(samples, 1000) * 4, 100_000)}",
            )
        )
    return tuple(found)


def _of_switches(recording: Recording, variant: str) -> list[RunWarning]:
    """Switches that `variant` claims and that did not happen, or happened and are not claimed."""
    seen = proof.of_variant(recording, variant)
    if seen is None or seen.accounted_for:
        return []
    claimed, counted = seen.claimed, seen.counted
    if places.why_unbound(recording) and counted > claimed / 2:
        return []  # with a CPU each, tasks meet at a lock, and sleep more often or less
    claiming = [name for name in recording.variants if proof.claim_of(recording, name)]
    of = f" for {variant}" if len(claiming) > 1 and proof.has_own_count(recording, variant) else ""
    few = counted < claimed
    return [
        RunWarning(
            "switches-unaccounted",
            f"{claimed:,} switches are claimed{of}, and the OS counted {counted:,}",
            "the other task did not have to run: a lock without hand-over, or a CPU of its own"
            if few
            else "each exchange takes more switches than it seems: a task is woken, blocks on a "
            "lock that is still held, and is switched again",
            "both tasks on one CPU, with a turn that is really handed over"
            if few
            else "signalling after the lock is given back",
        )
    ]


def _of_placement(recording: Recording, variant: str) -> list[RunWarning]:
    """That `variant` was not where it was pinned, or moved.

    Where the CPUs of its own intervals are told, they decide: another variant of the run may stand
    elsewhere or be free to move, and where the run went is then not where this one was.
    """
    asked = [cpu for cpu in recording.condition("cpu.asked") if cpu != "none"]
    if own := places.of_variant(recording, variant):
        # A pair that the C kernel puts on each CPU in turn, together, did not move by chance.
        mine = [each.mine for each in own if len(each.mine) == 1 or not each.bound_together]
        most = max(mine, key=len, default=frozenset[int]())
        away = frozenset(cpu for cpus in mine for cpu in cpus if str(cpu) not in asked)
        astray = f"{variant} was seen on CPU {places.in_words(away)}" if away else ""
        moved = f"{variant} was seen on CPU {places.in_words(most)}" if len(most) > 1 else ""
    else:
        elsewhere = set(recording.condition("cpu.after")) - set(asked)
        astray = "it ended on another" if elsewhere else ""
        moves = recording.total("task.main.migrations") or 0
        of_all = ", all its variants together" if len(recording.variants) > 1 else ""
        moved = f"moved between CPUs {times(moves)} during the run{of_all}" if moves > 0 else ""
    if asked and astray:
        return [
            RunWarning(
                "affinity-not-obtained",
                f"pinned to CPU {asked[0]}, and {astray}",
                "something outside moved it",
                "another CPU of this machine (`labs doctor` names them)",
            )
        ]
    if moved:
        cannot = _cannot_bind(recording)
        return [
            RunWarning(
                "migrations",
                moved,
                cannot or "it was not pinned",
                "more processes, each of which starts anew (--processes 20)"
                if cannot
                else "--cpu with one of the CPUs that `labs doctor` names",
            )
        ]
    return []


def _cannot_bind(recording: Recording) -> str:
    """That its machine cannot pin, and why; '' where it can, or need not."""
    why = places.why_unbound(recording)
    return f"no task can be bound to a CPU here ({why})" if why else ""


def _of_unbound(recording: Recording, variant: str) -> list[RunWarning]:
    """What is to be said of the switches of `variant` on a machine that cannot pin."""
    if not proof.claim_of(recording, variant) or not _cannot_bind(recording):
        return []
    return [
        RunWarning(
            "not-bound",
            "its tasks were wherever the OS put them: each hand-over was a switch on one CPU, or "
            "the wake-up of another CPU",
            _cannot_bind(recording),
            "the same on a machine that can pin; of this one, say so in the report",
        )
    ]


def of_recording(recording: Recording, variant: str) -> tuple[RunWarning, ...]:
    """Warnings that the conditions alone give: placement, disturbance, number of samples.

    Switches and CPUs are those of `variant`, where they were counted for it alone.
    """
    found = _of_unbound(recording, variant) or _of_placement(recording, variant)
    lengths = sorted(core_clock.lengths(recording))
    if lengths and lengths[-1] > (1 + SPEED_CHANGE) * lengths[0]:
        low, high = (
            rounded((recording.number("counter.frequency_hz") or 0) / length / 1e9)
            for length in (lengths[-1], lengths[0])
        )
        found.append(
            RunWarning(
                "clock-speed",
                f"the core's clock changed during the run, from {low} to {high} GHz",
                "turbo or power saving; the interval spans what that does to a time",
                "the unit core cycles (--unit cycles), which does not depend on it",
            )
        )
    found += _of_switches(recording, variant)
    if len(recording.processes) == 1:
        found.append(
            RunWarning(
                "one-process",
                "all samples come from one process",
                "layout in memory differs between processes, and one process cannot show it",
                "--processes 10",
            )
        )
    cells = max(len(set(recording.batch.tolist())) * len(recording.variants), 1)
    steady = int((recording.sample >= 0).sum())
    if steady / cells < FEWEST_PER_BATCH:
        found.append(
            RunWarning(
                "few-samples",
                f"{steady} samples over {cells} batch sizes",
                "an interval from so few is itself uncertain",
                f"--samples {FEWEST_PER_BATCH * cells * 10}",
            )
        )
    steal = _stolen(recording)
    if steal:
        found.append(
            RunWarning(
                "steal",
                f"the hypervisor took {rounded(100 * steal, 2)} % of the CPU time during the run",
                "other virtual machines share this computer",
                "the run again later; more processes spread it over time",
            )
        )
    busy = _busy(recording)
    if busy:
        found.append(
            RunWarning(
                "busy-machine",
                f"{rounded(busy, 2)} of {recording.number('cpus.online'):.0f} CPUs were busy "
                "during the run",
                "other programs were running",
                "closing them, and the run again",
            )
        )
    return tuple(found)


def _busy(recording: Recording) -> float:
    """How many CPUs were busy, where that was nearly all of them; else 0."""
    busy, online = recording.number("cpus.busy"), recording.number("cpus.online")
    return busy if busy and online and busy > max(1.5, 0.9 * online) else 0.0


def _stolen(recording: Recording) -> float:
    """The share of the CPU time that a hypervisor took, where it took much; else 0."""
    steal = recording.number("steal.share") or 0.0
    return steal if steal > STEAL_SHARE else 0.0


def _was_shared(recording: Recording) -> bool:
    return bool(_busy(recording) or _stolen(recording))
