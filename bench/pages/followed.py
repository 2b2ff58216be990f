"""`python -m bench pages`: the commands of each page for people, typed in order into a terminal.

Each page has a home folder of its own, a fresh copy of the source, and what a person would have
before it. Files that come from elsewhere, such as an archive of Canvas, are put there before the
command that reads them. It installs packages, so it needs an index of packages.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.pages import brought
from bench.pages.shell import Ran, Shell, TooLong
from bench.report import must_hold, say, skipped, verdict
from testing.paths import REPOSITORY

#: A block with its language, or lines that are indented as code.
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$|^((?:    \S[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(
    r"(labs|grader|nbgrader|jupyter|make|conda|docker|cd|source|python3?|pip|taskset) "
)
#: `make test` is not a step of a page, and `make bench` runs the benchmarks: this is one of them.
_ELSEWHERE = ("make test", "make bench", "-m bench")
#: What runs until Control-C, and what it prints when it is ready.
_GOES_ON = {
    "labs start": "token=",
    "make lab": "token=",
    "jupyter lab": "token=",
    "labs watch": "press Control-C",
}
#: The status that a page announces, where it is not 0.
_STATUS = {
    "taskset -c 1 labs measure process_switch --variant pipe-pinned --cpu 0": 2,
    "taskset -c 1 labs measure process_switch --variant pipe-two-cpus": 3,
    "nbgrader release_feedback 01-timer-overhead": 1,  # it refuses those who did not use it
}
#: Where these fail, what needs them is left out, and the bench says so.
_NEEDS = {"conda": "conda --version", "docker": "docker info", "taskset": "taskset --version"}


@dataclass(frozen=True)
class Page:
    """A page, and what its reader has: `installed` programs, and where the reader `begins`.

    Before the command `later[0]`, the reader goes to the folder that `later[1]` gives.
    """

    path: str
    installed: bool = True
    begins: Callable[[Path], Path] = brought.source
    later: tuple[str, Callable[[Path], Path]] | None = None


PAGES = (
    Page("docs/students/start.md", installed=False),
    Page("docs/instructors/monday.md", installed=False),
    Page("docs/instructors/evening.md", begins=brought.empty_folder),
    Page("docs/instructors/handing-in.md", begins=brought.lab_folder),
    Page("docs/instructors/hub-and-laptops.md", begins=brought.empty_folder),
    Page("docs/instructors/integrity.md", begins=brought.course_with_anna),
    Page("docs/instructors/privacy.md", begins=brought.empty_folder),
    Page("docs/measuring.md", begins=brought.lab_folder),
    Page("docs/submission.md", begins=brought.lab_folder),
    Page("README.md", later=("labs doctor", brought.lab_folder)),
    Page("docs/grading.md", begins=brought.empty_folder),
)


def run(quick: bool) -> bool:
    """All pages; with `quick`, those for which nothing is installed or graded."""
    must_hold("a person who types the commands of a page in order gets what the page says")
    held = True
    for page in PAGES:
        if quick and not page.path.endswith(("privacy.md", "submission.md", "hub-and-laptops.md")):
            continue
        with tempfile.TemporaryDirectory(prefix="ticklab-page-") as home:
            held &= _followed(page, Path(home))
    return held


def commands_of(text: str) -> Iterator[str]:
    """The commands of a page, one after the other, without the comments behind them."""
    for language, fenced, indented in _BLOCK.findall(text):
        for line in () if language else (fenced or indented).splitlines():
            command = re.split(r"\s+# ", line.strip())[0]
            if _COMMAND.match(f"{command} ") and not any(each in command for each in _ELSEWHERE):
                yield command


def _followed(page: Page, home: Path) -> bool:
    text = (REPOSITORY / page.path).read_text(encoding="utf-8")
    faults, count = [], 0
    with Shell(page.begins(home), _environment(home, page.installed)) as shell:
        for command in commands_of(text):
            words = command.split()
            if not _has(words[0]):
                skipped(f"{page.path}: `{command}`: `{_NEEDS[words[0]]}` fails on this machine")
                continue
            if page.later is not None and command == page.later[0]:
                shell.run(f"cd {page.later[1](home)}")
            count += 1
            try:
                brought.before(command, shell.folder, home)
                ran = _typed(shell, command)
            except (TooLong, subprocess.CalledProcessError) as error:
                faults.append(f"{command}: {error}")
                break
            if ran.status != _STATUS.get(command, 0):
                faults.append(f"{command}: status {ran.status}: {ran.said[-600:]}")
    for fault in faults:
        say(f"   {fault}")
    return verdict(not faults and count > 0, f"{page.path}: {count} commands, {len(faults)} faults")


@functools.lru_cache
def _has(program: str) -> bool:
    """Whether what `program` needs is there."""
    if program not in _NEEDS:
        return True
    words = _NEEDS[program].split()
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _typed(shell: Shell, command: str) -> Ran:
    for name, ready in _GOES_ON.items():
        if name in command and "--no-lab" not in command:
            ran = shell.run_until(command, ready)
            # Control-C ends it, which each program reports in its own way.
            return Ran(0 if ran.status in {0, 2, 130} else ran.status, ran.said)
    return shell.run(command)


def _environment(home: Path, installed: bool) -> dict[str, str]:
    """Without settings of whoever runs the benchmark, and with a browser that shows nothing."""
    path = "/usr/local/bin:/usr/bin:/bin"
    if installed:
        path = f"{Path(sys.executable).parent}:{path}"
    kept = {name: os.environ[name] for name in ("LANG", "PIP_INDEX_URL") if name in os.environ}
    return {**kept, **brought.settings(home), "HOME": str(home), "PATH": path, "BROWSER": "true"}
