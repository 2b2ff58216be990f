"""Find the folders of the C kernels, the released labs and the cache, and start every process.

The folders are found in a checkout of the repository and in an installed package.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs

#: The name of a user's own folder in a cache that several users share.
_OWN_FOLDER = f"of-user-{os.getuid()}"
_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


class PartMissing(FileNotFoundError):
    """A part of Ticklab is missing; the message names the part and the remedy."""


class CacheNotWritable(OSError):
    """The cache folder cannot be written, or others may write it; the message says what to do."""


def _in_checkout() -> bool:
    return (_CHECKOUT / "pyproject.toml").is_file()


def kernels_c() -> Path:
    """The folder of the C kernels. Raises PartMissing."""
    for folder in (_PACKAGE / "kernels_c", _CHECKOUT / "kernels_c"):
        if (folder / "harness.h").is_file():
            return folder
    remedy = (
        "Get them back: git checkout -- kernels_c"
        if _in_checkout()
        else "Reinstall Ticklab: python -m pip install --force-reinstall ticklab"
    )
    raise PartMissing(f"The C kernels are missing: no harness.h in {_CHECKOUT}. {remedy}")


def released() -> Path:
    """The folder that holds one folder for each released lab. Raises PartMissing."""
    folder = _PACKAGE / "released"
    if not folder.is_dir() and _in_checkout():
        folder, remedy = _CHECKOUT / "build" / "released", "Make them: make lab"
    else:
        remedy = "Reinstall Ticklab: python -m pip install --force-reinstall ticklab"
    if not folder.is_dir() or not any(folder.iterdir()):
        raise PartMissing(f"The released labs are missing: {folder} has none. {remedy}")
    return folder


def cache() -> Path:
    """The folder for files that can be made again, such as built C kernels; made if it is missing.

    $TICKLAB_CACHE names another folder. In one that others may write too, each user has an own
    folder, because programs in it are run. Raises CacheNotWritable.
    """
    asked = os.environ.get("TICKLAB_CACHE")
    folder = Path(asked).expanduser() if asked else platformdirs.user_cache_path("ticklab")
    try:
        # Many systems let a new file be written by its user's group.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        if not asked and folder.stat().st_uid == os.getuid():
            folder.chmod(0o700)
        if _others_may_write(folder):
            folder /= _OWN_FOLDER
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        # We must try a write: on a read-only file system, permissions still allow root to write.
        with tempfile.TemporaryFile(dir=folder):
            pass
        exposed = _exposed(folder)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CacheNotWritable(
            f"The cache folder {folder} cannot be written: {why}. "
            "Set TICKLAB_CACHE to a folder that you may write, and try again."
        ) from error
    if exposed is not None:
        raise CacheNotWritable(
            f"The cache folder {folder} is not safe: other users may write in {exposed}, so you "
            "would run programs that they put there. Set TICKLAB_CACHE to a folder of your own in "
            "which only you may write (chmod 700), and try again."
        )
    return folder


def _others_may_write(folder: Path) -> bool:
    """Whether somebody else owns `folder` (or it is a link), or may put a file into it."""
    status = folder.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return not is_own or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _exposed(folder: Path) -> Path | None:
    """`folder`, or one above it, where other users could put a file or a folder of their own."""
    if _others_may_write(folder):
        return folder
    for above in folder.parents:
        mode = above.stat().st_mode
        # In a sticky folder such as /tmp, users can replace only what is their own. A group may
        # write in many homes, and is then the user's own one; in a shared cache it is the class.
        is_shared = folder.name == _OWN_FOLDER and above == folder.parent
        others = stat.S_IWOTH | (stat.S_IWGRP if is_shared else 0)
        if mode & others and not mode & stat.S_ISVTX:
            return above
    return None


# Every process of the kit is started here. The current folder may be a stranger's: Python would run
# its `random.py` in place of Python's own, nbgrader its settings, and with `.` in PATH a compiler
# its `as`.

#: A folder in which no student can write, where a process is started that needs no other one.
NEUTRAL = "/"
#: The current folder, for what may name files in it: a compiler, and a student's own C kernel.
HERE = None
#: Lists of folders in which an empty or relative one means the current folder.
_SEARCHED = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")


def start(
    command: Sequence[str],
    folder: Path | str | None = NEUTRAL,
    environment: Mapping[str, str] | None = None,
    **streams: Any,
) -> subprocess.Popen[Any]:
    """Start `command` in `folder`; `streams` are as for Popen.

    Nothing in the current folder is run, unless the command has its path. Raises OSError.
    """
    found = dict(os.environ if environment is None else environment)
    for name in _SEARCHED:
        if name in found:
            found[name] = _only_absolute(found[name])
    found["PATH"] = found.get("PATH") or os.defpath  # a compiler looks for its linker there
    words = [program(command[0], found["PATH"]) or command[0], *command[1:]]
    return subprocess.Popen(words, cwd=folder, env=found, **streams)


def run(
    command: Sequence[str],
    limit_s: float,
    folder: Path | str | None = NEUTRAL,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """What `command` printed in `folder`, and its status. It gets no input.

    Raises OSError, and subprocess.TimeoutExpired after `limit_s` seconds.
    """
    with start(
        command, folder, environment, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            said, errors = process.communicate(timeout=limit_s)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, said, errors)


def program(name: str, path: str | None = None) -> str | None:
    """The path of the program `name`, as a shell finds it, but not in the current folder."""
    folders = os.environ.get("PATH", "") if path is None else path
    return shutil.which(name, path=_only_absolute(folders) or os.defpath)


def _only_absolute(folders: str) -> str:
    return os.pathsep.join(each for each in folders.split(os.pathsep) if each.startswith(os.sep))


# Started with -m or -c, Python looks for modules in the current folder first. The option -P exists
# only from Python 3.11 on. `sys` is built in, so it is not looked for in any folder.
_START = """\
import sys
sys.path[:] = {path!a}
del sys.argv[0]
import runpy
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def python_command(module: str, *words: str) -> list[str]:
    """The command that runs `module` with these words, as `python -m` does.

    The new process finds the modules that this one finds, except in the current folder.
    """
    return [sys.executable, "-c", _START.format(path=modules_path()), module, *words]


def no_programs(folder: str | Path) -> str:
    """Why a program there did not start, if the OS refused it."""
    return f"the OS starts no program in the folder {folder}; it may be mounted as noexec"


def modules_path() -> list[str]:
    """Where this process looks for modules, without the current folder."""
    return [str(each) for each in sys.path if Path(each).is_absolute()]
