"""What a command in the sandbox may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes. `memory` holds for each process, and for all of them together.

    `cpu_s` holds for each process and `wall_s` for the whole command. `scratch` is the size of the
    folder /student and of /tmp, which live in memory beyond `memory`, and `files` is how many files
    each of them may hold.
    """

    memory: int = 1_000_000_000
    processes: int = 64
    cpu_s: int = 20
    wall_s: float = 30.0
    output: int = 8_000_000
    file_bytes: int = 64_000_000
    scratch: int = 128_000_000
    files: int = 5_000
    open_files: int = 128
