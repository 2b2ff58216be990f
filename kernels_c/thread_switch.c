/*
 * What does a switch between two threads cost?
 *
 * Two threads of this process take turns on one CPU: a round trip is two switches, which the OS
 * counts too. The baseline is the same calls made alone, with no other thread to switch to:
 *
 *     switch = (round trip - 2 * calls alone) / 2
 *
 * A mutex alone makes no handoff: the thread that unlocks it may lock it again at once. So the turn
 * is a variable, and a condition variable (or a futex, or a pipe) wakes the thread whose turn it
 * is. "bare-mutex" leaves that out, as a mistake to be found: its exchanges are not switches.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#if defined(__linux__)
#    include <linux/futex.h>
#endif

#include "pipes.h"
#include "placement.h"
#include "trap.h"

enum { OVER = 2 }; /* the turn is MINE, THEIRS or this */

/* Whose turn it is, and what wakes the other thread. */
struct turns {
    atomic_int turn;
    pthread_mutex_t mutex;
    pthread_cond_t changed[2]; /* indexed by the side that waits */
    int in[2], out[2];         /* pipes, indexed by side */
    pthread_t peer;
    long mine, theirs; /* the CPUs to run on */
    int signal_inside; /* signal before the mutex is unlocked */
    int runs_by_itself;
    atomic_int awake; /* for a peer that runs by itself: set only during a sample */
};

#define TURNS                                                                                      \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER,                                                        \
        .changed = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER},                           \
    }

static struct turns condvar = TURNS, condvar_inside = TURNS, condvar_apart = TURNS;
static struct turns condvar_alone = TURNS, by_pipe = TURNS, pipe_alone = TURNS, yielding = TURNS,
                    bare = TURNS;

static void stand(const struct turns *turns)
{
    static const struct turns *last;
    if (turns != last)
        place(0, turns->mine);
    last = turns;
}

/* With mutex and condition variable: give the turn to `other`, and wait for the turn `own`. */
TICKLAB_INLINE uint64_t hand_over(struct turns *turns, int other)
{
    uint64_t failed = pthread_mutex_lock(&turns->mutex) != 0;
    turns->turn = other;
    if (turns->signal_inside)
        failed |= pthread_cond_signal(&turns->changed[other]) != 0;
    failed |= pthread_mutex_unlock(&turns->mutex) != 0;
    if (!turns->signal_inside)
        failed |= pthread_cond_signal(&turns->changed[other]) != 0;
    return failed;
}

TICKLAB_INLINE uint64_t await_turn(struct turns *turns, int own)
{
    uint64_t failed = pthread_mutex_lock(&turns->mutex) != 0;
    while (turns->turn != own && turns->turn != OVER && !failed)
        failed |= pthread_cond_wait(&turns->changed[own], &turns->mutex) != 0;
    return failed | (pthread_mutex_unlock(&turns->mutex) != 0);
}

#if defined(__linux__)
static struct turns futex = TURNS, futex_apart = TURNS, futex_alone = TURNS;

TICKLAB_INLINE long futex_call(atomic_int *word, int operation, int value)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

TICKLAB_INLINE uint64_t futex_hand_over(struct turns *turns, int other)
{
    turns->turn = other;
    return futex_call(&turns->turn, FUTEX_WAKE, 1) < 0;
}

TICKLAB_INLINE uint64_t futex_await(struct turns *turns, int own)
{
    for (int seen = turns->turn; seen != own && seen != OVER; seen = turns->turn)
        if (futex_call(&turns->turn, FUTEX_WAIT, seen) != 0 && errno != EAGAIN && errno != EINTR)
            return 1;
    return 0;
}
#    define FUTEX(function, ...) .interval = function, __VA_ARGS__
#else
#    define FUTEX(function, ...) .missing = "this system has no futex"
#endif

/* The thread that has the mutex changes the flag, even many times in a row: there is no handoff. */
TICKLAB_INLINE uint64_t exchange(struct turns *turns, int own)
{
    uint64_t failed = pthread_mutex_lock(&turns->mutex) != 0;
    if (turns->turn != OVER)
        turns->turn = own;
    return failed | (pthread_mutex_unlock(&turns->mutex) != 0);
}

