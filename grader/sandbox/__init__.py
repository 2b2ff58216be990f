"""Runs code of students, for the two purposes that need it, where it can harm nobody.

Grading needs nothing of this package: figures are judged by their recordings. An instructor may ask
for a new run of a student's C, or may add cells that are executed. Both happen in bubblewrap, and
nowhere if there is no bubblewrap. A command gets limits and a filter of system calls, and all that
it started is ended.

    done = run(["cc", "/given/own.c", "-o", "own"], folder, Limits(wall_s=20))

If there is no sandbox, NoSandbox says why, and nothing is run.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import platform
import random
import resource
import secrets
import select
import signal
import site
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from grader.judging.worker import ONE_THREAD
from labs import paths


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes. `memory` holds for each process, and for all of them together.

    `cpu_s` holds for each process and `wall_s` for the whole command. `scratch` is the size of the
    folder /student and of /tmp, which live in memory beyond `memory`, and `files` is how many files
    each of them may hold.
    """

    memory: int = 1_000_000_000
    processes: int = 64
    cpu_s: int = 20
    wall_s: float = 30.0
    output: int = 8_000_000
    file_bytes: int = 64_000_000
    scratch: int = 128_000_000
    files: int = 5_000
    open_files: int = 128


_CHUNK = 1 << 16


@dataclass(frozen=True)
class Result:
    """What a command did. `status` is None if we ended it; then `ended` says why.

    `output` and `errors` are what it printed, each cut at the limit.
    """

    status: int | None
    output: bytes
    errors: bytes
    ended: str = ""


def run(
    command: list[str],
    folder: Path | None = None,
    limits: Limits | None = None,
    *,
    python: bool = False,
) -> Result:
    """Run `command` in the sandbox and wait for it; `folder` is /given there, and read-only.

    The command has neither input nor a terminal; with `python` it sees this Python environment.
    Raises NoSandbox if it could not be enclosed.
    """
    demand()
    return _run(command, limits or Limits(), Inside(given=folder, python=python))


def demand() -> None:
    """Raises NoSandbox if there is no sandbox on this machine."""
    why = refusal()
    if why is not None:
        raise NoSandbox(why)


@functools.lru_cache(maxsize=1)
def refusal() -> str | None:
    """Why there is no sandbox on this machine, in a sentence; None if there is one."""
    if sys.platform != "linux":
        return "the sandbox needs Linux (on Windows: WSL2), so nothing was run"
    word = secrets.token_hex(8)
    try:
        done = _run(["echo", word], Limits(wall_s=_START_S), Inside())
    except NoSandbox as error:
        return str(error)
    if done.output.decode("utf-8", "replace").strip() != word:
        said = done.ended or done.errors.decode("utf-8", "replace").strip()[:300]
        return f"a command in the sandbox does not start ({said}), so nothing was run"
    return None


def _run(command: list[str], limits: Limits, inside: Inside) -> Result:
    until = time.monotonic() + limits.wall_s
    with start(command, limits, inside, subprocess.PIPE) as sandbox:
        pipes = _pipes(sandbox.process)
        kept = {pipe: bytearray() for pipe in pipes}
        ended, looked = "", 0.0
        while not ended and (pipes or sandbox.process.poll() is None):
            for pipe in select.select(pipes, [], [], EVERY_S)[0]:
                some = os.read(pipe.fileno(), _CHUNK)
                kept[pipe] += some
                if not some:
                    pipes.remove(pipe)
            now = time.monotonic()
            if sum(map(len, kept.values())) > limits.output:
                ended = f"It printed more than {limits.output:,} bytes and was ended."
            elif now > until:
                ended = f"It took more than {limits.wall_s:g} s and was ended."
            elif now > looked + EVERY_S:
                looked, ended = now, sandbox.inhabitants.excess(limits) or ""
        output, errors = (bytes(each[: limits.output]) for each in kept.values())
        if ended:
            return Result(None, output, errors, ended)
        status = sandbox.process.wait()
        if not sandbox.command_ran():
            said = errors.decode("utf-8", "replace").strip()[:300]
            raise NoSandbox(f"bubblewrap could not build the sandbox ({said}); nothing was run")
        return Result(status, output, errors)


