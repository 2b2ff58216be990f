"""`python -m bench adding_a_lab`: the example lab, made by whoever types docs/adding-a-lab.md.

A copy of the source gets each file and line of the pages, and each command is typed there, in their
order. The runs of the example need a machine that is not too busy.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bench.pages.shell import Shell, TooLong
from bench.report import must_hold, say, skipped, verdict
from support.example_lab import BadPage, Step, Type, all_steps, carry_out
from support.paths import REPOSITORY
from support.programs import call

#: They set up the environment in which this benchmark runs, and run all tests.
_NOT_TYPED = ("make quick", "make test", "source .venv/bin/activate")
_MOST_SHOWN = 3000


def run(quick: bool) -> bool:
    """The whole way; with `quick`, without the tests with nbgrader."""
    must_hold("who follows docs/adding-a-lab.md has a lab that passes its tests")
    steps = [step for step in all_steps() if _is_typed(step, quick)]
    with tempfile.TemporaryDirectory(prefix="ticklab-example-") as folder:
        home, tree = Path(folder), Path(folder) / "ticklab"
        _copy(tree)
        with Shell(tree, _environment(home, tree)) as shell:
            done, fault = 0, ""
            for step in steps:
                if fault := _carried_out(step, tree, shell):
                    say(f"   {fault}")
                    break
                done += 1
    return verdict(not fault and done > 0, f"{done} of {len(steps)} steps")


def _is_typed(step: Step, quick: bool) -> bool:
    """Whether the benchmark carries out a step; it says so of each command that it leaves out."""
    if not isinstance(step, Type):
        return True
    if step.command in _NOT_TYPED:
        skipped(f"`{step.command}`: it needs another environment, or runs all tests")
        return False
    if quick and "tests/with_nbgrader" in step.command:
        skipped(f"`{step.command}`: it takes minutes")
        return False
    return True


def _carried_out(step: Step, tree: Path, shell: Shell) -> str:
    """What is wrong with a step of the page; '' if it works."""
    if not isinstance(step, Type):
        try:
            carry_out(step, tree)
        except (BadPage, OSError) as error:
            return str(error)
        return ""
    say(f"   {step.command}")
    try:
        ran = shell.run(step.command)
    except TooLong as error:
        return f"{step.command}: it does not end: {error}"
    if ran.status != 0:
        return f"{step.command}: status {ran.status}: {ran.said[-_MOST_SHOWN:]}"
    return ""


def _copy(tree: Path) -> None:
    """The files that git has, as they are now."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = call(*words, cwd=REPOSITORY, check=True)
    for name in listed.stdout.split("\0"):
        if name and (REPOSITORY / name).is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / name).read_bytes())


def _environment(home: Path, tree: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    kept = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
    return {**kept, "HOME": str(home), "PATH": path, "PYTHONPATH": str(tree)}
