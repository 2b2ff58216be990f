"""Waits while another program has the gradebook locked, and says what keeps it from being written.

SQLite has one writer at a time. If another program writes for long, nbgrader gives up, and says
that nbgrader may have been upgraded. We try again, and name the cause while we wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError
from traitlets.log import get_logger

from grader.submissions.safe_files import NO_ROOM

#: How long a command waits, and how long a server, which can do nothing else meanwhile.
PATIENCE_S, PATIENCE_OF_SERVER_S = 900.0, 60.0
#: SQLite itself waits so long before each message.
_TRY_S = 5.0
_SAY_AGAIN_S = 30.0
_LOCKED = (
    "Another program kept the gradebook locked: another nbgrader command, a formgrader, or a "
    "program that has gradebook.db open. End it, then run the same command again."
)
_FULL = (
    "The disk is full, so the gradebook or a result could not be written. Free some space, then "
    "run the same command again."
)
_FAILS = (
    "The disk of the gradebook reports an error; perhaps it is full. Look at it, then run the same "
    "command again."
)
#: SQLite cannot make its journal either where the disk has room for bytes and none for names.
_NO_FILE = (
    "A database of the course, or its journal, cannot be opened. Perhaps the disk has no room for "
    "one more file, or you may not write there. Free some space, then run the same command again."
)
_MADE_BEFORE = (
    "The gradebook was made by an older nbgrader. In the course folder, run: nbgrader db upgrade. "
    "It keeps a copy of the old gradebook. Then run the same command again."
)
#: What SQLite and PostgreSQL say of a table without a column that nbgrader has added since.
_WITHOUT_COLUMN = re.compile(r"no such column|has no column named|column \S+ does not exist")
#: What SQLite says of a disk, and what we say.
_OF_THE_DISK = {
    "disk is full": _FULL,
    "disk I/O error": _FAILS,
    "unable to open database file": _NO_FILE,
}
Value = TypeVar("Value")
_ours: set[str] = set()


def wait_for(gradebook: Path) -> None:
    """From now on, every connection of this process to `gradebook` waits. May be called again."""
    _ours.add(str(gradebook))
    if not event.contains(Engine, "do_connect", _connect):
        event.listen(Engine, "do_connect", _connect)


class GradebookUnavailable(OSError):
    """The gradebook is locked or has no room; the message says what to do.

    It is no error of SQLAlchemy, because nbgrader prints those with a traceback and its own guess.
    """


def cause_of(error: BaseException) -> str | None:
    """What keeps the gradebook or a result from being written, as text; None for another error."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, GradebookUnavailable):
            return str(seen)
        if isinstance(seen, OSError) and seen.errno in NO_ROOM:
            return _FULL
        if isinstance(seen, sqlite3.OperationalError) and (cause := _no_room(seen)):
            return cause
        if isinstance(seen, DBAPIError) and _WITHOUT_COLUMN.search(str(seen.orig)):
            return _MADE_BEFORE
        seen = seen.__cause__ or seen.__context__
    return None


def missing_gradebook(course: Any) -> str:
    """The file of a gradebook that is not there yet; "" if it is, or if a server has it."""
    kind, _, path = course.db_url.partition(":///")
    file = str(path.partition("?")[0])
    return file if kind == "sqlite" and not Path(file).is_file() else ""


def raise_if_no_room(error: sqlite3.Error) -> None:
    """Raises GradebookUnavailable if a database of the course has no room on its disk.

    Who goes on without the database would leave out what it says for good.
    """
    if isinstance(error, sqlite3.OperationalError) and (cause := _no_room(error)):
        raise GradebookUnavailable(cause) from error


def _no_room(error: sqlite3.OperationalError) -> str | None:
    """What to say if `error` is one of the disk."""
    return next((ours for theirs, ours in _OF_THE_DISK.items() if theirs in str(error)), None)


def _connect(_: Any, __: Any, arguments: list[Any], named: dict[str, Any]) -> None:
    """SQLAlchemy calls this before it opens a database."""
    if arguments and arguments[0] in _ours:
        named.update(timeout=_TRY_S, factory=_Connection)


def _patiently(action: Callable[[], Value]) -> Value:
    """The result of `action`, tried again while the database is locked.

    Raises GradebookUnavailable if that takes too long, or if there is no room.
    """
    begin = said = time.monotonic()
    patience = PATIENCE_OF_SERVER_S if _in_server() else PATIENCE_S
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            now, text = time.monotonic(), str(error)
            raise_if_no_room(error)
            if "database is locked" not in text:
                raise
            if now - begin > patience:
                raise GradebookUnavailable(_LOCKED) from error
            if said == begin or now - said > _SAY_AGAIN_S:
                said = now
                get_logger().warning(
                    "The gradebook is locked by another program (another nbgrader command, a "
                    "formgrader, or a program that has gradebook.db open): waiting, %.0f s so far",
                    now - begin,
                )


def _in_server() -> bool:
    """Whether an event loop runs in this thread, which stands still while we wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Cursor(sqlite3.Cursor):
    """Waits with each statement. The first one that writes takes the lock."""

    def execute(self, *arguments: Any) -> _Cursor:
        _patiently(lambda: super(_Cursor, self).execute(*arguments))
        return self

    def executemany(self, *arguments: Any) -> _Cursor:
        _patiently(lambda: super(_Cursor, self).executemany(*arguments))
        return self


class _Connection(sqlite3.Connection):
    """Waits with each commit, which needs that nobody reads."""

    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def commit(self) -> None:
        _patiently(super().commit)


@contextlib.contextmanager
def causes_as(kind: Callable[[str], BaseException]) -> Iterator[None]:
    """Raises a `kind` with the cause where the gradebook or a result cannot be written."""
    try:
        yield
    except Exception as error:
        cause = cause_of(error)
        if cause is None:
            raise
        raise kind(cause) from error
