"""Lab 08's own C is judged by what it calls: a repair takes the place of the library's call.

The imports of the built program say which lines are left. Nothing has to run for that.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from grader.figures.verdict import Outcome
from labs import paths
from labs.c_kernels import toolchain
from labs.course import guide
from labs.recording.file import read
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail
from support.paths import FIXTURES

TRAP = "trap(SYS_gettimeofday, (long)&today, 0, 0) == 0"
LIBRARY = "gettimeofday(&today, NULL) == 0"

BEGIN = '#include "own_call.h"\n#include <sys/time.h>\n#include <time.h>'
HELPER = (
    f"static int by_library(struct timeval *at) {{ return {LIBRARY.replace('&today', 'at')}; }}"
)


def own(body: str, before: str = "") -> str:
    return (
        f"{before}\nTICKLAB_INLINE int own_gettimeofday@(long fd)\n{{\n"
        f"    static struct timeval today;\n    (void)fd;\n    {body}\n}}"
    )


RIGHT = {
    "replaced": own(f"return {TRAP};"),
    "in front": own(f"return {TRAP};\n    return fd >= 0 && {LIBRARY};"),
    "other name": own("return trap(__NR_gettimeofday, (long)&today, 0, 0) == 0;"),
    "looks at the time": own(f"int worked = {TRAP};\n    return worked && today.tv_sec > 0;"),
    "never reached": own(f"if (0)\n        return {LIBRARY};\n    return {TRAP};"),
    "unused function": own(f"return {TRAP};", before=f"__attribute__((unused)) {HELPER}"),
}
BESIDE, OTHER, BY_LIBRARY = "library-call-beside-trap", "another-call", "call-not-by-hand"
#: Each with its finding, and words of the evidence.
WRONG = {
    "a line more": (
        own(f"int worked = fd >= 0 && {LIBRARY};\n    worked = {TRAP};\n    return worked;"),
        BESIDE,
        "also calls gettimeofday()",
    ),
    "as a check": (own(f"return {TRAP} && {LIBRARY};"), BESIDE, "also calls gettimeofday()"),
    "in a function": (
        own(f"return {TRAP} && by_library(&today);", before=HELPER),
        BESIDE,
        "also calls gettimeofday()",
    ),
    "another clock": (
        own(f"struct timespec at;\n    return clock_gettime(CLOCK_REALTIME, &at) == 0 && {TRAP};"),
        BESIDE,
        "also calls clock_gettime()",
    ),
    "another number": (
        own("return today.tv_sec == 0 && trap(SYS_sched_yield, 0, 0, 0) == 0;"),
        OTHER,
        "the call number of sched_yield",
    ),
    "by syscall": (
        own("return syscall(SYS_gettimeofday, &today, NULL) == 0;"),
        BY_LIBRARY,
        "calls syscall()",
    ),
    "nowhere to store it": (
        own("return today.tv_sec == 0 && trap(SYS_gettimeofday, 0, 0, 0) == 0;"),
        OTHER,
        "with a null pointer",
    ),
}

DISPATCHER = """TICKLAB_INLINE int own_gettimeofday(long fd)
{
    int worked = 0;
    CASES
    return worked;
}"""


def exercise(answers: dict[str, str]) -> Exercise:
    return Exercise(
        figure="trial-b-repaired",
        variant="gettimeofday",
        begin=BEGIN,
        answers=answers,
        dispatchers={
            DISPATCHER: "worked = own_gettimeofday@(fd)",
        },
        end='MEASURE_OWN_CALL("gettimeofday", own_gettimeofday)',
    )


#: The answers that import nothing more than the kit does, and those that do: one program each.
ALONE = exercise(RIGHT | {name: text for name, (text, code, _) in WRONG.items() if code != BESIDE})
TWO = exercise({name: text for name, (text, code, _) in WRONG.items() if code == BESIDE})


@pytest.fixture(scope="module")
def imported() -> dict[str, dict[str, str]]:
    """By answer, the condition that its recording would state."""
    stated: dict[str, dict[str, str]] = {}
    for each in (ALONE, TWO):
        names = toolchain.imported_by(toolchain.Binary(each.program, "own_call", "", (), ""))
        if names is None:
            pytest.skip("no nm on this machine")
        stated |= {name: {"program.imports": " ".join(names)} for name in each.answers}
    return stated


@LINUX
@pytest.mark.parametrize("name", RIGHT)
def test_a_call_by_hand_alone_passes_and_is_praised_for_it(
    imported: dict[str, dict[str, str]], name: str
) -> None:
    verdict = ALONE.verdict(name, imported[name])
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "no call of the C library runs beside it" in verdict.praise


@LINUX
@pytest.mark.parametrize("name", WRONG)
def test_another_call_beside_or_in_its_place_is_told(
    imported: dict[str, dict[str, str]], name: str
) -> None:
    _, code, evidence = WRONG[name]
    must_fail((TWO if code == BESIDE else ALONE).verdict(name, imported[name]), code, evidence)


def test_two_calls_for_one_or_none_are_told_by_their_count() -> None:
    for made, codes in ((16, []), (32, [OTHER]), (0, [OTHER])):
        counts = {"operations": 16, "system_calls": made}
        stated = {f"variant.gettimeofday.watched_{key}": str(n) for key, n in counts.items()}
        verdict = ALONE.verdict("replaced", stated)
        assert [finding.code for finding in verdict.findings] == codes
        if codes:
            assert f"the OS kernel got {made // 16} system calls" in verdict.findings[0].evidence


@pytest.mark.parametrize(
    ("cycles", "codes"), [(9, []), (19, []), (90, ["more-than-the-operation"])]
)
def test_what_is_left_of_a_call_without_its_trap_is_told(cycles: int, codes: list[str]) -> None:
    """syscall() of the C library leaves 7 core cycles, and a pause 90."""
    honest = read(FIXTURES / "honest" / "08-five-reports-on-trial" / "recordings" / "own.csv")
    ticks = cycles * (honest.number("core_cycle_ticks") or 0.0)
    stated = {f"variant.gettimeofday.watched_{key}": "16" for key in ("operations", "system_calls")}
    stated["variant.gettimeofday.beside_its_calls"] = f"{ticks:.2f}"
    verdict = ALONE.verdict("replaced", stated)
    assert [finding.code for finding in verdict.findings] == codes
    assert not codes or "and it still takes 90 core cycles" in verdict.findings[0].evidence


def test_the_imports_of_linux_and_of_macos_are_read() -> None:
    linux = "                 U write@GLIBC_2.2.5\n                 w __gmon_start__\n"
    assert toolchain.names_listed_by_nm(linux) == ("write",)
    assert toolchain.names_listed_by_nm("_read\n_gettimeofday\n") == ("gettimeofday", "read")


def test_a_machine_without_nm_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.imported_by(toolchain.Binary(tmp_path, "own_call", "", (), "")) is None


def test_the_register_that_the_hint_calls_lost_may_be_lost(tmp_path: Path) -> None:
    """An input may not: a compiler refuses to give it up."""
    form, last = guide.of_lab("03-system-call").hints["own"][1:]
    output, given = re.findall(r'"=?[aD]"\(\w+\)', form)
    lost = re.findall(r'LOST[^`]*`syscall`[^`]*`("\w+")`', last)
    assert lost and {name.strip('"') for name in lost} <= {"rcx", "r11"}
    if platform.machine() != "x86_64":
        return
    call = f'asm volatile("syscall" : {output} : {given}, "a"(0), "S"(0), "d"(0) : {lost[0]});'
    file = tmp_path / "hint.c"
    file.write_text(f"long f(long fd) {{ long result; {call} return result; }}\n")
    built = [*toolchain.find_compiler().command, "-c", str(file), "-o", str(tmp_path / "hint.o")]
    assert paths.run(built, 60).returncode == 0
