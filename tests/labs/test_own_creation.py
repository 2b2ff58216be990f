"""Lab 05's own C is judged by what it created: the OS says who raised the number, and where."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from grader.figures import figure_named
from grader.figures.case import Case, make_case
from grader.figures.verdict import Outcome
from grader.pitfalls import pitfall_named
from labs.course import figures
from labs.recording.file import read
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail
from support.paths import FIXTURES

SHORT = ("--samples", "12", "--warmup", "0")
SHARED = "CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD"
CLONED = f"clone(raise_number, STACK_TOP, {SHARED}, NULL)"

HELPERS = """#include "own_creation.h"
#include <pthread.h>
static unsigned char own_stack[16384] __attribute__((aligned(16)));
__attribute__((unused)) static int raise_by(void *by) { number += (long)by; return 0; }
__attribute__((unused)) static int long_work(void *nothing)
{
    for (volatile int i = 0; i < 50000; i++)
        ;
    return raise_number(nothing);
}
__attribute__((unused)) static int idle(void *nothing) { return nothing != NULL; }
__attribute__((unused)) static void *helper(void *nothing) { raise_number(nothing); return NULL; }
"""


def own_task(body: str) -> str:
    return (
        f"static pid_t own_task@(void)\n{{\n    pid_t task = -1;\n    {body}\n    return task;\n}}"
    )


RIGHT = {
    "as asked": f"task = {CLONED};",
    "memory alone": "task = clone(raise_number, STACK_TOP, CLONE_VM | SIGCHLD, NULL);",
    "own function": f"task = clone(raise_by, STACK_TOP, {SHARED}, (void *)1);",
    "own stack": "task = clone(raise_by, own_stack + sizeof own_stack, CLONE_VM | SIGCHLD, "
    "(void *)1);",
    "signal handlers": f"task = clone(raise_number, STACK_TOP, {SHARED} | CLONE_SIGHAND, NULL);",
    "waits itself": f"siginfo_t ended; task = {CLONED}; "
    "(void)waitid(P_PID, (id_t)task, &ended, WEXITED | WNOWAIT);",
    "memory got once": f"static void *once; if (once == NULL) {{ once = malloc(64); }} "
    f"task = once != NULL ? {CLONED} : -1;",
    "memory mapped once": "static void *once; if (once == NULL) { once = mmap(NULL, 4096, "
    f"PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0); }} task = once != NULL ? {CLONED} : -1;",
    "ids stored": "static pid_t id; task = clone(raise_number, STACK_TOP, "
    f"{SHARED} | CLONE_PARENT_SETTID, NULL, &id); if (id != task) task = -1;",
}
BY_ANOTHER, ASLEEP, PROCESS = "number-not-by-the-task", "vfork-for-thread", "not-a-thread"
BESIDE = "more-than-the-operation"
#: Each with its findings, and words of the first one's evidence.
WRONG = {
    "parent and vfork": (
        "task = vfork(); if (task == 0) _exit(0); raise_number(NULL);",
        {BY_ANOTHER},
        "the parent itself raised the number",
    ),
    "parent and clone": (
        f"raise_number(NULL); task = clone(idle, STACK_TOP, {SHARED}, NULL);",
        {BY_ANOTHER},
        "the parent itself raised the number",
    ),
    "parent and fork": (
        "task = fork(); if (task == 0) _exit(0); number++;",
        {BY_ANOTHER, PROCESS},
        "was a child process that faulted in",
    ),
    "a helper": (
        "pthread_t other; (void)pthread_create(&other, NULL, helper, NULL); "
        f"(void)pthread_join(other, NULL); task = clone(idle, STACK_TOP, {SHARED}, NULL);",
        {BY_ANOTHER},
        "another task raised the number",
    ),
    "nobody": (
        f"task = clone(idle, STACK_TOP, {SHARED}, NULL);",
        {BY_ANOTHER},
        "your task did not raise the number",
    ),
    "two tasks": (
        f"task = {CLONED}; (void)waitpid(task, NULL, 0); task = {CLONED};",
        {BY_ANOTHER},
        "the number rose",
    ),
    "by two": (
        f"task = clone(raise_by, STACK_TOP, {SHARED}, (void *)2);",
        {BY_ANOTHER},
        "the number rose",
    ),
    "vfork": ("task = vfork(); if (task == 0) _exit(raise_number(NULL));", {ASLEEP}, "10 of 10"),
    "CLONE_VFORK": (
        f"task = clone(raise_number, STACK_TOP, {SHARED} | CLONE_VFORK, NULL);",
        {ASLEEP},
        "10 of 10",
    ),
    "one taken back": (
        f"task = {CLONED}; (void)waitpid(task, NULL, 0); number--; task = {CLONED};",
        {BY_ANOTHER},
        "another task raised the number",
    ),
    "sleeps": (f"task = {CLONED}; (void)usleep(50);", {BESIDE}, "sleeps once"),
    "own stack anew": (
        "void *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0); "
        "task = clone(raise_number, (char *)stack + 65536, CLONE_VM | SIGCHLD, NULL); "
        "(void)waitid(P_PID, (id_t)task, &(siginfo_t){0}, WEXITED | WNOWAIT); "
        "(void)munmap(stack, 65536);",
        {BESIDE},
        "maps or unmaps memory 2 times",
    ),
    "asks the OS": (
        f"for (int i = 0; i < 20; i++) {{ (void)getppid(); }} task = {CLONED};",
        {BESIDE},
        "makes 20 other system calls",
    ),
    "a clean stack": (
        "for (int i = 0; i < 30; i++) { memset(stack_bottom, i, STACK_BYTES); } "
        f"task = {CLONED};",
        {BESIDE},
        "A task of the kit in the same memory takes",
    ),
    "a loop before it": (
        f"for (volatile int i = 0; i < 50000; i++) {{ }} task = {CLONED};",
        {BESIDE},
        "A task of the kit in the same memory takes",
    ),
    "a loop in the task": (
        f"task = clone(long_work, STACK_TOP, {SHARED}, NULL);",
        {BESIDE},
        "A task of the kit in the same memory takes",
    ),
    "own memory": (
        "task = clone(raise_number, STACK_TOP, SIGCHLD, NULL);",
        {PROCESS},
        "their parent saw it raised by 0.",
    ),
}

EXERCISE = Exercise(
    figure="creation-own",
    variant="own",
    begin=HELPERS,
    answers={
        **{name: own_task(body) for name, body in RIGHT.items()},
        **{name: own_task(body) for name, (body, _, _) in WRONG.items()},
    },
    dispatchers={
        "static pid_t own_task(void) { pid_t task = -1; CASES return task; }": "task = own_task@()"
    },
    end="MEASURE_OWN_CREATION(own_task)",
)


@LINUX
@pytest.mark.parametrize("name", RIGHT)
def test_a_task_in_the_same_memory_passes_and_is_praised_for_it(name: str) -> None:
    verdict = EXERCISE.verdict_of_run(name, *SHORT)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "the task that you created raised the number" in verdict.praise


@LINUX
@pytest.mark.parametrize("name", WRONG)
def test_another_task_is_told_and_not_praised(name: str) -> None:
    _, (code, *more), evidence = WRONG[name]
    must_fail(EXERCISE.verdict(name, EXERCISE.counts(name, *SHORT)), code, evidence, *more)


def _as_thread(of: str) -> Case:
    """The case of a thread for which the OS counted what it counted for the variant `of`."""
    folder = FIXTURES / "honest" / "05-task-creation"
    spec, figure = figure_named("creation-thread"), figures.read(folder)["creation-thread"]
    assert isinstance(figure, figures.Figure) and figure.recording is not None
    recording = read(folder / figure.recording)
    keys = ("created", "faults", "children_faults", "children_switches")
    counts = {f"pthread-wait.{key}": recording.total(f"variant.{of}.{key}") for key in keys}
    processes = len(recording.processes)
    stated = {f"variant.{key}": str((count or 0) // processes) for key, count in counts.items()}
    changed = replace(
        recording,
        conditions=MappingProxyType({**recording.conditions, **stated}),
    )
    return make_case(spec, figure, changed)


def test_a_thread_made_by_vfork_is_a_process_by_its_switches() -> None:
    found = pitfall_named(PROCESS).detect(_as_thread("vfork-wait"))
    assert found is not None and "switches of ended child processes" in found
    assert pitfall_named(PROCESS).detect(_as_thread("pthread-wait")) is None
