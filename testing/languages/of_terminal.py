"""The sentences of `labs doctor`, and what other commands say in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from testing.languages.in_code import on_the_screen
from testing.languages.sentence import DOCTOR, Sentence

ROOT = Path(__file__).resolve().parents[2]
#: Where `labs doctor` says what it saw, and what to do about it.
_OF_DOCTOR = (
    "labs/machine/fitness.py",
    "labs/machine/fitness_by_facts.py",
    "labs/machine/fitness_by_trials.py",
    "labs/machine/probes.py",
    "labs/hand_in/exchange_rights.py",
    "labs/commands/doctor.py",
    "labs/c_kernels/toolchain.py",
)
#: What is written otherwise there, or comes from the program that tries to pin.
_WORDS_OF_DOCTOR = ("disk", "cache", "exchange")
_WITH_VALUES_OF_DOCTOR = (
    "CPU {cpu} was asked for and not obtained",
    "yes ({hypervisor})",
)
#: What a program or a shell reads, and no person.
_NOT_READ = re.compile(r"it runs$|\n?import |#include |sudo install ")


def doctor() -> Iterator[Sentence]:
    """What `labs doctor` says, also to an administrator."""
    yield from (Sentence(text, DOCTOR, "labs doctor") for text in _WORDS_OF_DOCTOR)
    yield from (Sentence(text, DOCTOR, "labs doctor", True) for text in _WITH_VALUES_OF_DOCTOR)
    yield from _of(_OF_DOCTOR, DOCTOR)


def _of(modules: Iterable[str], part: str) -> Iterator[Sentence]:
    for where in modules:
        for text, holds_values in on_the_screen(ROOT / where):
            if not _NOT_READ.match(text):
                yield Sentence(text, part, where, holds_values)
