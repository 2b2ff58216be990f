"""`python -m bench walks`: through how many files a reader has to follow one command.

Counted are the files of `labs` and `grader` in which a function runs, in the command and in every
process that it starts. coverage.py counts them. It does not see the process in the sandbox, which
judges as `grader check` does: the files of a check count as those of `grader autograde` too.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from coverage import CoverageData

from bench.exchange.full_class import LAB, FullClass, environment
from bench.report import must_hold, show, verdict
from support.paths import REPOSITORY
from support.programs import call

#: At most so many files; those of the catalogue of pitfalls, an entry each, are not counted.
MOST = {"measure": 40, "figure": 9, "check": 70, "autograde": 90, "feedback": 22}
CATALOGUE = REPOSITORY / "grader" / "pitfalls"
#: Only the call of the student: what starts a lab is no part of this walk.
_FIGURE = """
import os, coverage
from labs import start
lab = start("01-timer-overhead")
seen = coverage.Coverage(config_file=os.environ["WALK"])
seen.start()
lab.figure("timer-overhead-fenced", 21.0, "ns", "recordings/fenced.csv")
seen.stop()
seen.save()
"""


def run(quick: bool) -> bool:
    """Every walk once; `quick` changes nothing."""
    must_hold(f"a function runs in at most so many files: {MOST}")
    with tempfile.TemporaryDirectory(prefix="ticklab-walks-") as scratch:
        made = FullClass(Path(scratch))
        made.hand_in(range(3))
        lab = made.course / "submitted" / "student-00000" / LAB
        grader = (sys.executable, "-m", "grader.commands.cli")
        labs = (sys.executable, "-m", "labs.commands.cli")
        words = {
            "measure": (*labs, "measure", "timer_overhead", "--save", f"{scratch}/run.csv"),
            "figure": (sys.executable, "-c", _FIGURE),
            "check": (*grader, "check", str(lab)),
            "autograde": (*grader, "autograde", LAB),
            "feedback": (*grader, "feedback", LAB),
        }
        found = {}
        for name, command in words.items():
            folder = lab if name == "figure" else made.course
            found[name] = set(_walked(name, command, folder, Path(scratch) / name))
        found["autograde"] |= found["check"]
    without = {
        name: {path for path in files if CATALOGUE not in path.parents}
        for name, files in found.items()
    }
    show(
        ("walk", "files", "without the catalogue", "at most"),
        [
            (name, str(len(files)), str(len(without[name])), str(MOST[name]))
            for name, files in found.items()
        ],
    )
    return verdict(
        all(len(without[name]) <= most for name, most in MOST.items()),
        ", ".join(f"{name} {len(files)}" for name, files in without.items()),
    )


def _walked(name: str, command: Sequence[str], folder: Path, data: Path) -> Iterator[Path]:
    """The files in which a function runs. Raises RuntimeError if the command fails."""
    data.mkdir()
    settings = data / "coverage.ini"
    settings.write_text(
        "[run]\nparallel = true\nsource_pkgs = labs,grader\nsigterm = true\n"
        f"concurrency = multiprocessing,thread\ndata_file = {data / 'data'}\n"
    )
    begin = "WALK" if name == "figure" else "COVERAGE_PROCESS_START"
    done = call(*command, cwd=folder, env={**environment(folder), begin: str(settings)})
    if done.returncode not in (0, 1):  # 1: a check that found something to say
        raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
    lines: dict[str, set[int]] = {}
    for part in data.glob("data.*"):
        read = CoverageData(str(part))
        read.read()
        for file in read.measured_files():
            lines.setdefault(file, set()).update(read.lines(file) or ())
    for file, ran in lines.items():
        if ran & set(_inside_functions(Path(file))):
            yield Path(file)


def _inside_functions(path: Path) -> Iterator[int]:
    """The lines of a file that run only when one of its functions is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
