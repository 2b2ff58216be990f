"""Whether the machine is virtual: hypervisor, container, and a quota on CPU time.

No single sign is certain, so several are read. A fact without any sign is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from labs.common.pseudo_files import number_in, text_of, words_of

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


def hypervisor(cpuinfo: Mapping[str, str], proc: Path, sys: Path) -> tuple[bool | None, str | None]:
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


def container(proc: Path, root: Path) -> str | None:
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


def cpu_quota(proc: Path, sys: Path) -> float | None:
    """The CPU time that control groups grant this process, in CPUs; None if there is no limit."""
    limits: list[float] = []
    for line in (text_of(proc / "self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            limits += _limits(sys / "fs/cgroup", group, _quota_v2)
        elif "cpu" in controllers.split(","):
            for mount in (controllers, "cpu"):
                limits += _limits(sys / "fs/cgroup" / mount, group, _quota_v1)
    return min(limits, default=None)


def _limits(mount: Path, group: str, quota: Callable[[Path], float | None]) -> list[float]:
    """The limits of the group and of each group that contains it; a group may have none."""
    parts = [part for part in group.split("/") if part not in ("", ".", "..")]
    folders = [mount.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]
    return [limit for folder in folders if (limit := quota(folder)) is not None]


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
