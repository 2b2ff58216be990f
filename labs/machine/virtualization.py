"""Whether the machine is virtual: a hypervisor or a container.

No single sign is certain, so several are read. A fact without any sign is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labs.common.pseudo_files import text_of

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
