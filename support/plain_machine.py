"""A machine with nothing odd about it, for tests of what is said of machines."""

from __future__ import annotations

from labs.machine.description import Machine

PLAIN = Machine(
    architecture="x86_64",
    system="Linux",
    os_kernel="6.1.0",
    cpu="A CPU",
    cpus_online=4,
    cpus_allowed=(0, 1, 2, 3),
    memory=8 << 30,
    virtual=False,
    governor="performance",
    turbo=False,
    smt=False,
    clock_source="tsc",
    seccomp="off",
    load=0.1,
    steal=0.0,
)
