"""Lab 06's own C is judged by its sleeps: a thread that looks by itself hands nothing over."""

from __future__ import annotations

import pytest

from grader.figures.verdict import Level, Outcome
from support.c_programs import LINUX
from support.own_work import Exercise, must_fail

SHORT = ("--samples", "60", "--warmup", "0")
UNLOCK, LOCK = "pthread_mutex_unlock(&turns->mutex);", "pthread_mutex_lock(&turns->mutex);"

HELPERS = """#include "own_switch.h"
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
static sem_t semaphores[2];
static int pipes[2][2], events[2];
static pthread_barrier_t barrier;
static pthread_t first;
static sigset_t signals;
__attribute__((constructor)) static void open_all(void)
{
    (void)!(pipe(pipes[0]) | pipe(pipes[1]));
    events[0] = eventfd(0, 0);
    events[1] = eventfd(0, 0);
    (void)pthread_barrier_init(&barrier, NULL, 2);
    (void)sem_init(&semaphores[0], 0, 0);
    (void)sem_init(&semaphores[1], 0, 0);
    first = pthread_self();
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
}
__attribute__((unused)) static struct timespec after_us(long us)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += us / 1000000;
    at.tv_nsec += us % 1000000 * 1000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}
"""


def hand_over(wake: str, await_turn: str) -> str:
    return f"""TICKLAB_INLINE void wake@(struct turns *turns, int other)
{{
    (void)turns, (void)other;
    {wake}
}}
TICKLAB_INLINE void await_turn@(struct turns *turns, int own)
{{
    (void)turns, (void)own;
    {await_turn}
}}"""


def unlocked(wait: str, begin: str = "") -> str:
    return f"{begin} while (turns->turn != own) {{ {UNLOCK} {wait} {LOCK} }}"


SIGNAL = "(void)pthread_cond_signal(&turns->changed[other]);"
SLEEP = "(void)pthread_cond_wait(&turns->changed[own], &turns->mutex);"
RIGHT = {
    "condition variable": (SIGNAL, f"while (turns->turn != own) {SLEEP}"),
    "one for both": (
        "(void)pthread_cond_broadcast(&turns->changed[0]);",
        "while (turns->turn != own) (void)pthread_cond_wait(&turns->changed[0], &turns->mutex);",
    ),
    "futex": (
        "syscall(SYS_futex, &turns->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);",
        unlocked("syscall(SYS_futex, &turns->turn, FUTEX_WAIT_PRIVATE, !own, NULL, NULL, 0);"),
    ),
    "semaphores": (
        "(void)sem_post(&semaphores[other]);",
        unlocked("(void)sem_wait(&semaphores[own]);"),
    ),
    "pipes": (
        '(void)!write(pipes[other][1], "x", 1);',
        unlocked("(void)!read(pipes[own][0], &byte, 1);", begin="char byte;"),
    ),
    "eventfd": (
        "(void)eventfd_write(events[other], 1);",
        unlocked("(void)eventfd_read(events[own], &count);", begin="eventfd_t count;"),
    ),
    "barrier": ("", unlocked("(void)pthread_barrier_wait(&barrier);")),
    "signals": (
        "(void)pthread_kill(other == 0 ? first : turns->peer, SIGUSR1);",
        unlocked("(void)sigwait(&signals, &which);", begin="int which;"),
    ),
    "written again when interrupted": (
        'while (write(pipes[other][1], "x", 1) != 1) { }',
        unlocked("(void)!read(pipes[own][0], &byte, 1);", begin="char byte;"),
    ),
    "with a time-out": (
        SIGNAL,
        "struct timespec late = after_us(2000000); while (turns->turn != own) "
        "(void)pthread_cond_timedwait(&turns->changed[own], &turns->mutex, &late);",
    ),
}
LOOKS_ONCE = "if in place of while"
WAIT = f"while (turns->turn != own) {SLEEP}"
#: Wakes that do more, each with words of the evidence.
MORE = {
    "a loop in the wake": (
        f"for (volatile int i = 0; i < 5000; i++) {{ }} {SIGNAL}",
        WAIT,
        "The run left out the system calls of your wake",
    ),
    "calls of another kind": (
        f"{SIGNAL} for (int i = 0; i < 20; i++) {{ (void)getppid(); }}",
        WAIT,
        "system calls",
    ),
}
UNWOKEN, AWAKE = "woke nobody", "times through a loop before it slept"
#: Each with words of the evidence.
WRONG = {
    "yield": ("", unlocked("sched_yield();"), UNWOKEN),
    "yield with a wake": (SIGNAL, unlocked("sched_yield();"), UNWOKEN),
    "usleep": ("", unlocked("(void)usleep(1);"), UNWOKEN),
    "short time-out": (
        "",
        "while (turns->turn != own) { struct timespec soon = after_us(50); "
        "(void)pthread_cond_timedwait(&turns->changed[own], &turns->mutex, &soon); }",
        UNWOKEN,
    ),
    "takes the turn": ("", f"{UNLOCK} sched_yield(); {LOCK} turns->turn = own;", UNWOKEN),
    "yields before it sleeps": (
        SIGNAL,
        f"for (int i = 0; i < 100 && turns->turn != own; i++) {{ {UNLOCK} sched_yield(); {LOCK} }} "
        f"while (turns->turn != own) {SLEEP}",
        AWAKE,
    ),
    "calls before it sleeps": (
        SIGNAL,
        "for (int i = 0; i < 40 && turns->turn != own; i++) { (void)getppid(); } " + WAIT,
        AWAKE,
    ),
    "spins before it sleeps": (
        SIGNAL,
        "for (int i = 0; i < 60 && turns->turn != own; i++) { (void)counter_unfenced(); } " + WAIT,
        AWAKE,
    ),
}

