"""A run that does not end: what is said of it names a cause only if the C shows it."""

from __future__ import annotations

import pytest

from labs.c_kernels import clobbers
from labs.common import paths
from labs.notebook import explain
from labs.run.c_process import RunFailed

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
        ('asm volatile("" : "+r"(left));', ()),
        ("syscall(SYS_getppid);", ()),
        ("asm(" * 60_000, ()),
    ],
)
def test_which_registers_are_overwritten_in_silence(source: str, missing: tuple[str, ...]) -> None:
    assert clobbers.missing(source) == missing


def test_no_released_c_kernel_overwrites_one() -> None:
    for path in paths.kernels_c().glob("*.[ch]"):
        assert clobbers.missing(path.read_text(encoding="utf-8")) == (), path.name


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