TICKLAB_INLINE uint64_t pass_byte(int out)
{
    const char byte = 0;
    return write(out, &byte, 1) != 1;
}

TICKLAB_INLINE uint64_t await_byte(int in)
{
    char byte;
    return read(in, &byte, 1) != 1;
}

/* A peer that needs no turn to run is woken for the sample, and put to sleep after it. */
static void wake(struct turns *turns)
{
    failed_calls |= pthread_mutex_lock(&turns->mutex) != 0;
    turns->awake = 1;
    failed_calls |= pthread_mutex_unlock(&turns->mutex) != 0;
    failed_calls |= pthread_cond_signal(&turns->changed[THEIRS]) != 0;
}

/* Two calls of an exchange are joined by ||: | would leave their order to the compiler. */
#define INTERVAL(name, turns, once)                                                                \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        stand(&turns);                                                                             \
        if (turns.runs_by_itself)                                                                  \
            wake(&turns);                                                                          \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (long left = batch; left > 0; left--)                                                  \
            failed |= once;                                                                        \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        turns.awake = 0;                                                                           \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

INTERVAL(by_condvar, condvar, hand_over(&condvar, THEIRS) || await_turn(&condvar, MINE))
INTERVAL(by_condvar_inside, condvar_inside,
         hand_over(&condvar_inside, THEIRS) || await_turn(&condvar_inside, MINE))
INTERVAL(by_condvar_apart, condvar_apart,
         hand_over(&condvar_apart, THEIRS) || await_turn(&condvar_apart, MINE))
INTERVAL(to_condvar_alone, condvar_alone,
         hand_over(&condvar_alone, MINE) || await_turn(&condvar_alone, MINE))
#if defined(__linux__)
INTERVAL(by_futex, futex, futex_hand_over(&futex, THEIRS) || futex_await(&futex, MINE))
INTERVAL(by_futex_apart, futex_apart,
         futex_hand_over(&futex_apart, THEIRS) || futex_await(&futex_apart, MINE))
/* A wake-up with nobody waiting, and a wait that finds the word changed already. */
INTERVAL(to_futex_alone, futex_alone,
         futex_hand_over(&futex_alone, MINE) ||
             (futex_call(&futex_alone.turn, FUTEX_WAIT, THEIRS) == 0))
#endif
INTERVAL(by_pipes, by_pipe, pass_byte(by_pipe.out[MINE]) || await_byte(by_pipe.in[MINE]))
INTERVAL(to_pipe_alone, pipe_alone,
         pass_byte(pipe_alone.out[MINE]) || await_byte(pipe_alone.in[MINE]))
INTERVAL(by_yield, yielding, sched_yield() != 0)
INTERVAL(by_bare_mutex, bare, exchange(&bare, MINE))

static void *condvar_peer(void *argument)
{
    struct turns *turns = argument;
    for (;;) {
        failed_calls |= await_turn(turns, THEIRS);
        if (turns->turn == OVER)
            return NULL;
        failed_calls |= hand_over(turns, MINE);
    }
}

#if defined(__linux__)
static void *futex_peer(void *argument)
{
    struct turns *turns = argument;
    for (;;) {
        failed_calls |= futex_await(turns, THEIRS);
        if (turns->turn == OVER)
            return NULL;
        failed_calls |= futex_hand_over(turns, MINE);
    }
}
#endif

static void *pipe_peer(void *argument)
{
    const struct turns *turns = argument;
    while (await_byte(turns->in[THEIRS]) == 0 && pass_byte(turns->out[THEIRS]) == 0)
        ;
    return NULL;
}

/* Wait until a sample begins; 0 if the run is over. */
static int sleep_until_woken(struct turns *turns)
{
    failed_calls |= pthread_mutex_lock(&turns->mutex) != 0;
    while (!turns->awake && turns->turn != OVER)
        failed_calls |= pthread_cond_wait(&turns->changed[THEIRS], &turns->mutex) != 0;
    failed_calls |= pthread_mutex_unlock(&turns->mutex) != 0;
    return turns->turn != OVER;
}

