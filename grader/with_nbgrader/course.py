"""Makes a course folder for nbgrader, finds the labs for it, and gives the course its id."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from nbformat import NotebookNode
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.with_nbgrader.release import copy_labs
from labs import paths
from labs.course.account import FILE_NAME, BadCourse, Course, read_course
from labs.files import write_atomically
from labs.version import __version__

CONFIG = """\
# The settings of this course. Your settings below the call override those of the call.
try:
    from grader.nbgrader_config import configure
except Exception as error:
    # nbgrader only logs an error in this file. Then it would grade by its own settings, and run
    # the code of the students.
    raise SystemExit(f"{__file__}: Ticklab's grader is not there: {error!r}. Nothing was graded.")

c = get_config()
configure(c, __file__)
"""
_ABOUT = "The id of this course, which recordings use. Please keep this file with the labs."


def make_course(course: Path, source: Path, *, add: bool = False) -> list[str]:
    """Makes `course` a course folder with the labs under `source`; existing files stay.

    If it has labs already, those of `source` that it lacks come only with `add`: an instructor may
    have removed them. Returns the names of the labs and other entries that came.

    Raises OSError if the folder cannot be written.
    """
    # It will hold grades. Nobody else can enter a new folder; who has one shares it on purpose.
    course.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = course / "nbgrader_config.py"
    if not config.exists():
        write_atomically(config, CONFIG.encode())
    came = _take_labs(course, source, add)
    with contextlib.suppress(BadCourse):  # the first release says what is wrong with it
        identified(course)
    return came


def _take_labs(course: Path, source: Path, add: bool) -> list[str]:
    target = course / "source"
    is_new = not target.exists()
    if not (is_new or add):
        return []
    # A copy that is interrupted must not look like a course with fewer labs.
    with tempfile.TemporaryDirectory(dir=course, prefix=".labs-") as scratch:
        copied = Path(scratch) / "source"
        copy_labs(source, copied)
        came = sorted(each.name for each in copied.iterdir() if not (target / each.name).exists())
        if is_new:
            copied.rename(target)
        else:
            for name in came:
                (copied / name).rename(target / name)
    return came


def identified(course: Path) -> Course:
    """The id of the course in the folder `course`, made when it is first needed.

    It is random: nbgrader's own id of a course can be guessed, and then so can what is hashed with
    it. Raises BadCourse if it is there but cannot be read, and OSError if it cannot be written.
    """
    file = course / FILE_NAME
    with contextlib.suppress(FileNotFoundError):
        return read_course(file)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    made = {"course": secrets.token_hex(16), "since": now, "ticklab": __version__}
    new = course / f".{FILE_NAME}.{made['course']}"
    write_atomically(new, json.dumps({"about": _ABOUT, **made}, indent=1).encode() + b"\n")
    try:
        # Unlike a rename, a link fails if another command has made an id in the meantime.
        os.link(new, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    return read_course(file)


class NameCourse(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts the id of the course next to each released notebook."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Has nbgrader write the file. Raises NbGraderException if the course has a bad one."""
        course = Path(self.parent.parent.coursedir.root)
        try:
            identified(course)
            content = (course / FILE_NAME).read_bytes()
        except BadCourse as error:
            message = (
                f"The id of the course cannot be read: {error}. Restore the file from a copy or "
                "from a released lab, or remove it: the course then gets a new id."
            )
            self.log.error(message)
            raise NbGraderException(message) from error
        resources["outputs"] = {**(resources.get("outputs") or {}), FILE_NAME: content}
        return nb, resources


# Where the labs of a new course come from: with their solutions, or as they are released.
#
# An installed package has only the released labs, because students install it too. These can be
# released again: a course that starts from them gives students the same notebooks, and the grader
# needs no solutions. The labs with solutions are in the repository, and in the archives of its
# source, which `grader course --labs` reads.

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
            yield _labs_in(next(Path(scratch).glob(f"*/{_FOLDER}"), Path(scratch)), asked)
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
    """Unpacks an archive of the source into `folder`, and nothing outside of it. Raises NoLabs."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(folder)
        else:
            with tarfile.open(archive) as packed_tar:
                for each in packed_tar:
                    if not _stays_inside(each):
                        raise ValueError(f"{each.name} is no file or folder inside of it")
                if hasattr(tarfile, "data_filter"):
                    packed_tar.extractall(folder, filter="data")
                else:  # Python before 3.10.12 or 3.11.4, such as Debian 12 has
                    packed_tar.extractall(folder)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        raise NoLabs(f"{archive} is no archive of Ticklab's source: {error}") from error


def _stays_inside(member: tarfile.TarInfo) -> bool:
    path = PurePosixPath(member.name)
    return (member.isfile() or member.isdir()) and not path.is_absolute() and ".." not in path.parts
