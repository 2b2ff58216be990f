"""Does each mistake of the catalogue show when the kit's wrong C runs on this machine?

`make test` asks this of saved runs. A machine may hide a mistake: beside another hardware thread
everything takes twice as long, what would be impossibly short too. Such a run is named, and not
counted. A verdict also tells the kit's wrong C by its hash; here that is switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

from bench.report import must_hold, say, show, skipped, verdict
from grader.evidence import sources
from grader.evidence.caveats import caveat_of_width
from grader.evidence.sources import source_of
from grader.figures import figure_named
from grader.figures.case import Case
from grader.figures.verdict import Outcome, Verdict
from grader.judging.check import open_case
from grader.pitfalls import CATALOGUE
from grader.pitfalls.pitfall import Live, Pitfall
from grader.pitfalls.system_and_library_calls import TIMES_FLOOR
from labs.analysis.cpu_core import core_of
from labs.analysis.net_cost import parts_of
from labs.course.figures import Figure
from labs.machine.surroundings import allowed_cpus
from labs.recording.file import Recording
from labs.results.result import result_of
from labs.run import broken, measure
from labs.run.c_process import RunFailed
from support import mistakes

#: A machine may hide a few mistakes in a quiet run. More are a fault of ours.
MOST_HIDDEN = 3
#: Of a run of which so many samples were set aside, the rest is too little for a small mistake.
MOST_SHARED = 0.25
#: A switch that takes so many ns waits until the time slice of another program is over.
LONGEST_SWITCH = 100_000.0
SHOWN, HIDDEN, DISTURBED = "shown", "HIDDEN", "disturbed"


def run(quick: bool, kernels: Sequence[str] = ()) -> bool:
    """Each of the kit's wrong C kernels, or those that repair these C kernels."""
    live = [(pitfall, each) for pitfall in CATALOGUE for each in pitfall.broken]
    must_hold(f"of {len(live)} mistakes, a quiet run hides at most {MOST_HIDDEN}")
    if quick:
        live = live[::8]
    rows = []
    with mock.patch.object(sources, "broken_name", lambda _: None):
        for pitfall, each in live:
            if kernels and broken.find(each.kernel).repaired not in kernels:
                continue
            state, why = _seen(pitfall, each)
            rows.append([pitfall.code, each.kernel, state])
            say(f"   {pitfall.code}, {each.kernel}: {state}{why and f' ({why})'}")
    states = [row[2] for row in rows]
    if not rows or set(states) == {DISTURBED}:
        return skipped("no run was quiet")
    say()
    show(["mistake", "C kernel", ""], [row for row in rows if row[2] != SHOWN])
    figures = ", ".join(f"{states.count(each)} {each}" for each in (SHOWN, HIDDEN, DISTURBED))
    return verdict(states.count(HIDDEN) <= MOST_HIDDEN, figures)


def _seen(pitfall: Pitfall, live: Live) -> tuple[str, str]:
    """Whether the mistake shows, and why it need not."""
    if live.needs == "two CPUs" and len(allowed_cpus() or (0,)) < 2:
        return DISTURBED, "needs two CPUs"
    try:
        recording = measure.measure_now(mistakes.plan_of(broken.find(live.kernel)))
    except RunFailed as error:
        if not error.impossible_here:
            raise
        return DISTURBED, str(error)
    verdicts = mistakes.verdicts_on(live, recording)
    for each in verdicts:
        if pitfall.code in [finding.code for finding in each.findings]:
            return (SHOWN, "") if each.outcome is Outcome.FAILED else (HIDDEN, "no points lost")
    why = _why_hidden(live, recording, verdicts[-1])
    codes = ", ".join(finding.code for finding in verdicts[-1].findings) or "nothing found"
    return (DISTURBED, why) if why else (HIDDEN, codes)


def _why_hidden(live: Live, recording: Recording, seen: Verdict) -> str:
    """Why this run need not show its mistake; '' where it must."""
    why = _shared(recording) or _told_by_its_cost_alone(recording)
    # These a run has here only where it was disturbed.
    for found in seen.findings:
        if found.code in ("too-few-samples", "not-on-a-line"):
            why = why or found.evidence
    # An interval that is not to be believed may hold the mistaken value as well.
    spec = figure_named(live.figure)
    figure = Figure(spec.id, 0.0, spec.unit if spec.is_time else "ns", "recordings/broken.csv")
    opened = open_case(spec, figure, recording, source_of(recording))
    return why or (caveat_of_width(opened) if isinstance(opened, Case) else "")


def _shared(recording: Recording) -> str:
    core = core_of(recording)
    if core is not None and core.always_shared:
        return f"the core was shared: {core.additions:.1f} additions a cycle at most"
    for name in recording.variants:
        line = result_of(recording, name, "ns").line
        if line is not None and line.shared:
            return f"{name}: the core was shared all the time"
        shared = line.share_set_aside("shared") if line is not None else 0.0
        if shared > MOST_SHARED:
            return f"{name}: the core was shared for {shared:.0%} of the samples"
        parts = parts_of(recording, name)
        if parts > 1 and line is not None:
            each = line.cost.value / parts / line.clock.ticks_in("ns")
            if each > LONGEST_SWITCH:
                return f"{name}: a switch takes {each / 1000:.0f} us, so others run in between"
    return ""


def _told_by_its_cost_alone(recording: Recording) -> str:
    """Why a failed call is not known here: '' where it is cheap.

    On some machines the search for a descriptor that is not open costs half of a system call.
    """
    if not {"read0", "invalid"} <= set(recording.variants):
        return ""
    failed, least = (result_of(recording, name, "ns").estimate for name in ("read0", "invalid"))
    if failed is None or least is None or failed.value < TIMES_FLOOR * least.value:
        return ""
    return f"a read that fails costs {failed.value / least.value:.2f} times the least call here"
