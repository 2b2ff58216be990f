"""`python -m bench.no_pinning COMMAND...`: run a command that can bind no task to a CPU.

A filter of system calls (seccomp) refuses `sched_setaffinity` with EPERM to the command and to all
that it starts, as the filters of some hubs do; which CPUs may be used can still be asked. So this
is a machine without pinning, and not one that is told to do without.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

#: The number of sched_setaffinity, by machine.
REFUSED = {"x86_64": 203, "aarch64": 122, "riscv64": 122}

# From linux/filter.h, linux/seccomp.h and linux/prctl.h.
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE_WITH_EPERM = 0x7FFF0000, 0x00050001
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2


class NoFilter(RuntimeError):
    """No such filter can be set here; the message says why."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def refuse() -> None:
    """Refuse pinning to this process and to all that it starts, from now on. Raises NoFilter."""
    number = REFUSED.get(platform.machine())
    if not sys.platform.startswith("linux") or number is None:
        raise NoFilter(f"filters of system calls are not known of {platform.machine()} here")
    code = _instruction(_LOAD, 0)  # the number of the call
    code += _instruction(_JUMP_IF_EQUAL, number, equal=1)
    code += _instruction(_RETURN, _ALLOW) + _instruction(_RETURN, _REFUSE_WITH_EPERM)
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    for words in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*words) != 0:
            raise NoFilter(f"no filter of system calls: {os.strerror(ctypes.get_errno())}")


def _instruction(code: int, value: int, *, equal: int = 0) -> bytes:
    """One instruction; where the values are equal, so many instructions are left out."""
    return struct.pack("=HBBI", code, equal, 0, value)


if __name__ == "__main__":
    try:
        refuse()
        os.execvp(sys.argv[1], sys.argv[1:])
    except (NoFilter, OSError, IndexError) as error:
        sys.exit(f"bench.no_pinning: {error}")
