"""`python -m bench pages`: the commands of each page for people, typed in order into a terminal.

Each page has a home folder of its own, a fresh copy of the source, and what a person would have
before it. Files that come from elsewhere, such as an archive of Canvas, are put there before the
command that reads them. The kit is installed in an environment that only the benchmark uses: a page
may install something too. It installs packages, so it needs an index of packages. `commands.py`
lists the commands that are not typed, with the reason.
"""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.pages import brought, commands, written
from bench.pages.shell import Ran, Shell, TooLong
from bench.report import must_hold, say, skipped, verdict

#: What runs until Control-C, and what it prints when it is ready.
_GOES_ON = {
    "labs start": "token=",
    "make lab": "token=",
    "jupyter lab": "token=",
    "docker run": "token=",
    "labs watch": "press Control-C",
}
#: Where these fail, what needs them is left out, and the bench says so.
_NEEDS = {
    "conda": "conda --version",
    "docker": "docker info",
    "strace": "strace --version",
    "taskset": "taskset --version",
}
#: Settings of the machine, and not of whoever runs the benchmark.
_KEPT = ("LANG", "PIP_INDEX_URL", "DOCKER_HOST")


@dataclass(frozen=True)
class Page:
    """A page, and what its reader has: an `installed` kit, and where the reader `begins`.

    Before the command `later[0]`, the reader goes to the folder that `later[1]` gives.
    """

    path: str
    installed: bool = True
    begins: Callable[[Path], Path] = brought.source
    later: tuple[str, Callable[[Path], Path]] | None = None
    #: The status that the page announces for a command, where it is not 0.
    ends: Mapping[str, int] = field(default_factory=dict)


#: The class of these pages has not used nbgrader's exchange, and who has not is refused.
RELEASE_FEEDBACK = {"nbgrader release_feedback 01-timer-overhead": 1}
#: One figure of the lab is there: the others are not handed in, and the archive lacks them.
INCOMPLETE = {"grader check .": 1, "labs hand-in": 1}
PAGES = (
    Page("docs/students/start.md", installed=False, ends=INCOMPLETE),
    Page("docs/students/where-it-runs.md", begins=brought.empty_folder),
    Page("docs/instructors/monday.md", installed=False),
    Page(
        "docs/instructors/evening.md",
        begins=brought.empty_folder,
        ends=RELEASE_FEEDBACK,
    ),
    Page("docs/instructors/handing-in.md", begins=brought.lab_folder),
    Page("docs/instructors/hub-and-laptops.md", begins=brought.empty_folder),
    Page("docs/instructors/integrity.md", begins=brought.course_with_anna),
    Page("docs/instructors/privacy.md", begins=brought.empty_folder),
    # It says that some of its commands need the folder of the source.
    Page("docs/measuring.md"),
    Page("docs/own-function.md", begins=brought.empty_folder),
    Page("docs/defended-figure.md", begins=brought.empty_folder),
    Page("docs/submission.md", begins=brought.empty_folder, ends={"grader check .": 1}),
    Page("README.md", later=("labs doctor", brought.lab_folder)),
    Page(
        "docs/instructors/grading/course.md",
        begins=brought.demonstration,
        ends=RELEASE_FEEDBACK,
    ),
    Page("docs/instructors/grading/collecting.md", begins=brought.beside_my_course),
    Page("docs/instructors/grading/whole-class.md", begins=brought.demonstration),
    Page("docs/instructors/grading/running-code.md", begins=brought.course_with_anna),
    Page("CONTRIBUTING.md", installed=False, begins=brought.checkout),
)
#: Nothing is graded or made by `make` in these.
QUICK = ("privacy.md", "submission.md", "hub-and-laptops.md", "own-function.md")


def run(quick: bool) -> bool:
    """All pages; with `quick`, those in which nothing is graded or made by `make`."""
    must_hold("a person who types the commands of a page in order gets what the page says")
    held = True
    with tempfile.TemporaryDirectory(prefix="ticklab-page-") as own:
        programs = brought.installed(Path(own))
        for page in PAGES:
            if quick and not page.path.endswith(QUICK):
                continue
            with tempfile.TemporaryDirectory(prefix="ticklab-page-") as home:
                held &= _followed(page, Path(home), programs)
    return held


def _followed(page: Page, home: Path, programs: Path) -> bool:
    faults, count = [], 0
    variables = _environment(home, programs if page.installed else None)
    with Shell(page.begins(home), variables) as shell:
        for _, command in commands.of_page(page.path):
            if commands.why_not_typed(command):
                continue
            if lacking := _lacks(command.split()[0]):
                skipped(f"{page.path}: `{command}`: `{lacking}` fails on this machine")
                continue
            if page.later is not None and command == page.later[0]:
                shell.run(f"cd {page.later[1](home)}")
            count += 1
            try:
                brought.before(command, shell.folder, home)
                written.before(page.path, command, shell.folder)
                ran = _typed(shell, command)
            except (TooLong, ValueError, subprocess.CalledProcessError) as error:
                faults.append(f"{command}: {error} {getattr(error, 'output', None) or ''}")
                break
            if ran.status != page.ends.get(command, 0):
                faults.append(f"{command}: status {ran.status}: {ran.said[-600:]}")
    for fault in faults:
        say(f"   {fault}")
    return verdict(not faults and count > 0, f"{page.path}: {count} commands, {len(faults)} faults")


@functools.lru_cache
def _lacks(program: str) -> str:
    """The command that fails where what `program` needs is missing; empty where nothing is."""
    trial = _NEEDS.get(program, "")
    try:
        done = subprocess.run(trial.split() or ["true"], capture_output=True, check=False)
    except OSError:
        return trial
    return trial if done.returncode else ""


def _typed(shell: Shell, command: str) -> Ran:
    for name, ready in _GOES_ON.items():
        if name in command and "--no-lab" not in command:
            ran = shell.run_until(command, ready)
            # Control-C ends it, which each program reports in its own way.
            return Ran(0 if ran.status in {0, 2, 130} else ran.status, ran.said)
    return shell.run(command)


def _environment(home: Path, programs: Path | None) -> dict[str, str]:
    """Without settings of whoever runs the benchmark, and with a browser that shows nothing."""
    path = "/usr/local/bin:/usr/bin:/bin"
    if programs is not None:
        path = f"{programs}:{path}"
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **brought.settings(home), "HOME": str(home), "PATH": path, "BROWSER": "true"}