def _pipes(process: subprocess.Popen[bytes]) -> list[IO[bytes]]:
    assert process.stdout is not None and process.stderr is not None
    return [process.stdout, process.stderr]


_START_S = 30.0
_MOST_REPORTED = 10_000


@dataclass
class Sandbox:
    """A running sandbox: bubblewrap's process, those inside, and what bubblewrap reports."""

    process: subprocess.Popen[bytes]
    inhabitants: Inhabitants
    report: int

    def command_ran(self) -> bool:
        """Whether the command was started; to be asked after bubblewrap has ended."""
        if not select.select([self.report], [], [], 0)[0]:
            return False
        return b"exit-code" in os.read(self.report, _MOST_REPORTED)

    def end(self) -> None:
        """End everything in it; it may be called again. Raises TimeoutError if a process stays."""
        try:
            self.inhabitants.end()
        finally:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()
            report, self.report = self.report, -1
            if report >= 0:
                os.close(report)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def start(command: list[str], limits: Limits, inside: Inside, streams: int | None) -> Sandbox:
    """`command` in a sandbox, running. Its output and errors go to `streams`, as for Popen.

    If the thread that calls this ends, the OS ends the sandbox. Raises NoSandbox, and then nothing
    was run.
    """
    reading, writing = os.pipe()
    try:
        with _filter() as steps:
            words = enclosed(command, limits, inside, steps)
            words[1:1] = ["--json-status-fd", str(writing)]
            process = paths.start(
                words,
                stdin=subprocess.DEVNULL,
                stdout=streams,
                stderr=streams,
                start_new_session=True,
                pass_fds=(writing, steps),
            )
    except OSError as error:
        os.close(reading)
        raise NoSandbox(f"bubblewrap does not start: {error}; nothing was run") from error
    except NoSandbox:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    first = _first_process(reading)
    if first is None:
        process.kill()
        said = process.communicate()[1] or b""
        os.close(reading)
        raise NoSandbox(
            f"bubblewrap could not build the sandbox ({said.decode('utf-8', 'replace').strip()}), "
            "so nothing was run; if this is a container, allow it user namespaces, or grade on "
            "another machine"
        )
    return Sandbox(process, Inhabitants(first), reading)


