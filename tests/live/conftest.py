"""The class that students, and strangers, of a file of tests find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.live_class import LiveClass, running


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveClass]:
    with running(tmp_path_factory.mktemp("cache"), "--share", "127.0.0.1") as made:
        yield made
