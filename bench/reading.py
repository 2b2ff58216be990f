"""Reading a recording from its file, and reducing it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.table import milliseconds, show
from labs import recording as recordings
from labs.result import result_of
from tests import simulate


def run(quick: bool) -> None:
    """Print how long 10,000 and 100,000 samples take to write, read and reduce."""
    rows = []
    for samples in (10_000, 100_000):
        written = simulate.run(simulate.Machine(samples=samples), 1)
        times: dict[str, list[float]] = {
            "write": [],
            "read": [],
            "check the hash": [],
            "reduce": [],
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.csv"
            for _ in range(3 if quick else 15):
                written.__dict__.pop("rows", None)  # as fresh from a run
                begin = time.perf_counter()
                written.write(path)
                times["write"].append(time.perf_counter() - begin)
                begin = time.perf_counter()
                read = recordings.read(path)
                times["read"].append(time.perf_counter() - begin)
                begin = time.perf_counter()
                assert read.intact
                times["check the hash"].append(time.perf_counter() - begin)
                begin = time.perf_counter()
                result_of(read, simulate.VARIANT)
                times["reduce"].append(time.perf_counter() - begin)
            size = f"{path.stat().st_size / 1024:.0f}"
        rows += [(name, f"{samples:,}", size, *milliseconds(each)) for name, each in times.items()]
    show(("part", "samples", "KiB", "median ms", "least", "most"), rows)
