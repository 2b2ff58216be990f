"""The command line that encloses a command in bubblewrap.

Inside there is no network, no other process, no capability, and of the files only the system's
programs, the Python environment and the kit, which cannot be changed. /student and /tmp are
private, live in memory and vanish at the end.

An ordinary user gets a user namespace of its own, in which the limit on processes counts only the
sandbox. Linux does not hold root to that limit. So root builds the sandbox without a user namespace
and then becomes a user id that nobody else has. The limits are set inside, after that.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import site
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.sandbox.limits import Limits
from labs.common import paths

#: Where a command finds the files that it was given (read-only), and where it starts.
GIVEN, WORK = "/given", "/student"
#: The folders that a command may write to.
PRIVATE = (WORK, "/tmp", "/dev/shm")

_NAMESPACES = ("pid", "net", "ipc", "uts")
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
#: Programs need these to find libraries, compilers, fonts and the time zone.
_SETTINGS = ("fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
_SHARED_MEMORY = 32_000_000
#: User ids that no system gives to an account, for root; the second range is for containers, which
#: often have 65,536 user ids.
_RANGES = ((1_900_000_000, 1_950_000_000), (60_600, 61_100))
_ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "BLIS")
}


class NoSandbox(RuntimeError):
    """There is no sandbox here, so nothing was run. The message says why and what to do."""


@dataclass(frozen=True)
class Inside:
    """What a command sees: `given` is bound read-only at /given.

    `python` adds this Python environment and the kit. The command has no other environment
    variables than `variables` and our own.
    """

    given: Path | None = None
    python: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


def enclosed(command: list[str], limits: Limits, inside: Inside, seccomp: int) -> list[str]:
    """`command` in a sandbox; `seccomp` is a descriptor of the filter. Raises NoSandbox."""
    options = [_tool("bwrap"), "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += [f"--unshare-{name}" for name in _NAMESPACES] + ["--unshare-cgroup-try"]
    become: list[str] = []
    if os.geteuid() == 0:
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        user = _unused_id()
        become = [_tool("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        become += ["--inh-caps=-all", "--"]
    else:
        options += ["--unshare-user"]
    options += [*_system(), "--proc", "/proc", "--dev", "/dev"]
    for place in PRIVATE:
        size = _SHARED_MEMORY if place.startswith("/dev") else limits.scratch
        options += ["--perms", "1777", "--size", str(size), "--tmpfs", place]
    # The Python environment may be below /tmp, so it comes after it.
    options += _python() if inside.python else []
    if inside.given is not None:
        options += ["--ro-bind", str(inside.given), GIVEN]
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK]
    options += ["--hostname", "sandbox", "--clearenv"]
    for name, value in {**_variables(inside.python), **inside.variables}.items():
        options += ["--setenv", name, value]
    options += ["--seccomp", str(seccomp)]
    return [*options, "--", *become, *_limited(limits), *command]


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        package = {"bwrap": "bubblewrap"}.get(name, "util-linux")
        raise NoSandbox(
            f"there is no program {name}, which the sandbox needs, so nothing was run; install the "
            f"package {package} of your Linux"
        )
    return found


def _limited(limits: Limits) -> list[str]:
    """The words that set the limits of the OS; none is raised above that of this process."""
    wanted = {
        "as": (resource.RLIMIT_AS, limits.memory),
        "nproc": (resource.RLIMIT_NPROC, limits.processes),
        "cpu": (resource.RLIMIT_CPU, limits.cpu_s),
        "fsize": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "nofile": (resource.RLIMIT_NOFILE, limits.open_files),
        # With 0, a system that pipes core dumps into a program would still start this program.
        "core": (resource.RLIMIT_CORE, 1),
        "msgqueue": (resource.RLIMIT_MSGQUEUE, 0),
    }
    words = [_tool("prlimit")]
    for name, (number, most) in wanted.items():
        hard = resource.getrlimit(number)[1]
        words.append(f"--{name}={most if hard == resource.RLIM_INFINITY else min(most, hard)}")
    return [*words, "--"]


def _unused_id() -> int:
    """A user and group id for one sandbox. Raises NoSandbox if this system has no spare one."""
    mapped = [_mapped(Path(f"/proc/self/{kind}_map")) for kind in ("uid", "gid")]
    for low, high in _RANGES:
        if all(any(a <= low and high <= b for a, b in each) for each in mapped):
            return random.SystemRandom().randrange(low, high)
    raise NoSandbox(
        "this system has no spare user id for the sandbox, so nothing was run; run the command as "
        "an ordinary user"
    )


def _mapped(file: Path) -> list[tuple[int, int]]:
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return [(int(first), int(first) + int(count)) for first, _, count in lines]


def _system() -> list[str]:
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path("/") / name
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--perms", "0755", "--dir", "/etc"]
    for name in _SETTINGS:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return options


def _python() -> list[str]:
    """The Python environment and the kit. Of a checkout of the kit, only what runs is visible."""
    wanted = {Path(sys.prefix), Path(sys.base_prefix), package(), paths.kernels_c()}
    own = Path(site.getusersitepackages())
    if str(own) in sys.path:
        wanted.add(own)
    wanted = {path.absolute() for path in wanted if path.exists()}
    # A folder is there already if one above it is.
    chosen = [
        path
        for path in sorted(wanted)
        if not path.is_relative_to("/usr")
        and not any(path != other and path.is_relative_to(other) for other in wanted)
    ]
    home = Path.home()
    if any(home.is_relative_to(path) for path in chosen):
        raise NoSandbox(
            f"the folder of this Python, {sys.prefix}, holds your home folder, which code in the "
            "sandbox would see, so nothing was run; use a virtual environment in its own folder"
        )
    options = _folders_above(chosen)
    for path in chosen:
        options += ["--ro-bind", str(path), str(path)]
    return options


def package() -> Path:
    """The folder of the package `labs`."""
    return Path(paths.__file__).absolute().parent.parent


def _folders_above(places: Iterable[Path]) -> list[str]:
    """The folders above `places`, readable: bubblewrap would copy the mode of those outside."""
    options: list[str] = []
    for folder in sorted({above for place in places for above in place.parents}):
        if folder != Path("/") and folder != Path("/tmp") and not folder.is_relative_to("/usr"):
            options += ["--perms", "0755", "--dir", str(folder)]
    return options


def _variables(python: bool) -> dict[str, str]:
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    variables |= {"USER": "student", "LOGNAME": "student", "TMPDIR": "/tmp", **_ONE_THREAD}
    # Each thread may otherwise reserve 64 MB of addresses, which count for the limit.
    variables["MALLOC_ARENA_MAX"] = "2"
    if python:
        folder = str(Path(sys.executable).parent)
        variables["PATH"] = f"{folder}:{variables['PATH']}"
        variables["PYTHONPATH"] = str(package().parent)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
    return variables
