"""The sentences of `labs doctor`, and what other commands say in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from testing.languages.in_code import on_the_screen
from testing.languages.sentence import DOCTOR, TERMINAL, Sentence

ROOT = Path(__file__).resolve().parents[2]
#: Where `labs doctor` says what it saw, and what to do about it.
_OF_DOCTOR = (
    "labs/machine/fitness.py",
    "labs/machine/probes.py",
    "labs/hand_in/exchange.py",
    "labs/commands/doctor.py",
    "labs/c_kernels/toolchain.py",
)
#: What is written otherwise there, or comes from the program that tries to pin.
_WORDS_OF_DOCTOR = ("disk", "cache", "exchange")
_WITH_VALUES_OF_DOCTOR = (
    "CPU {cpu} was asked for and not obtained",
    "yes ({hypervisor})",
)
#: What the commands of students say, and the errors that they report.
_OF_COMMANDS = (
    "labs/commands/exit_status.py",
    "labs/commands/checking.py",
    "labs/commands/guidance.py",
    "labs/commands/kernels.py",
    "labs/commands/measure.py",
    "labs/commands/start.py",
    "labs/commands/new.py",
    "labs/commands/show.py",
    "labs/files.py",
    "labs/paths.py",
    "labs/units.py",
    "labs/c_kernels/toolchain.py",
    "labs/course/student_copy.py",
    "labs/course/evidence.py",
    "labs/hand_in/archive.py",
    "labs/hand_in/exchange.py",
    "labs/pages/web_page.py",
    "labs/recording/file.py",
    "labs/recording/file.py",
    "labs/run/broken.py",
    "labs/run/plan.py",
    "labs/run/c_process.py",
    "labs/run/variants.py",
    "grader/own_report/__main__.py",
)
#: Words of these commands that are no sentences, and how values are put together there.
_WORDS = (
    "interrupted",
    "withdrawn",
    "page",
    "C library",
    "optimisation",
    "measured",
    "is not a regular file",
    "is a symbolic link; hand in the file itself",
)
_WITH_VALUES = (
    "has {number_1} bytes; at most {number_2} are read",
    "{number_1} file",
    "{number_1} files",
    "{number_1} labs",
    "{passed} of {rows} figures {word} the check; {there} {word_2} not, and {rows_2} {word_3} not "
    "handed in.",
    "There is no folder of {absent}.",
    "no PDF: {error}",
    "no lab {lab}",
    "yes, in a container ({container})",
    "{number_1} online; the runs may use {allowed}",
    "{counter}, {number_1} MHz, step {number_2} tick ({number_3} ns)",
    "{counter}, {number_1} MHz, step {number_2} ticks ({number_3} ns)",
    "to CPU {number_1}",
    "none ({why})",
    "{recording}, line {number_1}",
)
#: What the OS says of a file, as Python reads it where no other language is set.
_OF_OS = (
    "No such file or directory",
    "Permission denied",
    "Operation not permitted",
    "File exists",
    "Not a directory",
    "Is a directory",
    "Read-only file system",
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "File name too long",
    "Too many open files",
    "Too many levels of symbolic links",
)
#: What a program or a shell reads, and no person.
_NOT_READ = re.compile(
    r"it runs$|\n?import |#include |sudo install |\s*labs [\w-]+(?:$| \{path| \\1| A B| FILE)"
    r"|`labs start` keeps |Archive:  |In it \(|What the check said|python -m |print the page to a"
    r"|the author's name|the folder that holds|the page$|Google Chrome|Microsoft Edge"
    r"|ticklab recording|variant,|\^variant|# \(|the first cell\(|Wrong on purpose$|Run with$"
    r"|The recording \{name|cannot read \{path\}: $|\{path\} $"
)


def doctor() -> Iterator[Sentence]:
    """What `labs doctor` says, also to an administrator."""
    yield from (Sentence(text, DOCTOR, "labs doctor") for text in _WORDS_OF_DOCTOR)
    yield from (Sentence(text, DOCTOR, "labs doctor", True) for text in _WITH_VALUES_OF_DOCTOR)
    yield from _of(_OF_DOCTOR, DOCTOR)


def terminal() -> Iterator[Sentence]:
    """What the commands of students say that is not about a result."""
    yield from (Sentence(text, TERMINAL, "words of commands") for text in _WORDS)
    yield from (Sentence(text, TERMINAL, "words of commands", True) for text in _WITH_VALUES)
    yield from (Sentence(text, TERMINAL, "errors of the OS") for text in _OF_OS)
    yield from _of(_OF_COMMANDS, TERMINAL)


def _of(modules: Iterable[str], part: str) -> Iterator[Sentence]:
    for where in modules:
        for text, holds_values in on_the_screen(ROOT / where):
            if not _NOT_READ.match(text):
                yield Sentence(text, part, where, holds_values)
