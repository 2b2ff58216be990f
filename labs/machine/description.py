"""What this machine is, and under which account we run: facts from the OS, none of them measured.

A fact that cannot be read is None, and reading never raises an error. These sources describe the
files: proc(5), and in the Linux sources Documentation/ABI/testing/sysfs-devices-system-cpu,
Documentation/admin-guide/pm and Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import pwd
import re
import secrets
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from labs import paths
from labs.files import cpu_list, number_in, read_bounded, text_of, words_of, write_atomically
from labs.html import filled, in_columns
from labs.units import plural


@dataclass(frozen=True)
class Machine:
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

    def cannot_show(self) -> tuple[str, ...]:
        """What this machine cannot show: one sentence for each limit, the most serious first."""
        sentences: list[str] = []
        allowed = self.cpus_allowed
        only_cpu = self.cpus_online == 1 or (allowed is not None and len(allowed) == 1)
        if not only_cpu and (allowed is None or self.pinning is False):
            sentences.append(
                "Nothing can be pinned here: the OS chooses the CPU and may change it during a "
                "run. Two tasks may have a CPU each, so it is never certain that a handoff is a "
                "switch on one CPU."
            )
        elif only_cpu:
            sentences.append(
                "This process may use one CPU only: wake-ups across two CPUs cannot be measured, "
                "and every other program on that CPU disturbs your samples."
            )
        if self.wsl == 1:
            sentences.append(
                "WSL 1 has no Linux kernel: Windows translates each system call, and its cost "
                "includes the translation."
            )
        if self.virtual:
            sentences.append(
                "This is a virtual machine: most event counters of the CPU are hidden, and the "
                "hypervisor may stop the machine at any moment without a trace."
            )
        if self.virtual is None and self.system == "Linux":
            sentences.append("This machine does not show whether it has a hypervisor.")
        if self.cpu_quota is not None and self.cpu_quota < len(allowed or (0,)):
            cpus = plural(self.cpu_quota, "CPU")
            sentences.append(
                f"A quota limits your CPU time to that of {cpus}: the OS pauses long runs."
            )
        facts = {"governor": self.governor, "turbo": self.turbo}
        unread = [name for name, fact in facts.items() if fact is None]
        if unread:
            sentences.append(
                f"The {' and '.join(unread)} cannot be read here: only the figures show whether "
                "the core's speed changed during a run."
            )
        if self.counter_step_ns is not None and self.counter_step_ns > COARSE_STEP_NS:
            sentences.append(
                f"The counter moves in steps of {self.counter_step_ns:.3g} ns: a shorter operation "
                "cannot be timed alone, only many of them together."
            )
        if self.seccomp == "filter":
            sentences.append(
                "A seccomp filter checks each system call: the cost of a call without a filter "
                "cannot be measured here."
            )
        return tuple(sentences)

    def card(self) -> str:
        """The facts in plain text, then the limits, for the top of a notebook."""
        lines = in_columns(rows(self))
        limits = self.cannot_show()
        if limits:
            lines += ["", "What this machine cannot show:"]
            lines += [f"- {limit}" for limit in limits]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same, folded under a line: a table with row headers, then a list. Text is escaped."""
        return filled(_CARD, in_short=_in_short(self), rows=rows(self), limits=self.cannot_show())


UNREADABLE = "cannot be read here"
_CARD = Path(__file__).with_name("card.html.jinja")

COARSE_STEP_NS = 5.0  # with a longer step, the cheapest calls take less than one step


def _in_short(machine: Machine) -> str:
    """What tells this machine from others, in a line."""
    cpus = None if machine.cpus_online is None else plural(machine.cpus_online, "CPU")
    virtual = "virtual machine" if machine.virtual else None
    facts = (machine.cpu or machine.architecture, cpus, virtual, machine.container)
    return ", ".join(each for each in facts if each)


