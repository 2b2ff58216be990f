"""`nbgrader list --inbound`: a bad folder of the exchange does not end the list, nor is it opened.

nbgrader reads the secret and the notebooks of each folder, through links and pipes too, and ends at
the first secret that is not text. So it gets those folders that can be read, and a line says what
is wrong with each of the others.
"""

from __future__ import annotations

import os
from pathlib import Path

from nbgrader.exchange.default import ExchangeList

from grader.submissions.folders import open_regular, opened
from grader.submissions.safe_copy import printable, read_regular
from grader.with_nbgrader.exchange.entries import now, read_entry
from labs.common.limits import MOST_NOTEBOOK_BYTES, MOST_SECRET_BYTES


class CarefulList(ExchangeList):  # type: ignore[misc]
    """nbgrader's list of the exchange without the folders that cannot be submissions."""

    assignments: list[str]

    def init_dest(self) -> None:
        """Finds what to list, and says what is left out."""
        super().init_dest()
        if self.inbound:
            self.assignments = [path for path in self.assignments if self._is_readable(Path(path))]

    def _is_readable(self, folder: Path) -> bool:
        try:
            _check(folder)
        except ValueError as error:
            why = str(error)
        except OSError as error:
            why = error.strerror or str(error)
        else:
            return True
        self.log.error("Not listed: %s: %s", printable(folder.name, 200), why)
        return False


def _check(folder: Path) -> None:
    """Raises ValueError or OSError, with a sentence, if nbgrader cannot read this submission."""
    student, _, time = folder.name.split("+")[:3]
    read_entry(folder, student, time, now())
    with opened(folder) as descriptor:
        for name in os.listdir(descriptor):  # noqa: PTH208 -- of an open folder
            if name == "submission_secret.txt":
                _check_secret(name, descriptor)
            elif name.endswith(".ipynb"):
                _check_notebook(name, descriptor)


def _check_secret(name: str, folder: int) -> None:
    try:
        raw = read_regular(name, MOST_SECRET_BYTES, folder)
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text") from error
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}") from error
    if not raw:
        raise ValueError(f"{name} is empty")
    if len(raw) > MOST_SECRET_BYTES:
        raise ValueError(f"{name} is longer than {MOST_SECRET_BYTES} bytes")


def _check_notebook(name: str, folder: int) -> None:
    if not name.isprintable():
        raise ValueError(f"the name {printable(name)} of a notebook cannot be printed")
    try:
        descriptor = open_regular(name, folder)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or error}") from error
    try:
        if os.fstat(descriptor).st_size > MOST_NOTEBOOK_BYTES:
            raise ValueError(f"{name} is larger than {MOST_NOTEBOOK_BYTES:,} bytes")
    finally:
        os.close(descriptor)
