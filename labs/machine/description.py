"""What this machine is: facts read from the OS, none of them measured.

A fact that cannot be read is None, and reading never raises an error. These sources describe the
files: proc(5), and in the Linux sources Documentation/ABI/testing/sysfs-devices-system-cpu,
Documentation/admin-guide/pm and Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from labs.common.pseudo_files import cpu_list, number_in, text_of, words_of
from labs.machine import card, control_groups, virtualization
from labs.machine.facts import Facts

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
_SECCOMP_MODES = {0: "off", 1: "strict", 2: "filter"}


class Machine(Facts):
    """The facts about one machine, with a card that shows them to a reader."""

    def cannot_show(self) -> tuple[str, ...]:
        """What this machine cannot show: one sentence for each limit; empty if none is known."""
        return card.cannot_show(self)

    def card(self) -> str:
        """The facts and the limits in plain text, for the top of a notebook."""
        return card.as_text(self)

    def _repr_html_(self) -> str:
        return card.as_html(self)


def read_machine(
    proc: Path = Path("/proc"), sys: Path = Path("/sys"), root: Path = Path("/")
) -> Machine:
    """Read every fact once; never raises.

    `proc`, `sys` and `root` are the folders in which the OS shows them. Tests use others.
    """
    system = platform.system()
    cpuinfo = _pairs(text_of(proc / "cpuinfo") or "")
    release = text_of(proc / "sys/kernel/osrelease") or platform.release()
    virtual, hypervisor = virtualization.hypervisor(cpuinfo, proc, sys)
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
        container=virtualization.container(proc, root),
        wsl=_wsl(release),
        governor=_governor(sys),
        turbo=_turbo(sys),
        smt=_switch(sys / "devices/system/cpu/smt/active"),
        clock_source=text_of(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        seccomp=_SECCOMP_MODES.get(_status_number(proc, "Seccomp")),
        load=_load(proc),
        steal=_steal(proc),
        cpu_quota=control_groups.cpu_quota(proc, sys),
        memory_limit=control_groups.memory_limit(proc, sys),
        task_limit=control_groups.task_limit(proc, sys),
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
        asked = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
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
        return cpu_list(_pairs(text_of(proc / "self/status") or "").get("Cpus_allowed_list", ""))


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


def _status_number(proc: Path, key: str) -> int:
    value = _pairs(text_of(proc / "self/status") or "").get(key, "")
    return int(value) if value.isdecimal() else -1


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
