"""Registers overwritten in silence: a run that does not end names them only if the C shows it.

A run that ended names them too: it ended by luck.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from labs import paths
from labs.c_kernels import toolchain
from labs.notebook import explain
from labs.recording import file
from labs.run.c_process import RunFailed
from testing.paths import FIXTURES

GOOD = 'asm volatile("syscall" : "=a"(r) : "a"(SYS_read), "D"(fd) : "rcx", "r11", "memory");'
WITHOUT_ANY = 'asm volatile("syscall" : "=a"(r) : "a"(SYS_read), "D"(fd));'
WITHOUT_ONE = '__asm__("mov $39, %%eax; syscall" : "=a"(r) : : "rcx");'


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        (GOOD, ()),
        (WITHOUT_ANY, ("rcx", "r11")),
        (WITHOUT_ONE, ("r11",)),
        (GOOD + "\n" + WITHOUT_ONE, ("r11",)),
        ('asm volatile("syscall" : "=a"(r), "+c"(buffer) : "b"(fd) : "r11");', ()),
        ('asm volatile("syscall" : "=a"(r) : "c"(buffer) : "r11");', ("rcx",)),
        (f"/* {WITHOUT_ANY} */ {GOOD} // {WITHOUT_ANY}", ()),
        (f"{GOOD} {WITHOUT_ANY} /* so far", ("rcx", "r11")),
        ("/*" * 60_000, ()),
        ('asm volatile("" : "+r"(left));', ()),
        ("syscall(SYS_getppid);", ()),
        ("asm(" * 60_000, ()),
    ],
)
def test_which_registers_are_overwritten_in_silence(source: str, missing: tuple[str, ...]) -> None:
    assert toolchain.missing_clobbers(source) == missing


def test_no_released_c_kernel_overwrites_one() -> None:
    for path in paths.kernels_c().glob("*.[ch]"):
        assert toolchain.missing_clobbers(path.read_text(encoding="utf-8")) == (), path.name


@pytest.mark.parametrize("source", [None, GOOD, WITHOUT_ANY])
def test_a_run_that_hangs_is_laid_to_the_registers_only_where_they_are_missing(
    source: str | None,
) -> None:
    ended = RunFailed("Ticklab ended own_call after the time limit of 60 s", hung=True)
    for message in (explain.of_error(ended, source), explain.of_interrupt("own_call", source)):
        words = " ".join(message.sentences)
        assert ("overwrites rcx and r11" in words) == (source == WITHOUT_ANY)
    failed = explain.of_error(RunFailed("own_call: read0: the call failed", 1), WITHOUT_ANY)
    assert "rcx" not in " ".join(failed.sentences)


def test_a_run_that_ended_by_luck_says_which_registers_to_name() -> None:
    run = file.read(FIXTURES / "honest" / "03-system-call" / "recordings" / "own.csv")
    message = explain.of_registers(run, WITHOUT_ONE)
    assert message is not None and message.tone == "note"
    assert message.heading.endswith("overwrites r11") and "rcx" not in message.sentences[1]
    assert explain.of_registers(run, GOOD) is None
    # On another machine this assembly was not compiled: the C holds it for x86-64 beside its own.
    elsewhere = replace(run, conditions={**run.conditions, "os": "Linux 6.1 aarch64"})
    assert explain.of_registers(elsewhere, WITHOUT_ONE) is None