EXERCISE = Exercise(
    figure="switch-own-hand-over",
    variant="own",
    begin=HELPERS,
    answers={
        **{name: hand_over(*parts) for name, parts in RIGHT.items()},
        LOOKS_ONCE: hand_over(SIGNAL, f"if (turns->turn != own) {SLEEP}"),
        **{name: hand_over(wake, wait) for name, (wake, wait, _) in (WRONG | MORE).items()},
    },
    dispatchers={
        "TICKLAB_INLINE void wake(struct turns *turns, int other) { CASES }": "wake@(turns, other)",
        "TICKLAB_INLINE void await_turn(struct turns *turns, int own) { CASES }": (
            "await_turn@(turns, own)"
        ),
    },
    end="MEASURE_OWN_SWITCH(wake, await_turn)",
)


@LINUX
@pytest.mark.parametrize("name", RIGHT)
def test_any_sleep_until_woken_ends_and_passes_and_is_praised(name: str) -> None:
    verdict = EXERCISE.verdict_of_run(name, *SHORT)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert "the waiting thread sleeps" in verdict.praise


@LINUX
@pytest.mark.parametrize("name", ["condition variable", "one for both", "semaphores", LOOKS_ONCE])
def test_only_a_wait_that_looks_once_goes_on_when_it_is_woken_without_its_turn(name: str) -> None:
    counts = EXERCISE.counts(name, *SHORT)
    assert counts["variant.own.turns_astray"] == str(int(name == LOOKS_ONCE))
    assert EXERCISE.verdict(name, counts).outcome is Outcome.PASSED


BY_THE_CLOCK = ("usleep", "short time-out")


@LINUX
@pytest.mark.parametrize("name", WRONG)
def test_a_thread_that_looks_by_itself_is_told_and_not_praised(name: str) -> None:
    if name in BY_THE_CLOCK:
        # The C itself shows it, whatever a run counts, and it says more than that nobody woke it.
        must_fail(EXERCISE.verdict(name, EXERCISE.counts(name, *SHORT)), "wait-with-an-end")
    else:
        must_fail(EXERCISE.verdict_of_run(name, *SHORT), "not-woken", WRONG[name][2])


@LINUX
@pytest.mark.parametrize("name", MORE)
def test_work_beside_the_handoff_is_told_by_its_cost(name: str) -> None:
    counts = EXERCISE.counts(name, *SHORT)
    if "variant.own.watched_system_calls" not in counts:
        pytest.skip("this system does not let a process watch its child")
    verdict = EXERCISE.verdict(name, counts)
    assert [finding.code for finding in verdict.findings] == ["more-than-the-operation"]
    assert MORE[name][2] in verdict.findings[0].evidence
    assert verdict.levels[Level.VALIDITY][0] == 0
