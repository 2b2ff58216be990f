"""What is behind the buttons of nbgrader's formgrader, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader


@contextmanager
def formgrader_api(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NbGraderAPI]:
    """The interface behind the formgrader's buttons, configured as its server extension does it."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    app = NbGrader()
    app.initialize([], root=str(folder))
    app.authenticator = app.exchange = None
    yield NbGraderAPI(coursedir=app.coursedir, parent=app)