static void *yield_peer(void *argument)
{
    struct turns *turns = argument;
    while (sleep_until_woken(turns))
        while (turns->awake)
            failed_calls |= sched_yield() != 0;
    return NULL;
}

static void *bare_peer(void *argument)
{
    struct turns *turns = argument;
    while (sleep_until_woken(turns))
        while (turns->awake && turns->turn != OVER)
            failed_calls |= exchange(turns, THEIRS);
    return NULL;
}

/* Start the second thread on its CPU; a new thread inherits the CPU of its creator. */
static void start(struct turns *turns, void *(*work)(void *), long mine, long theirs)
{
    turns->mine = mine;
    turns->theirs = theirs;
    place(0, theirs);
    const int error = pthread_create(&turns->peer, NULL, work, turns);
    if (error != 0)
        stop(STATUS_IMPOSSIBLE, "no second thread: %s", strerror(error));
    place(0, mine);
}

/* Tell the second thread to end, in whatever way it waits, and wait until it has ended. */
static void end(struct turns *turns)
{
    int failed = pthread_mutex_lock(&turns->mutex) != 0;
    turns->turn = OVER;
    failed |= pthread_mutex_unlock(&turns->mutex) != 0;
    failed |= pthread_cond_signal(&turns->changed[THEIRS]) != 0;
#if defined(__linux__)
    failed |= futex_call(&turns->turn, FUTEX_WAKE, 1) < 0;
#endif
    if (turns->out[MINE] != turns->in[MINE])
        failed |= close(turns->out[MINE]) != 0;
    failed |= pthread_join(turns->peer, NULL) != 0;
    if (failed)
        stop(STATUS_FAILED, "the second thread could not be ended");
}

#define ON_ONE_CPU(turns, work)                                                                    \
    static void prepare_##turns(struct run *run)                                                   \
    {                                                                                              \
        start(&turns, work, first_place(run), first_place(run));                                   \
    }                                                                                              \
    static void finish_##turns(void)                                                               \
    {                                                                                              \
        end(&turns);                                                                               \
    }
#define ON_TWO_CPUS(turns, work)                                                                   \
    static void prepare_##turns(struct run *run)                                                   \
    {                                                                                              \
        start(&turns, work, first_place(run), second_place(run));                                  \
    }                                                                                              \
    static void finish_##turns(void)                                                               \
    {                                                                                              \
        end(&turns);                                                                               \
    }

ON_ONE_CPU(condvar, condvar_peer)
ON_TWO_CPUS(condvar_apart, condvar_peer)
#if defined(__linux__)
ON_ONE_CPU(futex, futex_peer)
ON_TWO_CPUS(futex_apart, futex_peer)

static void prepare_futex_alone(struct run *run)
{
    futex_alone.mine = first_place(run);
    stand(&futex_alone);
}
#endif

static void prepare_condvar_inside(struct run *run)
{
    condvar_inside.signal_inside = 1;
    start(&condvar_inside, condvar_peer, first_place(run), first_place(run));
}

static void finish_condvar_inside(void)
{
    end(&condvar_inside);
}

static void prepare_condvar_alone(struct run *run)
{
    condvar_alone.mine = first_place(run);
    stand(&condvar_alone);
}

static void prepare_by_pipe(struct run *run)
{
    open_pipes_both_ways(by_pipe.in, by_pipe.out);
    start(&by_pipe, pipe_peer, first_place(run), first_place(run));
}

static void finish_by_pipe(void)
{
    end(&by_pipe);
}

static void prepare_pipe_alone(struct run *run)
{
    open_pipe(&pipe_alone.in[MINE], &pipe_alone.out[MINE]);
    pipe_alone.mine = first_place(run);
    stand(&pipe_alone);
}

static void prepare_yielding(struct run *run)
{
    yielding.runs_by_itself = 1;
    start(&yielding, yield_peer, first_place(run), first_place(run));
}

