"""Where things lie: the C kernels, the released labs, and what may be thrown away.

All three are found the same way from a checkout of the repository and from an installed package.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent


class PartMissing(FileNotFoundError):
    """A part of Ticklab is not where it should be; the message names it and the remedy."""

    def __str__(self) -> str:
        return str(self.args[0])


class CacheNotWritable(OSError):
    """The cache folder cannot be made or written; the message names it and the remedy."""

    def __str__(self) -> str:
        return str(self.args[0])


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
    """The folder of the released labs, one folder a lab. Raises PartMissing."""
    folder = _PACKAGE / "released"
    if not folder.is_dir() and _in_checkout():
        folder, remedy = _CHECKOUT / "build" / "released", "Make them: make lab"
    else:
        remedy = "Reinstall Ticklab: python -m pip install --force-reinstall ticklab"
    if not folder.is_dir() or not any(folder.iterdir()):
        raise PartMissing(f"The released labs are missing: {folder} has none. {remedy}")
    return folder


def cache() -> Path:
    """The folder for what can be made again, such as built C kernels; made if it is not there.

    $TICKLAB_CACHE names another one. Raises CacheNotWritable.
    """
    asked = os.environ.get("TICKLAB_CACHE")
    folder = Path(asked).expanduser() if asked else platformdirs.user_cache_path("ticklab")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Only a write tells: permissions say yes to root on a read-only file system.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CacheNotWritable(
            f"The cache folder {folder} cannot be written: {why}. "
            "Set TICKLAB_CACHE to a folder of yours, and try again."
        ) from error
    return folder