def rows(machine: Machine) -> list[tuple[str, str]]:
    """Facts and their values as text. A fact that this system does not have is left out."""
    allowed = machine.cpus_allowed
    cpus = f"{machine.cpus_online or '?'} online"
    if allowed is not None:
        cpus += f"; this process may use {cpu_ranges(allowed)}"
    table = [
        ("CPU", f"{machine.cpu or UNREADABLE} ({machine.architecture})"),
        ("CPUs", cpus),
        ("OS kernel", f"{machine.system} {machine.os_kernel}"),
        ("Virtual machine", virtualization_as_text(machine)),
        ("Governor", machine.governor or UNREADABLE),
        ("Turbo", _on_off(machine.turbo)),
        ("SMT", _smt(machine)),
        ("Clock source", machine.clock_source or UNREADABLE),
        ("System call filter", f"{machine.seccomp} (seccomp)" if machine.seccomp else UNREADABLE),
        ("Load", UNREADABLE if machine.load is None else f"{machine.load:.2f} in the last minute"),
        ("Memory", UNREADABLE if machine.memory is None else f"{machine.memory / 2**30:.1f} GiB"),
    ]
    if machine.container:
        table.insert(4, ("Container", machine.container))
    if machine.cpu_quota is not None:
        table.insert(2, ("CPU quota", f"the time of {plural(machine.cpu_quota, 'CPU')}"))
    if machine.steal is not None and machine.steal >= 0.001:
        table.append(("Steal", f"{machine.steal:.1%} of CPU time since boot"))
    if machine.counter_step_ns is not None:
        table.append(("Counter step", f"{machine.counter_step_ns:.3g} ns"))
    return table


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


def virtualization_as_text(machine: Machine) -> str:
    """Whether this is a virtual machine: yes, no or unknown, and the hypervisor's name."""
    if machine.wsl:
        return f"WSL {machine.wsl}"
    if machine.virtual:
        return f"yes ({machine.hypervisor})" if machine.hypervisor else "yes"
    return "no sign of one" if machine.virtual is False else UNREADABLE


def _smt(machine: Machine) -> str:
    """Whether a core has two hardware threads; a hypervisor may hide the second one."""
    if machine.virtual and machine.smt is False:
        return "off, as far as the virtual machine shows"
    return _on_off(machine.smt)


def _on_off(fact: bool | None) -> str:
    return UNREADABLE if fact is None else ("on" if fact else "off")


# Arm's part numbers, as in arch/arm64/include/asm/cputype.h.
_ARM_PARTS = {
    ("0x41", "0xd03"): "Arm Cortex-A53",
    ("0x41", "0xd05"): "Arm Cortex-A55",
    ("0x41", "0xd07"): "Arm Cortex-A57",
    ("0x41", "0xd08"): "Arm Cortex-A72",
    ("0x41", "0xd0a"): "Arm Cortex-A75",
    ("0x41", "0xd0b"): "Arm Cortex-A76",
    ("0x41", "0xd0c"): "Arm Neoverse N1",
    ("0x41", "0xd40"): "Arm Neoverse V1",
    ("0x41", "0xd49"): "Arm Neoverse N2",
    ("0x41", "0xd4f"): "Arm Neoverse V2",
}
_ARM_IMPLEMENTERS = {
    "0x41": "Arm",
    "0x48": "HiSilicon",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0xc0": "Ampere",
}
_SECCOMP_MODES = {"0": "off", "1": "strict", "2": "filter"}


