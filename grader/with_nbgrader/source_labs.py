"""Where the labs of a new course come from: with their solutions, or as they are released.

An installed package has only the released labs, because students install it too. These can be
released again: a course that starts from them gives students the same notebooks, and the grader
needs no solutions. The labs with solutions are in the repository, and in the archives of its
source, which `grader course --labs` reads.
"""

from __future__ import annotations

import contextlib
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from labs.common import limits, paths

_CHECKOUT = Path(__file__).parent.parent.parent
_FOLDER = "notebooks"
_MARK = b"BEGIN SOLUTION"


class NoLabs(Exception):
    """There are no labs where they were looked for; the message says where, and what to do."""


@dataclass(frozen=True)
class SourceLabs:
    """A folder with one folder for each lab; `solved` says whether they have their solutions."""

    folder: Path
    solved: bool

    @property
    def names(self) -> list[str]:
        """The labs: each is a folder that has a notebook of the same name."""
        return sorted(
            each.name for each in self.folder.iterdir() if (each / f"{each.name}.ipynb").is_file()
        )


@contextlib.contextmanager
def source_labs(asked: Path | None = None) -> Iterator[SourceLabs]:
    """The labs under `asked`: a folder of labs, a checkout, or an archive of the source.

    Without `asked`, the labs of the checkout that this package is in, otherwise the released labs
    of the installed package. What an archive holds is kept only while the context is open. Raises
    NoLabs, and OSError if a file cannot be read.
    """
    if asked is None:
        yield _labs_here()
    elif asked.is_dir():
        inside = asked / _FOLDER
        yield _labs_in(inside if inside.is_dir() else asked, asked)
    elif asked.is_file():
        with tempfile.TemporaryDirectory(prefix="ticklab-labs-") as scratch:
            _unpack(asked, Path(scratch))
            yield _labs_in(Path(scratch), asked)
    else:
        raise NoLabs(f"there is no folder and no archive {asked}")


def _labs_here() -> SourceLabs:
    with contextlib.suppress(NoLabs, OSError):
        return _labs_in(_CHECKOUT / _FOLDER, _CHECKOUT)
    try:
        return SourceLabs(paths.released(), solved=False)
    except paths.PartMissing as error:
        raise NoLabs(str(error)) from error


def _labs_in(folder: Path, shown: Path) -> SourceLabs:
    found = SourceLabs(folder, solved=False)
    if not found.names:
        raise NoLabs(
            f"{shown} holds no labs. A lab is a folder with a notebook of the same name, such as "
            "01-timer-overhead/01-timer-overhead.ipynb. Name the folder of the labs, or an archive "
            "of Ticklab's source, with --labs"
        )
    notebooks = (folder / name / f"{name}.ipynb" for name in found.names)
    return SourceLabs(folder, solved=any(_MARK in notebook.read_bytes() for notebook in notebooks))


def _unpack(archive: Path, folder: Path) -> None:
    """Puts what an archive of the source has in `notebooks/` into `folder`. Raises NoLabs.

    Only regular files below `notebooks/` are taken, and no more than a source has.
    """
    left = limits.MOST_SOURCE_ARCHIVE_BYTES
    try:
        for name, file in _files_of(archive):
            target = _place_of(name)
            if target is None:
                continue
            content = file.read(left + 1)
            left -= len(content)
            if left < 0:
                raise NoLabs(
                    f"{archive} has more than {limits.MOST_SOURCE_ARCHIVE_BYTES >> 20} MB of labs, "
                    "so it is no archive of Ticklab's source"
                )
            path = folder / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        raise NoLabs(f"{archive} is no archive of Ticklab's source: {error}") from error


def _files_of(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of a .tar.gz or .zip, each with its name in the archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    with packed.open(info) as file:
                        yield info.filename, file
        return
    with tarfile.open(archive) as packed_tar:
        for member in packed_tar:
            extracted = packed_tar.extractfile(member) if member.isreg() else None
            if extracted is not None:
                with extracted:
                    yield member.name, extracted


def _place_of(name: str) -> Path | None:
    """Where a file of the archive belongs below the folder of the labs; None if it is no lab's."""
    parts = PurePosixPath(name).parts
    if len(parts) < 4 or parts[1] != _FOLDER or "\\" in name:
        return None
    if any(part in ("..", ".", "/") or part.startswith(".") for part in parts):
        return None
    return Path(*parts[2:])