@contextlib.contextmanager
def _filter() -> Iterator[int]:
    """A descriptor from which bubblewrap reads the filter of system calls. Raises NoSandbox."""
    steps = program()
    if steps is None:
        raise NoSandbox(
            f"the sandbox knows no filter of system calls for a machine of type "
            f"{platform.machine()}, so nothing was run; use one with x86-64 or arm64"
        )
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, steps)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _first_process(report: int) -> int | None:
    """The id of the sandbox's first process, which bubblewrap reports; None if there is none."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _MOST_REPORTED:
        if not select.select([report], [], [], _START_S)[0]:
            return None
        letter = os.read(report, 1)
        if not letter:
            return None
        line += letter
    try:
        return int(json.loads(line)["child-pid"])
    except (ValueError, KeyError, TypeError):
        return None


# The command line that encloses a command in bubblewrap.
#
# Inside there is no network, no other process and no capability. Of the files there are only the
# system's programs, the Python environment and the kit, which cannot be changed. /student and /tmp
# are private, live in memory and vanish at the end.
#
# An ordinary user gets a user namespace of its own, in which the limit on processes counts only the
# sandbox. Linux does not hold root to that limit. So root builds the sandbox without a user
# namespace and then becomes a user id that nobody else has. The limits are set inside, after that.

#: Where a command finds the files that it was given (read-only), and where it starts.
GIVEN, WORK = "/given", "/student"
#: The folders that a command may write to.
PRIVATE = (WORK, "/tmp", "/dev/shm")

_UNSHARED = ("pid", "net", "ipc", "uts")
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
#: Programs need these to find libraries, compilers, fonts and the time zone.
_SETTINGS = ("fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
_SHARED_MEMORY = 32_000_000
#: User ids that no system gives to an account, for root; the second range is for containers, which
#: often have 65,536 user ids.
_RANGES = ((1_900_000_000, 1_950_000_000), (60_600, 61_100))


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
    options += [f"--unshare-{name}" for name in _UNSHARED] + ["--unshare-cgroup-try"]
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
    found = paths.program(name)
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
    variables |= {"USER": "student", "LOGNAME": "student", "TMPDIR": "/tmp", **ONE_THREAD}
    # Each thread may otherwise reserve 64 MB of addresses, which count for the limit.
    variables["MALLOC_ARENA_MAX"] = "2"
    if python:
        variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
        variables["PYTHONPATH"] = str(package().parent)
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
    return variables


# The OS limits each process; bubblewrap limits the size of the private folders. The sum over the
# processes, and the number of files, have no limit of the OS that every system offers. So we look
# at them 20 times a second.

#: How often to look, in seconds.
EVERY_S = 0.05
_END_S = 10.0


class Inhabitants:
    """The processes of one sandbox; `first` is the id of the one that the others descend from."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._one_at_a_time = threading.Lock()
        self._handle: int | None = None
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            self._handle = os.pidfd_open(first)

    def excess(self, limits: Limits) -> str | None:
        """Which limit they exceed together, as a sentence; None if none."""
        if self._most_files() > limits.files:
            return f"It made more than {limits.files:,} files and was ended."
        known = [self.first, *self._below()]
        # Processes share pages, above all after fork(). The exact count takes longer, and divides
        # such a page among them.
        if all(sum(map(count, known)) > limits.memory for count in (_resident, _exact)):
            most = f"{limits.memory / 1e6:,.0f} MB"
            return f"Its processes used more than {most} of memory together and were ended."
        return None

    def end(self) -> None:
        """End all of them, and wait until none is left. Raises TimeoutError if one stays."""
        with self._one_at_a_time:
            handle, self._handle = self._handle, None
            if handle is None:
                return
            try:
                with contextlib.suppress(ProcessLookupError):
                    # It is the first process of its namespace: with it, the OS ends all others
                    # there, and it has ended only when they have.
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                if not select.select([handle], [], [], _END_S)[0]:
                    raise TimeoutError(f"process {self.first} of the sandbox does not end")
            finally:
                os.close(handle)

    def _most_files(self) -> int:
        """How many files the fullest of the private folders holds."""
        root, most = Path(f"/proc/{self.first}/root"), 0
        # It may end just now.
        with contextlib.suppress(OSError):
            if root.samefile("/"):  # bubblewrap has not built it yet
                return 0
            for place in PRIVATE:
                held = os.statvfs(f"{root}{place}")
                most = max(most, held.f_files - held.f_ffree)
        return most

    def _below(self) -> list[int]:
        """Those that descend from the first one."""
        found, unread = [], [self.first]
        while unread:
            below = _children(unread.pop())
            found += below
            unread += below
        return found


def _children(process: int) -> list[int]:
    """The children of a process; none if it has ended."""
    found: list[int] = []
    if not Path("/proc/thread-self/children").exists():  # a kernel without CONFIG_PROC_CHILDREN
        with contextlib.suppress(psutil.Error):
            # This reads every process of the machine.
            found = [each.pid for each in psutil.Process(process).children()]
        return found
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (task / "children").read_text(encoding="utf-8").split())
    return found


def _resident(process: int) -> int:
    """The resident bytes of a process; 0 if it has ended."""
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(process).memory_info().rss)
    return 0


def _exact(process: int) -> int:
    """The same, but a page that n processes share counts 1/n."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return _resident(process)
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return 1024 * int(sizes[0]) if sizes else _resident(process)


# The filter of system calls (seccomp) of the sandbox, as a program for the kernel's BPF machine.
#
# The namespaces of the sandbox separate it, and the filter refuses what could lead out of them.
# These are new namespaces and mounts, keys, which all processes of a user share, and parts of the
# kernel that no lab needs and that had many faults. The filter refuses VSOCK too, a network that
# network namespaces do not separate. It also refuses memory that belongs to no process, and so to
# no limit of one. The layout of an instruction is that of `struct sock_filter` in linux/filter.h.

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Offsets in `struct seccomp_data`: number, architecture, and the low half of the first argument.
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
#: The number of the first system call of the x32 ABI; no other ABI has so high numbers.
_X32 = 0x40000000
#: The flags of clone() that make a namespace.
_NAMESPACE_FLAGS = 0x7E020000
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
        _step(_ANY_BIT, _NAMESPACE_FLAGS, 0, 1),
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
