"""A set of recordings: several rounds of every released variant, saved to be reduced again.

A set is a folder with a folder for each round, which holds a recording for each job of
`python -m bench repeat`. A recording is there completely or not at all, so a set whose recording
was interrupted is continued by the same command.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from bench.figures.repeat import KERNELS, Job, in_state, jobs, possible_in
from bench.report import must_hold, say, verdict
from labs.files import write_atomically
from labs.machine.description import read_machine
from labs.run.measure import measure_now

ROUNDS = 6
#: Says of which machine a set is, and in which state.
ABOUT = "about.txt"


class BadSet(ValueError):
    """A folder is no set of recordings, or one of another machine or state."""


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The recordings of each job of a set, in the order of the rounds. Raises BadSet."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("round-*/*.csv")):
        found[path.name].append(path)
    if not any(len(paths) > 1 for paths in found.values()):
        raise BadSet(
            f"{folder}: no two rounds (round-00, round-01, ...) with recordings of the same name; "
            "make a set with `python -m bench ablation --record DIR`"
        )
    return dict(found)


def record(folder: Path, rounds: int, kernels: Sequence[str], state: str) -> bool:
    """Record what the set in `folder` lacks of so many rounds, of these C kernels or of all.

    Whether every recording is there afterwards.
    """
    must_hold(f"{rounds} recordings of every job in {folder}, taken on a {state} machine")
    try:
        _agree_about(folder, f"{state}; {read_machine().cpu}\n")
    except BadSet as error:
        return verdict(False, str(error))
    mine = [job for job in jobs(kernels or KERNELS) if possible_in(state, job)]
    missing, before = 0, 0
    for number in range(rounds):
        say(f"   round {number + 1} of {rounds}")
        for job in mine:
            path = folder / f"round-{number:02}" / _name(job)
            if path.exists():
                before += 1
                continue
            try:
                with in_state(state):
                    measure_now(job.plan).write(path)
            except (RuntimeError, OSError, ValueError) as error:
                say(f"   {path.name}: {error}")
                missing += 1
    every = rounds * len(mine)
    return verdict(
        not missing,
        f"{every - missing} of {every} recordings are there, {before} of them from before"
        + ("; the same command tries the others again" if missing else ""),
    )


def _name(job: Job) -> str:
    """The file's name, which no other job has."""
    return f"{job.plan.kernel}{job.label.replace(' ', '')}-{job.plan.variants[0]}.csv"


def _agree_about(folder: Path, about: str) -> None:
    """Write of which machine and state the set is. Raises BadSet if it is of others."""
    path = folder / ABOUT
    if not path.exists():
        write_atomically(path, about.encode())
    elif (known := path.read_text(encoding="utf-8")) != about:
        raise BadSet(
            f"{folder}: holds recordings of another machine or state ({known.strip()}, not "
            f"{about.strip()}); name another folder"
        )