def read_machine(
    proc: Path = Path("/proc"), sys: Path = Path("/sys"), root: Path = Path("/")
) -> Machine:
    """Read every fact once; never raises.

    `proc`, `sys` and `root` are the folders in which the OS shows them. Tests use others.
    """
    system = platform.system()
    cpuinfo = _pairs(text_of(proc / "cpuinfo") or "")
    release = text_of(proc / "sys/kernel/osrelease") or platform.release()
    virtual, hypervisor = find_hypervisor(cpuinfo, proc, sys)
    if system == "Darwin":
        virtual = {"0": False, "1": True}.get(_sysctl("kern.hv_vmm_present") or "")
    return Machine(
        architecture=platform.machine(),
        system=system,
        os_kernel=release,
        cpu=_cpu(cpuinfo, proc) or _sysctl("machdep.cpu.brand_string"),
        cpus_online=_cpus_online(sys),
        cpus_allowed=_cpus_allowed(proc),
        pinning=can_pin(),
        memory=_memory(proc),
        virtual=virtual,
        hypervisor=hypervisor,
        container=find_container(proc, root),
        wsl=_wsl(release),
        governor=_governor(sys),
        turbo=_turbo(sys),
        smt=_switch(sys / "devices/system/cpu/smt/active"),
        clock_source=text_of(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        seccomp=_SECCOMP_MODES.get(_status(proc, "Seccomp")),
        load=_load(proc),
        steal=_steal(proc),
        cpu_quota=cpu_quota(proc, sys),
        memory_limit=memory_limit(proc, sys),
        task_limit=task_limit(proc, sys),
    )


def _pairs(text: str) -> dict[str, str]:
    """Lines of the form `key : value`. If a key repeats, as for each CPU, the first one counts."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            pairs.setdefault(key.strip(), value.strip())
    return pairs


def _cpu(cpuinfo: dict[str, str], proc: Path) -> str | None:
    name = cpuinfo.get("model name")
    if name:
        return " ".join(name.split())
    implementer, part = cpuinfo.get("CPU implementer"), cpuinfo.get("CPU part")
    if implementer:
        maker = _ARM_IMPLEMENTERS.get(implementer, f"implementer {implementer}")
        chip = _ARM_PARTS.get((implementer, part or ""), f"{maker}, part {part}")
        board = cpuinfo.get("Model") or text_of(proc / "device-tree/model")
        return f"{chip} ({board})" if board else chip
    return cpuinfo.get("uarch") or cpuinfo.get("isa") or text_of(proc / "device-tree/model")


def _sysctl(name: str) -> str | None:
    if platform.system() != "Darwin":
        return None
    try:
        asked = paths.run(["/usr/sbin/sysctl", "-n", name], 2)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None


def _cpus_online(sys: Path) -> int | None:
    online = cpu_list(text_of(sys / "devices/system/cpu/online") or "")
    return len(online) if online else os.cpu_count()


def can_pin() -> bool:
    """Whether a task can be bound to a CPU here: macOS offers no way, and some filters refuse it.

    The function tries it and changes nothing: it binds this thread to the CPUs that it may already
    use.
    """
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return False
    return True


def _cpus_allowed(proc: Path) -> tuple[int, ...] | None:
    if not hasattr(os, "sched_getaffinity"):
        return None  # macOS
    try:
        return tuple(sorted(os.sched_getaffinity(0)))
    except OSError:  # a seccomp filter forbids the call; the OS may still show it in a file
        return cpu_list(_status(proc, "Cpus_allowed_list"))


def _memory(proc: Path) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d+) kB", text_of(proc / "meminfo") or "", re.MULTILINE)
    if found:
        return int(found[1]) * 1024
    size = _sysctl("hw.memsize")
    return int(size) if size and size.isdecimal() else None


def _wsl(release: str) -> int | None:
    if "microsoft" not in release.lower():
        return None
    # Version 1 has no Linux kernel and calls itself "...-Microsoft"; version 2 has a Linux kernel.
    return 1 if release.endswith("-Microsoft") else 2


def _governor(sys: Path) -> str | None:
    try:
        files = sorted((sys / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    except OSError:
        return None
    names = sorted({name for file in files if (name := text_of(file))})
    return ", ".join(names) or None


def _switch(file: Path) -> bool | None:
    return {"0": False, "1": True}.get(text_of(file) or "")


def _turbo(sys: Path) -> bool | None:
    forbidden = _switch(sys / "devices/system/cpu/intel_pstate/no_turbo")
    if forbidden is not None:
        return not forbidden
    return _switch(sys / "devices/system/cpu/cpufreq/boost")


def _status(proc: Path, key: str) -> str:
    return _pairs(text_of(proc / "self/status") or "").get(key, "")


def _load(proc: Path) -> float | None:
    words = words_of(proc / "loadavg")
    if words and (read := number_in(words[0])) is not None:
        return read
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None


def _steal(proc: Path) -> float | None:
    first = (text_of(proc / "stat") or "").split("\n", 1)[0].split()
    # The columns: cpu user nice system idle iowait irq softirq steal. User includes guest time.
    if len(first) < 9 or first[0] != "cpu" or not all(word.isdecimal() for word in first[1:9]):
        return None
    total = sum(int(word) for word in first[1:9])
    return int(first[8]) / total if total else None


# The limits of CPU time, memory and processes, by control groups and by the process itself.
#
# A process belongs to a control group. The limits of the groups around that one hold for it as
# well, so the smallest one counts. cgroups(7) and getrlimit(2) describe the files. None means that
# no limit is seen: inside a container, the OS may not show the groups around it.

#: A limit that nobody set: version 1 of control groups shows a number near 2^63 for it.
_NO_LIMIT = 2**60

Reader = Callable[[Path], float | None]


def cpu_quota(proc: Path, sys: Path) -> float | None:
    """The CPU time that control groups grant this process, in CPUs."""
    return min(_limits(proc, sys, "cpu", _quota_v1, _quota_v2), default=None)


def throttled_s(proc: Path, sys: Path) -> float:
    """For how long control groups have stopped their tasks by a quota, in seconds since they
    exist; for the whole run, subtract two readings."""
    return sum(
        _limits(proc, sys, "cpu", _stated("throttled_time", 1e9), _stated("throttled_usec", 1e6))
    )


def memory_limit(proc: Path, sys: Path) -> int | None:
    """The memory that this process and those beside it may use, in bytes."""
    limits = _limits(proc, sys, "memory", _number("memory.limit_in_bytes"), _number("memory.max"))
    return int(min([*limits, *_own_limit(proc, "Max address space")], default=0)) or None


def task_limit(proc: Path, sys: Path) -> int | None:
    """How many processes and threads there may be at the same time."""
    limits = _limits(proc, sys, "pids", _number("pids.max"), _number("pids.max"))
    return int(min([*limits, *_own_limit(proc, "Max processes")], default=0)) or None


def _limits(proc: Path, sys: Path, controller: str, v1: Reader, v2: Reader) -> list[float]:
    """The limits of this process's group and of each group that contains it."""
    limits: list[float] = []
    for line in (text_of(proc / "self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            limits += _upwards(sys / "fs/cgroup", group, v2)
        elif controller in controllers.split(","):
            for mount in sorted({controllers, controller}):
                limits += _upwards(sys / "fs/cgroup" / mount, group, v1)
    return limits


def _upwards(mount: Path, group: str, limit_of: Reader) -> list[float]:
    """The limits of the group and of each group that contains it; a group may have none."""
    parts = [part for part in group.split("/") if part not in ("", ".", "..")]
    folders = [mount.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]
    return [limit for folder in folders if (limit := limit_of(folder)) is not None]


def _number(file: str) -> Reader:
    def limit_of(folder: Path) -> float | None:
        limit = number_in(text_of(folder / file) or "")  # "max" means no limit
        return limit if limit is not None and 0 < limit < _NO_LIMIT else None

    return limit_of


def _stated(name: str, per_second: float) -> Reader:
    """A number of the file `cpu.stat`, in seconds."""

    def seconds_of(folder: Path) -> float | None:
        words = words_of(folder / "cpu.stat")
        stated = number_in(words[words.index(name) + 1]) if name in words[:-1] else None
        return None if stated is None else stated / per_second

    return seconds_of


def _own_limit(proc: Path, name: str) -> list[float]:
    """The limit of the process itself, if any; the first of its two numbers is in force."""
    limits = text_of(proc / "self/limits") or ""
    found = re.search(rf"^{name} +(\d+) ", limits, re.MULTILINE)
    return [float(found[1])] if found and 0 < int(found[1]) < _NO_LIMIT else []


def _quota_v2(folder: Path) -> float | None:
    words = words_of(folder / "cpu.max")
    return _ratio(words[0], words[1]) if len(words) == 2 else None


def _quota_v1(folder: Path) -> float | None:
    return _ratio(
        text_of(folder / "cpu.cfs_quota_us") or "", text_of(folder / "cpu.cfs_period_us") or ""
    )


def _ratio(quota: str, period: str) -> float | None:
    granted, of = number_in(quota), number_in(period)  # "max" and -1 mean no limit
    return granted / of if granted is not None and of and granted > 0 and of > 0 else None


# Whether the machine is virtual: a hypervisor or a container.
#
# No single sign is certain, so several are read. A fact without any sign is None.

# Names in the firmware (vendor and product), and the hypervisor that uses them.
_FIRMWARE = (
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google Compute Engine"),
    ("microsoft corporation virtual machine", "Hyper-V"),
    ("apple virtualization", "Apple Virtualization"),
    ("virtualbox", "VirtualBox"),
    ("vmware", "VMware"),
    ("parallels", "Parallels"),
    ("openstack", "OpenStack"),
    ("kvm", "KVM"),
    ("qemu", "QEMU"),
    ("xen", "Xen"),
    ("bochs", "Bochs"),
)
_CONTAINERS = (
    ("kubepods", "Kubernetes"),
    ("docker", "Docker"),
    ("libpod", "Podman"),
    ("lxc", "LXC"),
    ("machine.slice", "systemd-nspawn"),
)


def find_hypervisor(
    cpuinfo: Mapping[str, str], proc: Path, sys: Path
) -> tuple[bool | None, str | None]:
    """Whether a hypervisor runs this machine (None: unknown), and its name if it gives one."""
    name = _hypervisor_name(proc, sys)
    if name is not None:
        return True, name
    if "flags" in cpuinfo:  # x86: the hypervisor sets this bit of CPUID for its guests
        return "hypervisor" in cpuinfo["flags"].split(), None
    return None, None


def _hypervisor_name(proc: Path, sys: Path) -> str | None:
    kind = text_of(sys / "hypervisor/type")
    # Xen's first guest owns the devices, but Xen schedules it like the others.
    if kind:
        return kind.capitalize()
    dmi = sys / "class/dmi/id"
    product = text_of(dmi / "product_name") or ""
    firmware = f"{text_of(dmi / 'sys_vendor') or ''} {product}".lower()
    for words, name in _FIRMWARE:
        # Amazon also rents machines without a hypervisor, whose product names end like this.
        if words in firmware and not product.endswith(".metal"):
            return name
    tree = (text_of(proc / "device-tree/hypervisor/compatible") or "").lower()
    if tree:
        return "KVM" if "kvm" in tree else tree.split("\0")[0].split(",")[-1].capitalize()
    board = text_of(proc / "device-tree/compatible") or ""
    return "QEMU" if "dummy-virt" in board or "riscv-virtio" in board else None


def find_container(proc: Path, root: Path) -> str | None:
    """The kind of container in which this process runs; None if there is no sign of one."""
    for file, name in (("run/.containerenv", "Podman"), (".dockerenv", "Docker")):
        try:
            if (root / file).exists():
                return name
        except OSError:
            continue
    groups = text_of(proc / "self/cgroup") or ""
    # The mount of the root folder names the image that the container uses.
    mounts = [
        line for line in (text_of(proc / "self/mountinfo") or "").splitlines() if " / / " in line
    ]
    for words, name in _CONTAINERS:
        if words in groups or any(words in line for line in mounts):
            return name
    return None


# The caches.

_CACHES_OF_CPU = "devices/system/cpu/cpu0/cache"
_CACHE_SIZE = re.compile(r"(\d{1,9})([KM]?)")
#: The names that getconf knows, by level, for a system without the files below /sys.
_SYSCONF_NAMES = {1: "SC_LEVEL1_DCACHE_SIZE", 2: "SC_LEVEL2_CACHE_SIZE", 3: "SC_LEVEL3_CACHE_SIZE"}


@dataclass(frozen=True)
class Cache:
    """One cache that holds data: its level from 1, its size in bytes, and the CPUs that share it.

    `cpus` is in the notation of the OS (`0-3`), and empty if the OS does not say.
    """

    level: int
    size: int
    cpus: str = ""


def data_caches(sys: Path = Path("/sys")) -> tuple[Cache, ...]:
    """The caches for data of the first CPU, the smallest first; empty if the OS reports none."""
    found = [_cache(folder) for folder in sorted((sys / _CACHES_OF_CPU).glob("index[0-9]*"))]
    known = [cache for cache in found if cache is not None] or _by_sysconf()
    return tuple(sorted(known, key=lambda cache: cache.level))


def _cache(folder: Path) -> Cache | None:
    level = text_of(folder / "level") or ""
    size = _CACHE_SIZE.fullmatch(text_of(folder / "size") or "")
    holds_data = text_of(folder / "type") in ("Data", "Unified")
    if not (holds_data and level.isdecimal() and size):
        return None
    size_in_bytes = int(size[1]) << {"": 0, "K": 10, "M": 20}[size[2]]
    return Cache(int(level), size_in_bytes, text_of(folder / "shared_cpu_list") or "")


def _by_sysconf() -> list[Cache]:
    sizes = {level: _sysconf(name) for level, name in _SYSCONF_NAMES.items()}
    return [Cache(level, size) for level, size in sizes.items() if size > 0]


def _sysconf(name: str) -> int:
    """What the C library states under `name`; 0 if it does not know."""
    try:
        return os.sysconf(name)
    except (ValueError, OSError):
        return 0


# The kinds of cores.

#: Linux has these folders on CPUs that mix large and small cores (Intel since 2021).
MIXED_CORES = (Path("/sys/devices/cpu_atom"), Path("/sys/devices/cpu_core"))


@functools.cache
def cores_of_one_kind() -> bool:
    """Whether all cores are of one kind, as far as the OS tells; not on macOS, which does not."""
    if platform.system() == "Darwin" or any(path.exists() for path in MIXED_CORES):
        return False
    capacities = {
        path.read_text() for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpu_capacity")
    }
    return len(capacities) < 2


# The account: its name, and the place in which its runs are made.
#
# The place is a random number that we make once and keep in the cache folder of the account. It
# separates two machines whose accounts have the same name ("student", "jovyan"). A machine's own id
# is often the same in all copies of a disk image; this number is the same only if it was made
# before the image was copied. It says nothing about the machine.

PLACE_FILE = "account-place"
_PLACE = re.compile(rb"[0-9a-f]{32}")
_MOST_PLACE_BYTES = 100


@dataclass(frozen=True)
class Login:
    """An account of a JupyterHub if `on_hub` is set, else of the OS."""

    name: str
    on_hub: bool = False


def login() -> Login | None:
    """The account of this process; None if the OS has no name for it.

    On a hub all containers may run as one user of the OS, so the name is that of the hub.
    """
    on_hub = os.environ.get("JUPYTERHUB_USER", "").strip()
    if on_hub:
        return Login(on_hub, on_hub=True)
    try:
        # $USER and $LOGNAME may say anything; the OS knows whose process this is.
        return Login(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:
        return None


def place_of_account() -> str | None:
    """The random number of this account on this machine; None if it cannot be kept."""
    with contextlib.suppress(OSError):
        file = paths.cache() / PLACE_FILE
        known = _read_place(file)
        if known is None:
            write_atomically(file, secrets.token_hex(16).encode())
            known = _read_place(file)  # if two runs began at once, both take the number that stayed
        return known
    return None


def _read_place(file: Path) -> str | None:
    try:
        content = read_bounded(file, _MOST_PLACE_BYTES).strip()
    except OSError:
        return None
    return content.decode() if _PLACE.fullmatch(content) else None
