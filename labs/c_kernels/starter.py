"""The C kernel that a question of one's own begins with: `starter.c` under another name."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from labs.c_kernels import toolchain
from labs.common.files import CannotWrite

_STARTER = Path(__file__).with_name("starter.c")
_PLACE_OF_NAME = "@NAME@"
#: The name becomes that of a file and of a program, and it stands in C and in the recording.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def source_of(name: str) -> str:
    """The C of a new C kernel `name`.

    Raises ValueError if the name cannot be used: the message says what can.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a C kernel: give a letter and then at most 39 "
            "letters, digits and underscores, such as pipe_write"
        )
    if name in toolchain.c_kernel_names():
        raise ValueError(
            f"Ticklab has a C kernel {name}, and recordings of both would have the same name: "
            "choose another"
        )
    return _STARTER.read_text(encoding="utf-8").replace(_PLACE_OF_NAME, name)


def write_new(name: str, folder: Path) -> Path:
    """Write a new C kernel to `folder`, and return its path; the name may end in `.c`.

    Raises ValueError for a name that cannot be used, and CannotWrite. What is already at the path
    stays as it is, also a broken link.
    """
    name = name.removesuffix(".c")
    text = source_of(name)
    path = folder / f"{name}.c"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError as error:
        raise CannotWrite(
            errno.EEXIST, f"{path.name} is already there and stays as it is: choose another name"
        ) from error
    except OSError as error:
        raise CannotWrite(error.errno, f"cannot write {path.name}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        path.unlink(missing_ok=True)  # it is ours: this call has just made it
        raise CannotWrite(error.errno, f"cannot write {path.name}: {error.strerror}") from error
    return path
