"""Collects submissions from nbgrader's exchange; a bad submission does not stop the others.

Every student may write to the exchange folder. nbgrader's own collecting follows links. At the
first name or folder that it does not expect, it ends for the whole class.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grader.submissions.safe_copy import Limits, printable, take_in

_NEVER = datetime.datetime.min
_LARGEST_FOLDER = 100_000_000


class CarefulCollect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's collecting, but it copies only regular files and does not end early."""

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Who submitted the folder `path`, and when; if the name does not say, `_NEVER`."""
        try:
            record: dict[str, Any] = super()._path_to_record(path)
        # The parser of dates raises exceptions of many kinds besides ValueError.
        except Exception:
            return {"username": "", "filename": Path(path).name, "timestamp": _NEVER}
        return record

    def init_src(self) -> None:
        """Finds the newest folder of each student; skips names that are not of a student."""
        super().init_src()
        found: list[dict[str, Any]] = vars(self)["src_records"]
        good = []
        for record in found:
            student = record["username"]
            if record["timestamp"] == _NEVER or student in {"", ".", ".."} or "/" in student:
                name = printable(record["filename"])
                self.log.warning("%s is not the name of a submission: not collected", name)
            else:
                good.append(record)
        self.src_records = good

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copies one submission and logs what it leaves out; an error does not stop others."""
        course = self.coursedir
        limits = Limits(file_bytes=1000 * course.max_file_size, total_bytes=_LARGEST_FOLDER)
        try:
            left_out = take_in(Path(src), Path(dest), course.ignore, limits)
        except OSError as error:
            self.log.error("%s could not be collected: %s", printable(src, 300), error)
            return
        for note in left_out:
            self.log.warning("%s: left out %s", printable(Path(src).name), note)
