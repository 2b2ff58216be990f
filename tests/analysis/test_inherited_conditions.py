"""What a run inherited is in its line of conditions, warns where it matters, and is compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from labs.machine import surroundings
from labs.recording.file import Recording
from labs.results import remarks
from labs.results.remarks import conditions_apart
from labs.results.result import result_of
from labs.results.results_compared import compared, compared_at_one_clock
from support.submitted_figures import Clocked, recording

USUAL = {
    "scheduling.policy": "SCHED_OTHER",
    "scheduling.nice": "0",
    "seccomp": "off",
    "machine.virtual": "False",
    "machine.governor": "performance",
}


def run(
    other: Mapping[str, str] | None = None, *, cost: float = 300.0, switches: bool = False
) -> Recording:
    """A run with usual conditions but for those in `other`."""
    stated = {**USUAL, **(other or {})}
    if switches:
        stated |= {"variant.getppid.switches": "2", "variant.getppid.other_tasks": "1"}
    return recording({"getppid": Clocked(60.0, cost)}, kernel="system_call", extra=stated)


def said(run: Recording) -> remarks.Remarks:
    return remarks.of_results([result_of(run)])


def test_what_is_usual_is_not_mentioned() -> None:
    usual, older = run(), recording({"getppid": Clocked(60.0, 300.0)}, kernel="system_call")
    assert said(usual) == said(older)
    assert not said(usual).warnings


def test_what_is_unusual_is_a_condition() -> None:
    for key, value, words in (
        ("scheduling.policy", "SCHED_IDLE", "scheduled as SCHED_IDLE"),
        ("scheduling.nice", "-5", "nice value -5"),
        ("preloaded.ld_preload", "a.so b.so", "a.so b.so loaded before the C library (by LD_PR"),
        ("preloaded.ld_so_preload", "a.so", "loaded before the C library (by /etc/ld.so.preload)"),
        ("seccomp", "filter", "a filter of system calls (seccomp) is set"),
        ("cpu.quota", "0.5", "a quota limits the CPU time to that of 0.5 CPUs"),
        ("cpu.throttled_s", "2.31", "the OS stopped programs for 2.3 s by this quota"),
    ):
        assert words in said(run({key: value})).conditions
        assert words not in said(run()).conditions


#: The facts of a machine whose words are asked for here; of a tracer, in test_tracer.py.
READ = {
    "cpu.quota",
    "machine.clock_source",
    "machine.container",
    "machine.cpu",
    "machine.governor",
    "machine.virtual",
    "seccomp",
    "tracer",
}


def test_every_fact_that_is_stated_here_is_asked_for() -> None:
    assert surroundings.machine_conditions().keys() <= READ, "ask for its words, and add it to READ"


def test_what_the_os_shows_is_a_condition(tmp_path: Path) -> None:
    for number, (files, words) in enumerate(
        (
            ({}, ""),
            ({"proc/self/status": "Seccomp:\t2\n"}, "a filter of system calls (seccomp) is set"),
            ({"proc/self/status": "Seccomp:\t0\n"}, ""),
            (
                {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"},
                "a quota limits the CPU time to that of 1.5 CPUs",
            ),
            ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, ""),
        )
    ):
        root = tmp_path / str(number)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        read = surroundings.machine_conditions(root / "proc", root / "sys", root)
        new = said(run(read)).conditions.replace(said(run()).conditions.rstrip("."), "")
        assert (words in new) if words else new == ".", (files, new)


def test_a_warning_says_what_to_do() -> None:
    for conditions, switches, warned in (
        ({"scheduling.policy": "SCHED_IDLE"}, True, "this run was scheduled as SCHED_IDLE"),
        ({"scheduling.policy": "SCHED_FIFO"}, True, "this run was scheduled as SCHED_FIFO"),
        ({"scheduling.policy": "SCHED_IDLE"}, False, ""),  # a call waits for nobody
        ({"scheduling.nice": "10"}, True, ""),
        ({"preloaded.ld_preload": "a.so"}, False, "(by LD_PRELOAD: a.so)"),
        ({"preloaded.ld_audit": "a.so"}, False, "(by LD_AUDIT: a.so)"),
        ({"preloaded.ld_so_preload": "a.so"}, False, ""),  # of the administrator
        ({"seccomp": "filter", "cpu.quota": "1"}, False, ""),
        (
            {"clocks.off": "CLOCK_REALTIME 2.001"},
            False,
            "CLOCK_REALTIME of the C library is 2 times as",
        ),
        ({"clocks.off": "counter 0.500, CLOCK_REALTIME 1.5"}, False, "the counter is 0.5 times"),
        ({"clocks.off": "nonsense"}, False, ""),
    ):
        usual = said(run(switches=switches)).warnings
        shown = said(run(conditions, switches=switches)).warnings
        new = [each for each in shown if each not in usual]
        assert len(new) == bool(warned)
        assert all(warned in each and "Try: " in each for each in new)


def test_a_comparison_says_which_condition_differs() -> None:
    for key, value, sentence in (
        ("scheduling.policy", "SCHED_IDLE", "scheduling policy was SCHED_OTHER {} SCHED_IDLE"),
        ("scheduling.nice", "7", "nice value was 0 {} 7"),
        ("preloaded.ld_preload", "a.so", "library loaded before the C library was none {} a.so"),
        ("cpu.quota", "1", "CPU quota was none {} 1"),
        ("seccomp", "filter", "filter of system calls (seccomp) was off {} filter"),
        ("machine.virtual", "True", "kind of machine was not virtual {} virtual"),
        (
            "machine.governor",
            "powersave",
            "governor of the clock speed was performance {} powersave",
        ),
    ):
        sentence = f"The {sentence.format('in the first run, and')} in the second."
        first, second = result_of(run()), result_of(run({key: value}, cost=310.0))
        for compare in (compared, compared_at_one_clock):
            assert sentence in compare(first, second).modes
            assert sentence not in compare(first, result_of(run(cost=310.0))).modes
            assert sentence not in compare(second, second).modes


def test_what_one_run_does_not_state_is_not_compared() -> None:
    older = run({"seccomp": "filter"})
    stated = {key: value for key, value in older.conditions.items() if key not in USUAL}
    assert conditions_apart(run(), dataclasses.replace(older, conditions=stated)) == ()


def test_processes_that_differ_are_all_named() -> None:
    one = run()
    each = tuple(
        MappingProxyType({**process, "scheduling.nice": str(number % 2)})
        for number, process in enumerate(one.processes)
    )
    conditions = {k: v for k, v in one.conditions.items() if k != "scheduling.nice"}
    mixed = dataclasses.replace(one, conditions=conditions, processes=each)
    assert conditions_apart(one, mixed) == (
        "The nice value was 0 in the first run, and 0 or 1 in the second.",
    )


def test_the_table_of_conditions_has_them() -> None:
    stated = {
        "preloaded.ld_preload": "a.so",
        "cpu.quota": "2",
        "machine.cpu": "A CPU",
        "machine.container": "Docker",
        "machine.clock_source": "hpet",
    }
    facts = dict(remarks.configuration_of([run(stated)]))
    assert facts["scheduling"] == "SCHED_OTHER, nice value 0"
    assert facts["preloaded libraries"] == "a.so (LD_PRELOAD)"
    assert facts["CPU quota"] == "2"
    assert (facts["CPU"], facts["clock of the OS"]) == ("A CPU", "hpet")
    assert facts["virtual machine"] == "no, in a container (Docker)"
