"""C next to a recording that makes a pattern try many places, or a parser go deep."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from labs.c_kernels.toolchain import source_hash
from labs.limits import MOST_SOURCE_BYTES
from labs.recording.file import read
from support.hostile.case import HONEST, Hostile, changed_fixture
from support.paths import FIXTURES

#: What is repeated in the C, up to the largest file that is read.
UNITS = {
    "blanks in a call": ("sem_wait(", " ", "x"),
    "blanks after a semicolon": (";", " ", "x"),
    "casts to void": ("", "; (void) ", "x"),
    "blanks after asm": ("asm", " ", "x"),
    "asm": ("", "asm volatile(", "x"),
    "calls of pointers": ("", "(*", "x"),
    "open parentheses": ("", "(", ""),
    "open braces": ("", "f(){", ""),
    "quotes": ("", '"\\', ""),
    "comments": ("", "/*", ""),
    "moves": ('asm("syscall ', "mov a ", '");'),
    "assignments": ("", "a = counter", ";"),
    "words before a brace": ("", "a", "("),
    "returns": ("return ", " ", "kill"),
    "digits": ("overhead = ", "1", " "),
    "defines": ("", "#define a b\n", ""),
    "escaped line ends": ("", "#define a \\\n", ""),
    "marks": ("", "/* measured region begins */", ""),
}
#: Submissions whose verdicts read the C: folder, lab, and the recording with C next to it.
READERS = {
    "timers": (HONEST / "01-timer-overhead", "01-timer-overhead", "own"),
    "semaphores": (
        FIXTURES / "pitfalls" / "own-semaphore" / "wrong",
        "06-process-and-thread-switch",
        "thread",
    ),
}


def _insert(name: str, unit: tuple[str, str, str], folder: Path) -> None:
    """Put the text behind each mark of the measured region, or at the end if there is none."""
    path = folder / "recordings" / f"{name}.csv"
    source = path.with_suffix(".c")
    stated = read(path).conditions["source.sha256"]
    c = source.read_text(encoding="utf-8") if source.exists() else "int main(void) {}\n"
    before, again, after = unit
    room = (MOST_SOURCE_BYTES - 4 * len(c)) // 2
    padding = before + again * (room // len(again)) + after
    c = f"{c}\n/* measured region begins */\n{padding}\n/* measured region ends */\n{padding[:99]}"
    source.write_text(c, encoding="utf-8")
    content = path.read_bytes().replace(stated.encode(), source_hash(c).encode())
    path.write_bytes(content)


CASES = [
    Hostile(
        f"{what}, {reader}",
        "c text",
        lab,
        changed_fixture(saved, partial(_insert, name, unit)),
    )
    for reader, (saved, lab, name) in READERS.items()
    for what, unit in UNITS.items()
]
