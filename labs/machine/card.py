"""The machine card: a table of facts about the machine, and what the machine cannot show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labs.html import filled, in_columns
from labs.units import plural


@dataclass(frozen=True)
class Facts:
    """One machine as this process sees it. None: a fact that cannot be read or does not exist."""

    architecture: str  # as uname gives it: x86_64, aarch64, riscv64, arm64
    system: str  # Linux, Darwin
    os_kernel: str  # its release
    cpu: str | None = None
    cpus_online: int | None = None
    cpus_allowed: tuple[int, ...] | None = None  # numbers of the CPUs this process may use
    pinning: bool | None = None  # whether a task can be bound to one of them
    memory: int | None = None  # bytes
    virtual: bool | None = None
    hypervisor: str | None = None  # its name, if it gives one
    container: str | None = None
    wsl: int | None = None  # 1 or 2
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    clock_source: str | None = None
    seccomp: str | None = None  # off, strict, filter
    load: float | None = None  # tasks that ran or waited for a CPU, mean of the last minute
    steal: float | None = None  # share of all CPU time since boot, 0 to 1
    cpu_quota: float | None = None  # the CPU time this process may use, in CPUs
    memory_limit: int | None = None  # bytes that this process and those beside it may use
    task_limit: int | None = None  # processes and threads that there may be
    counter_step_ns: float | None = None  # not read from the OS; the code that measures it sets it

    @property
    def two_cpus(self) -> bool:
        """Whether two tasks can each be bound to a CPU of their own."""
        return self.pinning is not False and len(self.cpus_allowed or ()) > 1


UNREADABLE = "cannot be read here"
_CARD = Path(__file__).with_name("card.html.jinja")

COARSE_STEP_NS = 5.0  # with a longer step, the cheapest calls take less than one step


def rows(machine: Facts) -> list[tuple[str, str]]:
    """Facts and their values as text. A fact that this system does not have is left out."""
    allowed = machine.cpus_allowed
    online = machine.cpus_online or "?"
    cpus = f"{online} online"
    if allowed is not None:
        cpus = f"{online} online; this process may use {cpu_ranges(allowed)}"
    table = [
        ("CPU", f"{machine.cpu or UNREADABLE} ({machine.architecture})"),
        ("CPUs", cpus),
        ("OS kernel", f"{machine.system} {machine.os_kernel}"),
        ("Virtual machine", virtualization_as_text(machine)),
        ("Governor", machine.governor or UNREADABLE),
        ("Turbo", _on_off(machine.turbo)),
        ("SMT", _smt(machine)),
        ("Clock source", machine.clock_source or UNREADABLE),
        ("Seccomp", machine.seccomp or UNREADABLE),
        ("Load", UNREADABLE if machine.load is None else f"{machine.load:.2f} in the last minute"),
        ("Memory", UNREADABLE if machine.memory is None else f"{machine.memory / 2**30:.1f} GiB"),
    ]
    if machine.container:
        table.insert(4, ("Container", machine.container))
    if machine.cpu_quota is not None:
        cpus = plural(machine.cpu_quota, "CPU")
        table.insert(2, ("CPU quota", f"the time of {cpus}"))
    if machine.steal is not None and machine.steal >= 0.001:
        table.append(("Steal", f"{machine.steal:.1%} of CPU time since boot"))
    if machine.counter_step_ns is not None:
        table.append(("Counter step", f"{machine.counter_step_ns:.3g} ns"))
    return table


def cannot_show(machine: Facts) -> tuple[str, ...]:
    """What this machine cannot show: one sentence for each limit, the most serious first."""
    sentences: list[str] = []
    allowed = machine.cpus_allowed
    only_cpu = machine.cpus_online == 1 or (allowed is not None and len(allowed) == 1)
    if not only_cpu and (allowed is None or machine.pinning is False):
        sentences.append(
            "Nothing can be pinned here: the OS chooses the CPU and may change it during a run. "
            "Two tasks may have a CPU each, so it is never certain that a handoff is a switch on "
            "one CPU."
        )
    elif only_cpu:
        sentences.append(
            "This process may use one CPU only: wake-ups across two CPUs cannot be measured, and "
            "every other program on that CPU disturbs your samples."
        )
    if machine.wsl == 1:
        sentences.append(
            "WSL 1 has no Linux kernel: Windows translates each system call, and its cost includes "
            "the translation."
        )
    if machine.virtual:
        sentences.append(
            "This is a virtual machine: most event counters of the CPU are hidden, and the "
            "hypervisor may stop the machine at any moment without a trace."
        )
    if machine.virtual is None and machine.system == "Linux":
        sentences.append("This machine does not show whether it has a hypervisor.")
    if machine.cpu_quota is not None and machine.cpu_quota < len(allowed or (0,)):
        cpus = plural(machine.cpu_quota, "CPU")
        sentences.append(
            f"A quota limits your CPU time to that of {cpus}: the OS pauses long runs."
        )
    unread = [
        name
        for name, fact in (("governor", machine.governor), ("turbo", machine.turbo))
        if fact is None
    ]
    if unread:
        sentences.append(
            f"The {' and '.join(unread)} cannot be read here: only the figures show whether the "
            "core's speed changed during a run."
        )
    if machine.counter_step_ns is not None and machine.counter_step_ns > COARSE_STEP_NS:
        sentences.append(
            f"The counter moves in steps of {machine.counter_step_ns:.3g} ns: a shorter operation "
            "cannot be timed alone, only many of them together."
        )
    if machine.seccomp == "filter":
        sentences.append(
            "A seccomp filter checks each system call: the cost of a call without a filter cannot "
            "be measured here."
        )
    return tuple(sentences)


def as_text(machine: Facts) -> str:
    """The table in plain text, then what the machine cannot show."""
    lines = in_columns(rows(machine))
    limits = cannot_show(machine)
    if limits:
        lines += ["", "What this machine cannot show:"]
        lines += [f"- {limit}" for limit in limits]
    return "\n".join(lines)


def as_html(machine: Facts) -> str:
    """The same as HTML: a table with a caption and row headers, then a list. Text is escaped."""
    return filled(_CARD, rows=rows(machine), limits=cannot_show(machine))


def cpu_ranges(cpus: tuple[int, ...]) -> str:
    """CPU numbers as text for a reader: `CPU 0`, `CPUs 0-3, 8`, `none`."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    words = ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in spans)
    return f"{'CPU' if len(cpus) == 1 else 'CPUs'} {words}" if spans else "none"


def virtualization_as_text(machine: Facts) -> str:
    """Whether this is a virtual machine: yes, no or unknown, and the hypervisor's name."""
    if machine.wsl:
        return f"WSL {machine.wsl}"
    if machine.virtual:
        return f"yes ({machine.hypervisor})" if machine.hypervisor else "yes"
    return "no sign of one" if machine.virtual is False else UNREADABLE


def _smt(machine: Facts) -> str:
    """Whether a core has two hardware threads; a hypervisor may hide the second one."""
    if machine.virtual and machine.smt is False:
        return "off, as far as the virtual machine shows"
    return _on_off(machine.smt)


def _on_off(fact: bool | None) -> str:
    return UNREADABLE if fact is None else ("on" if fact else "off")
