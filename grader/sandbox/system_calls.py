"""The filter of system calls (seccomp) of the sandbox, as a program for the kernel's BPF machine.

The namespaces of the sandbox do the work. The filter refuses what could lead out of them: new
namespaces and mounts, keys, which all processes of a user share, and parts of the kernel that no
lab needs and that had many faults. It refuses VSOCK too, a network that network namespaces do not
separate, and memory that belongs to no process and so to no limit of one. The layout of an
instruction is that of `struct sock_filter` in linux/filter.h.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Offsets in `struct seccomp_data`: number, architecture, and the low half of the first argument.
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
#: The number of the first system call of the x32 ABI; no other ABI has so high numbers.
_X32 = 0x40000000
#: The flags of clone() that make a namespace.
_NAMESPACES = 0x7E020000
#: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which a network namespace separates.
_FAMILIES = (1, 2, 10, 16)

#: The same on all architectures: open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
#: mount_setattr, the three of io_uring, and memfd_secret.
_EVERYWHERE = (428, 429, 430, 431, 432, 433, 442, 425, 426, 427, 447)
_CLONE3 = 435
#: By machine: its AUDIT_ARCH, then clone and socket, then unshare, setns, mount, umount2,
#: pivot_root, add_key, request_key, keyctl, bpf, userfaultfd, perf_event_open, name_to_handle_at,
#: open_by_handle_at, kexec_load, memfd_create, shmget.
_MACHINES = {
    "x86_64": (
        0xC000003E,
        56,
        41,
        (272, 308, 165, 166, 155, 248, 249, 250, 321, 323, 298, 303, 304, 246, 319, 29),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        198,
        (97, 268, 40, 39, 41, 217, 218, 219, 280, 282, 241, 264, 265, 104, 279, 194),
    ),
}


def program(machine: str | None = None) -> bytes | None:
    """The filter for `machine` (default: this one); None for a machine whose numbers are unknown.

    A new namespace is refused by EPERM. clone3() passes its flags in memory, where no filter can
    read them, so it answers ENOSYS, and C libraries then call clone().
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, clone, socket, refused = known
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, _KILL),
    ]
    for number in (*refused, *_EVERYWHERE):
        steps += _answer(number, errno.EPERM)
    steps += _answer(_CLONE3, errno.ENOSYS)
    steps += [
        _step(_EQUAL, clone, 0, 4),
        _step(_LOAD, _FIRST),
        _step(_ANY_BIT, _NAMESPACES, 0, 1),
        _step(_RETURN, _ERROR | errno.EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, socket, 0, len(_FAMILIES) + 2),
        _step(_LOAD, _FIRST),
        *(
            _step(_EQUAL, family, len(_FAMILIES) - place, 0)
            for place, family in enumerate(_FAMILIES)
        ),
        _step(_RETURN, _ERROR | errno.EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _answer(number: int, error: int) -> list[bytes]:
    return [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ERROR | error)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
