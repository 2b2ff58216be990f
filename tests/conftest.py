"""What every test shares: a cache of its own, so that no test meets what another run left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Built C kernels go to a folder of this session; children inherit it."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("TICKLAB_CACHE")
    os.environ["TICKLAB_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["TICKLAB_CACHE"]
    else:
        os.environ["TICKLAB_CACHE"] = before