static void finish_yielding(void)
{
    end(&yielding);
}

static void prepare_bare(struct run *run)
{
    bare.runs_by_itself = 1;
    start(&bare, bare_peer, first_place(run), first_place(run));
}

static void finish_bare(void)
{
    end(&bare);
}

#define HOOKS(turns) .prepare = prepare_##turns, .finish = finish_##turns
/* A round trip claims two switches; the figure is half of it, minus the calls alone. */
#define ROUND_TRIP(alone)                                                                          \
    ROUND_TRIP_ON_ONE_CPU, .cannot = no_pinning, .baseline = alone, .baseline_times = 2

static const struct variant variants[] = {
    {.name = "condvar",
     .about = "mutex and condition variable, signal after the mutex is unlocked",
     .interval = by_condvar,
     .prepare = prepare_condvar,
     .finish = finish_condvar,
     ROUND_TRIP("condvar-alone")},
    {.name = "condvar-alone",
     .about = "the same calls with nobody waiting: no switch",
     .interval = to_condvar_alone,
     .prepare = prepare_condvar_alone,
     .placement = PLACED_ON_ONE_CPU},
    {.name = "condvar-inside",
     .about = "mutex and condition variable, signal under the mutex",
     .interval = by_condvar_inside,
     .prepare = prepare_condvar_inside,
     .finish = finish_condvar_inside,
     ROUND_TRIP("condvar-alone")},
    {.name = "futex",
     .about = "by futex",
     FUTEX(by_futex, HOOKS(futex)),
     ROUND_TRIP("futex-alone")},
    {.name = "futex-alone",
     .about = "wake and wait with nobody there: no switch",
     FUTEX(to_futex_alone, .prepare = prepare_futex_alone),
     .system_calls = 2,
     .placement = PLACED_ON_ONE_CPU},
    {.name = "pipe",
     .about = "by pipe between the threads",
     .interval = by_pipes,
     .prepare = prepare_by_pipe,
     .finish = finish_by_pipe,
     .system_calls = 2,
     ROUND_TRIP("pipe-alone")},
    {.name = "pipe-alone",
     .about = "write and read of one's own pipe: no switch",
     .interval = to_pipe_alone,
     .prepare = prepare_pipe_alone,
     .system_calls = 2,
     .placement = PLACED_ON_ONE_CPU},
    {.name = "yield",
     .about = "sched_yield, two threads that do nothing else",
     .interval = by_yield,
     .prepare = prepare_yielding,
     .finish = finish_yielding,
     .switches = 2,
     .parts = 2,
     .cannot = no_pinning,
     .system_calls = 1,
     TWO_ON_ONE_CPU},
    {.name = "bare-mutex",
     .about = "a mutex and a flag: no hand-over, claimed as a switch by some",
     .interval = by_bare_mutex,
     .prepare = prepare_bare,
     .finish = finish_bare,
     .switches = 2,
     .parts = 2,
     .cannot = no_pinning,
     TWO_ON_ONE_CPU},
    {.name = "condvar-two-cpus",
     .about = "a CPU for each thread: a wake-up, not a switch",
     .interval = by_condvar_apart,
     .prepare = prepare_condvar_apart,
     .finish = finish_condvar_apart,
     .parts = 2,
     .cannot = no_second_cpu,
     .baseline = "condvar-alone",
     .baseline_times = 2,
     TWO_ON_TWO_CPUS},
    {.name = "futex-two-cpus",
     .about = "by futex, a CPU for each: a wake-up, not a switch",
     FUTEX(by_futex_apart, HOOKS(futex_apart)),
     .parts = 2,
     .cannot = no_second_cpu,
     .baseline = "futex-alone",
     .baseline_times = 2,
     TWO_ON_TWO_CPUS},
};

/* Short samples: during a long one, others get the CPU too. */
static const long batches[] = {2, 4, 8, 16};

MEASURE(.name = "thread_switch", .about = "what a switch between threads costs",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 2000)
