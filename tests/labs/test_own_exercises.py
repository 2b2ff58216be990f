"""The exercises in C of labs 03 to 07: what is wrong with a student's C is told in plain words.

The answers to an exercise are one program, because to build each alone takes long.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from labs.messages import Refused
from labs.notebook import ckernel_magic
from labs.notebook.session import Session
from labs.results.result import naive_value, result_of
from support.c_programs import LINUX

#: Which answer is run. The program inherits it.
CHOSEN = "OWN_EXERCISE"
CHOOSE = f"""
#define _GNU_SOURCE
#include <stdlib.h>
static int chosen(void)
{{
    static int found = -1;
    if (found < 0)
        found = atoi(getenv("{CHOSEN}"));
    return found;
}}
"""

CALL = """#include "own_call.h"
TICKLAB_INLINE int own_read(long fd) {{
    long result = -1;
    {}
    return result == 0;
}}
MEASURE_OWN_CALL("read0", own_read)
"""
PROCEDURE = '#include "own_procedure.h"\n{}\nMEASURE_OWN_PROCEDURE(successor)\n'
CREATION = """#include "own_creation.h"
static pid_t own_task(void)
{{
    pid_t task = -1;
    {}
    return task;
}}
MEASURE_OWN_CREATION(own_task)
"""
SWITCH = """#include "own_switch.h"
TICKLAB_INLINE void wake(struct turns *turns, int other) {{
    {}
}}
TICKLAB_INLINE void await_turn(struct turns *turns, int own) {{
    {}
}}
MEASURE_OWN_SWITCH(wake, await_turn)
"""
SIGNAL = "pthread_cond_signal(&turns->changed[other]);"
SLEEP = "pthread_cond_wait(&turns->changed[own], &turns->mutex);"
FOOTPRINT = """#include "own_footprint.h"
static void use(const unsigned char *set, size_t bytes) {{
    unsigned sum = 0;
    {}
}}
MEASURE_OWN_FOOTPRINT(use)
"""
SHARED = "CLONE_VM | CLONE_FS | CLONE_FILES"
#: A third of the compiler's time: where no figure is looked at, its level is no matter.
PLAIN = "--flags=-O0"


def cases(bodies: Iterable[str]) -> str:
    """The statement that does what the chosen one of these does."""
    each = (f"case {number}: {{ {body} break; }}" for number, body in enumerate(bodies))
    return f"switch (chosen()) {{ {' '.join(each)} default: abort(); }}"


@pytest.fixture
def lab(tmp_path: Path) -> Session:
    return Session("03-system-call", tmp_path)


def output_of_cell(lab: Session, cell: str, line: str) -> str:
    with pytest.raises(Refused) as refused:
        ckernel_magic.measure_cell(lab, f"own {line} --samples 100 --processes 1", cell)
    return str(refused.value)


#: Calls that do not work. Only x86-64 has the registers of the last one.
NO_CALL = ["(void)fd;", "result = trap(SYS_read, -1, fd, 0);"]
if platform.machine() == "x86_64":
    operands = '"a"(SYS_read), "b"(fd), "c"(0), "d"(0)'
    NO_CALL.append(f'asm volatile("syscall" : "=a"(result) : {operands} : "r11");')


@LINUX
def test_a_call_that_does_not_work_is_told_and_one_that_works_is_measured_beside_the_floor(
    lab: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = CHOOSE + CALL.format(cases([*NO_CALL, "result = trap(SYS_read, fd, 0, 0);"]))
    for number, body in enumerate(NO_CALL):
        monkeypatch.setenv(CHOSEN, str(number))
        words = output_of_cell(lab, cell, f"--variant read0,invalid {PLAIN}")
        assert "your function says that its call did not work" in words, body
    monkeypatch.setenv(CHOSEN, str(len(NO_CALL)))
    line = f"own --variant read0,invalid --samples 400 --processes 2 {PLAIN}"
    run = ckernel_magic.measure_cell(lab, line, cell)
    assert [result.variant for result in run.results] == ["read0", "invalid"]


@pytest.mark.parametrize(
    "written",
    [
        "static int successor(int x) { return x + 1; }",
        "static long successor(int x) { return x + 1; }",
        "static long successor(long x, long y) { return x + y; }",
    ],
)
def test_a_procedure_of_another_type_is_refused(lab: Session, written: str) -> None:
    words = output_of_cell(lab, PROCEDURE.format(written), "--flags=-O2")
    assert "your procedure must read: static long successor(long x)" in words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("static long successor(long x) { return x + 1;", "a { of your C has no }"),
        ("static long successor(long x)", "cell, line 5: expected '{'"),
        ("", "'successor' undeclared"),
        ("static long successor(long x) { return y + 1; }", "'y' undeclared"),
    ],
)
def test_what_does_not_compile_is_told_of_the_cell(lab: Session, written: str, words: str) -> None:
    output = output_of_cell(lab, PROCEDURE.format(written), "--flags=-O2")
    assert words in output.replace("\u2018", "'").replace("\u2019", "'")
    assert "/kernels_c/" not in output


@pytest.mark.parametrize("attributes", ["", "__attribute__((noinline, const)) "])
def test_a_procedure_of_the_right_type_is_measured(lab: Session, attributes: str) -> None:
    written = f"static {attributes}long successor(long x) {{ return x + 1; }}"
    line = "own --samples 100 --processes 1 --flags=-O2"
    run = ckernel_magic.measure_cell(lab, line, PROCEDURE.format(written))
    assert len(run.recording.samples("own").ticks) == 100


#: Tasks that cannot be timed, and what is said of them.
NO_TASK = {
    "": "no task: did it ask for one?",
    "task = clone(raise_number, NULL, SIGCHLD, NULL);": "no task: Invalid argument",
    "task = clone(raise_number, STACK_TOP, CLONE_THREAD, NULL);": "CLONE_THREAD needs two",
    f"task = clone(raise_number, STACK_TOP, {SHARED}, NULL);": "must hold SIGCHLD",
    f"task = clone(raise_number, STACK_TOP, {SHARED} | CLONE_SIGHAND | CLONE_THREAD | SIGCHLD, "
    "NULL);": "not CLONE_THREAD",
    "task = fork();": "returned in the new task as well",
    "task = fork(); if (task == 0) _exit(3);": "did not end with status 0",
    "task = fork(); if (task == 0) abort();": "ended by signal 6",
}


@LINUX
def test_a_task_that_cannot_be_timed_is_told_and_the_task_tried_first_is_not_counted(
    lab: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = f"task = clone(raise_number, STACK_TOP, {SHARED} | SIGCHLD, NULL);"
    cell = CHOOSE + CREATION.format(cases([*NO_TASK, right]))
    for number, (body, words) in enumerate(NO_TASK.items()):
        monkeypatch.setenv(CHOSEN, str(number))
        assert words in output_of_cell(lab, cell, f"--variant own,fork {PLAIN}"), body
    monkeypatch.setenv(CHOSEN, str(len(NO_TASK)))
    line = f"own --variant own,fork --samples 40 --processes 2 {PLAIN}"
    taken = ckernel_magic.measure_cell(lab, line, cell).recording
    assert taken.total("variant.own.seen") == taken.total("variant.own.created")


def test_a_run_that_is_not_there_is_told_with_those_that_are(lab: Session) -> None:
    with pytest.raises(Refused, match="there is no run 'naive' yet") as refused:
        lab.runs["naive"]
    assert "There is" not in str(refused.value)
    line = f"own --samples 100 --processes 1 --save mine {PLAIN}"
    cell = PROCEDURE.format("static long successor(long x) { return x + 1; }")
    ckernel_magic.measure_cell(lab, line, cell)
    with pytest.raises(Refused, match="There is mine, own"):
        lab.runs["naive"]
    assert lab.runs.get("naive") is None


# ------------------------------------------------------------------------------------ lab 06


UNLOCKED = "pthread_mutex_unlock(&turns->mutex); {} pthread_mutex_lock(&turns->mutex);"
NOBODY = "each thread waits for the other"
#: How one thread wakes the other, how it waits, and what is said of that; "" of what is right.
WAYS = {
    "looks only once": (SIGNAL, f"if (turns->turn == own) {SLEEP}", "look at the turn before you"),
    "waits with the mutex": (SIGNAL, "while (turns->turn != own);", NOBODY),
    "wakes nobody": ("(void)other;", f"while (turns->turn != own) {SLEEP}", NOBODY),
    "no wait": (SIGNAL, "(void)own;", "sleep until turns->turn is own"),
    "spins": (
        SIGNAL,
        f"while (turns->turn != own) {{ {UNLOCKED.format('')} }}",
        "the thread that waits runs until its time slice is over",
    ),
    "asleep": (SIGNAL, f"while (turns->turn != own) {SLEEP}", ""),
    "yielding": (
        SIGNAL,
        f"while (turns->turn != own) {{ {UNLOCKED.format('sched_yield();')} }}",
        "",
    ),
}
#: An interval of the first three never ends. The run gives up after five seconds, here after one.
SOONER = """
#include <unistd.h>
#define alarm(seconds) alarm((seconds) > 0 && chosen() < 3 ? 1 : (seconds))
"""


@pytest.fixture
def hand_over(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """The C of all ways; the one of this name is chosen."""

    def cell(name: str) -> str:
        monkeypatch.setenv(CHOSEN, str(list(WAYS).index(name)))
        wakes, waits = ([way[place] for way in WAYS.values()] for place in (0, 1))
        return CHOOSE + SOONER + SWITCH.format(cases(wakes), cases(waits))

    return cell


@LINUX
@pytest.mark.parametrize("name", [name for name, (*_, said) in WAYS.items() if said])
def test_a_hand_over_that_is_none_is_told_as_such(
    lab: Session, hand_over: Callable[[str], str], name: str
) -> None:
    assert WAYS[name][2] in output_of_cell(lab, hand_over(name), f"--variant own {PLAIN}")


@LINUX
@pytest.mark.parametrize("name", [name for name, (*_, said) in WAYS.items() if not said])
def test_a_hand_over_is_measured_however_it_waits(
    lab: Session, hand_over: Callable[[str], str], name: str
) -> None:
    line = f"own --variant own --samples 200 --processes 2 {PLAIN}"
    run = ckernel_magic.measure_cell(lab, line, hand_over(name))
    assert run.switches.each > 1.8  # more where other programs want this CPU


# ------------------------------------------------------------------------------------ lab 07


@LINUX
def test_a_loop_that_leaves_its_working_set_is_told_and_a_set_can_be_written_as_well(
    lab: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaves = "for (size_t at = 0; at <= 10000 * bytes; at += 64) sum += set[at]; keep(sum);"
    writes = "for (size_t at = sum; at < bytes; at += 64) ((unsigned char *)set)[at] = 1;"
    cell = CHOOSE + FOOTPRINT.format(cases([leaves, writes]))
    monkeypatch.setenv(CHOSEN, "0")
    words = output_of_cell(lab, cell, "--variant own-256k")
    assert "an address where it has no memory" in words
    monkeypatch.setenv(CHOSEN, "1")
    line = "own --variant own-256k --samples 60 --processes 2 --unit cycles"
    run = ckernel_magic.measure_cell(lab, line, cell)
    # Other programs only add to it, so this holds where they leave too few samples for a line.
    alone = naive_value(result_of(run.recording, "alone-256k", "cycles"))
    assert alone > 256 * 1024 / 64 / 4
