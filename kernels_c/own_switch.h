/*
 * The plumbing of lab 06's exercise: two threads on one CPU around a handoff that a student writes.
 *
 *     TICKLAB_INLINE void wake(struct turns *turns, int other)
 *     {
 *         wake the other thread; called without the mutex, after the turn was given to `other`
 *     }
 *     TICKLAB_INLINE void await_turn(struct turns *turns, int own)
 *     {
 *         sleep until the turn is `own`; called with the mutex, and returns with it
 *     }
 *     MEASURE_OWN_SWITCH(wake, await_turn)
 *
 * A round trip is a handoff and a wait on each side. The baseline is the same calls, made by one
 * thread to itself. If nobody wakes the other thread, the run ends after some seconds with a
 * message. It also ends if a thread continues without the turn, because that would be a loop and no
 * switch, and if a thread that waits keeps the CPU until its time slice is over. How a thread sleeps
 * and is woken is up to the student: by the condition variables here, a futex, semaphores, pipes or
 * anything else.
 */
#ifndef TICKLAB_OWN_SWITCH_H
#define TICKLAB_OWN_SWITCH_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include <pthread.h>

#include "placement.h"
#include "turn_trial.h"
#include "watched_steps.h"
#include "without_calls.h"

enum { LONGEST_INTERVAL_S = 5 };

/* So much CPU time in an exchange is part of a time slice, and no call to sleep or to wake. */
enum { LONG_EXCHANGE_NS = 1000000, MOST_LONG_INTERVALS = 12 };

#define TURNS                                                                                      \
    {.mutex = PTHREAD_MUTEX_INITIALIZER,                                                           \
     .changed = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER},                              \
     .turn = MINE}

static struct turns both = TURNS, alone = TURNS;

/* Whether a thread continued without the turn: then there was no handoff. */
static volatile int out_of_turn;

/* Handler of SIGALRM. */
static void nobody_was_woken(int number)
{
    static const char told[] = "an interval does not end, because each thread waits for the other: "
                               "look at the turn before you sleep, sleep without the mutex, and "
                               "wake the other thread\n";
    (void)number;
    while (write(STDERR_FILENO, told, sizeof told - 1) < 0 && errno == EINTR)
        ;
    _exit(STATUS_FAILED);
}

static void start_own(struct run *run, void *(*work)(void *))
{
    const struct sigaction ring = {.sa_handler = nobody_was_woken};
    if (sigaction(SIGALRM, &ring, NULL) != 0)
        stop(STATUS_FAILED, "sigaction: %s", strerror(errno));
    place(0, first_place(run));
    const int error = pthread_create(&both.peer, NULL, work, &both);
    if (error != 0)
        stop(STATUS_IMPOSSIBLE, "no second thread: %s", strerror(error));
}

/* Try whether the peer sleeps until it is woken, and print what happened. Then end the peer, unless
 * only this thread's own wait wakes it: such a peer is left asleep. */
#define OWN_END(name, wake, await_turn)                                                            \
    static void name(void)                                                                         \
    {                                                                                              \
        must_have_had_turn();                                                                      \
        const int astray = peer_sleeps(&both) && wake_astray(&both) && out_of_turn;                \
        out_of_turn = 0;                                                                           \
        int failed = !give_turn(&both);                                                            \
        const int unwoken = turn_comes_back(&both, UNWOKEN_MS);                                    \
        int woken = 0;                                                                             \
        alarm(LONGEST_INTERVAL_S);                                                                 \
        if (!unwoken) {                                                                            \
            wake(&both, THEIRS);                                                                   \
            woken = turn_comes_back(&both, WOKEN_MS);                                              \
        }                                                                                          \
        failed |= pthread_mutex_lock(&both.mutex) != 0;                                            \
        await_turn(&both, MINE);                                                                   \
        both.over = 1;                                                                             \
        failed |= pthread_mutex_unlock(&both.mutex) != 0;                                          \
        failed |= !give_turn(&both);                                                               \
        if (unwoken || woken)                                                                      \
            wake(&both, THEIRS);                                                                   \
        if ((unwoken || woken) && peer_ends(&both))                                                \
            failed |= pthread_join(both.peer, NULL) != 0;                                          \
        alarm(0);                                                                                  \
        if (failed)                                                                                \
            stop(STATUS_FAILED, "the second thread could not be ended");                           \
        printf("# variant.own.turns_tried: 1\n# variant.own.turns_unwoken: %d\n"                   \
               "# variant.own.turns_astray: %d\n",                                                 \
               unwoken, astray);                                                                   \
        must_have_had_turn();                                                                      \
    }

static void must_have_had_turn(void)
{
    if (out_of_turn)
        stop(STATUS_FAILED, "await_turn came back while the turn was the other's: sleep until "
                            "turns->turn is own, and look again after each wake-up");
}

/* The CPU time of both threads together: what other programs take does not count. */
static int64_t cpu_time_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* End the run if `batch` exchanges took this CPU time, and those of the intervals before as well. */
static void must_leave_cpu(int64_t used_ns, long batch, int *long_intervals)
{
    *long_intervals = used_ns > batch * LONG_EXCHANGE_NS ? *long_intervals + 1 : 0;
    if (*long_intervals > MOST_LONG_INTERVALS)
        stop(STATUS_FAILED,
             "each exchange takes milliseconds of CPU time, so the thread that waits runs until "
             "its time slice is over: let it sleep");
}

/* Give the turn to `other`, wake it, and wait for the turn `own`. */
#define OWN_EXCHANGE(turns, other, own, wake, await_turn)                                          \
    do {                                                                                           \
        failed_calls |= pthread_mutex_lock(&(turns)->mutex) != 0;                                  \
        (turns)->turn = other;                                                                     \
        failed_calls |= pthread_mutex_unlock(&(turns)->mutex) != 0;                                \
        wake(turns, other);                                                                        \
        failed_calls |= pthread_mutex_lock(&(turns)->mutex) != 0;                                  \
        await_turn(turns, own);                                                                    \
        if ((turns)->turn != own)                                                                  \
            out_of_turn = 1;                                                                       \
        failed_calls |= pthread_mutex_unlock(&(turns)->mutex) != 0;                                \
    } while (0)

#define OWN_TRIPS(name, turns, other, wake, await_turn)                                            \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        static int long_intervals;                                                                 \
        const int64_t cpu_time = cpu_time_ns();                                                    \
        alarm(LONGEST_INTERVAL_S);                                                                 \
        const uint64_t begin = counter_begin();                                                    \
        for (long left = batch; left > 0; left--)                                                  \
            OWN_EXCHANGE(&turns, other, MINE, wake, await_turn);                                   \
        const uint64_t end = counter_end();                                                        \
        alarm(0);                                                                                  \
        must_leave_cpu(cpu_time_ns() - cpu_time, batch, &long_intervals);                          \
        return end - begin;                                                                        \
    }

#if HAVE_WATCH
enum { WATCHED_WAKES = 4 };

static uint64_t no_wakes(long batch)
{
    const uint64_t begin = counter_begin();
    for (register long left = batch; left > 0; left--)
        __asm__ volatile("" : "+r"(left));
    return counter_end() - begin;
}

/* State how often a wait for a turn that does not come went through a loop before it slept. */
static void print_wait(const struct steps *seen, int how)
{
    if (how == FELL_ASLEEP || how == CUT_SHORT)
        printf("# variant.own.watched_rounds_awake: %ld\n", seen->rounds);
}

static void print_wakes(const struct system_calls *seen, uint64_t (*wakes)(long))
{
    printf("# variant.own.watched_operations: %d\n# variant.own.watched_system_calls: %ld\n",
           WATCHED_WAKES, seen->all);
    time_without_calls("own", seen, wakes, no_wakes, 64);
}

/* A child waits in the place of the peer, with nobody to wake it, and another one wakes a few times.
 * The peer has taken every wake before, so none is left that would end the wait. */
#    define WATCH_SWITCH(wake, await_turn)                                                         \
        static __attribute__((noinline)) uint64_t watched_wait(void)                               \
        {                                                                                          \
            await_turn(&both, THEIRS);                                                             \
            return 0;                                                                              \
        }                                                                                          \
        static void run_watched_wait(void)                                                         \
        {                                                                                          \
            uint64_t (*volatile function)(void) = watched_wait;                                    \
            failed_calls |= pthread_mutex_lock(&both.mutex) != 0;                                  \
            both.turn = MINE;                                                                      \
            (void)function();                                                                      \
        }                                                                                          \
        static __attribute__((noinline)) uint64_t own_wakes(long batch)                            \
        {                                                                                          \
            const uint64_t begin = counter_begin();                                                \
            for (register long left = batch; left > 0; left--) {                                   \
                __asm__ volatile("" : "+r"(left));                                                 \
                wake(&both, THEIRS);                                                               \
            }                                                                                      \
            return counter_end() - begin;                                                          \
        }                                                                                          \
        static uint64_t (*volatile watched_wakes)(long) = own_wakes;                               \
        static void run_watched_wakes(void)                                                        \
        {                                                                                          \
            (void)watched_wakes(WATCHED_WAKES);                                                    \
        }                                                                                          \
        static void watch_switch(const char *name)                                                 \
        {                                                                                          \
            struct steps steps;                                                                    \
            struct system_calls calls;                                                             \
            (void)name;                                                                            \
            print_wait(&steps, watch_steps(run_watched_wait, watched_wait, &steps));               \
            if (watch_system_calls(run_watched_wakes, &calls))                                     \
                print_wakes(&calls, watched_wakes);                                                \
        }
#else
#    define WATCH_SWITCH(wake, await_turn)
#    define watch_switch NULL
#endif

/* Two variants: "own", a round trip of two switches, and "own-alone", the rest of its cost. */
#define MEASURE_OWN_SWITCH(wake, await_turn)                                                       \
    OWN_TRIPS(own_trips, both, THEIRS, wake, await_turn)                                           \
    OWN_TRIPS(own_alone, alone, MINE, wake, await_turn)                                            \
    WATCH_SWITCH(wake, await_turn)                                                                 \
    OWN_END(end_own, wake, await_turn)                                                             \
    static void *own_peer(void *argument)                                                          \
    {                                                                                              \
        struct turns *turns = argument;                                                            \
        note_peer_task(turns);                                                                     \
        failed_calls |= pthread_mutex_lock(&turns->mutex) != 0;                                    \
        await_turn(turns, THEIRS);                                                                 \
        failed_calls |= pthread_mutex_unlock(&turns->mutex) != 0;                                  \
        while (!turns->over)                                                                       \
            OWN_EXCHANGE(turns, MINE, THEIRS, wake, await_turn);                                   \
        turns->peer_ended = 1;                                                                     \
        return NULL;                                                                               \
    }                                                                                              \
    static void prepare_own(struct run *run)                                                       \
    {                                                                                              \
        start_own(run, own_peer);                                                                  \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const long batches[] = {2, 4, 8, 16};                                               \
        static const struct variant variants[] = {                                                 \
            {.name = "own",                                                                        \
             .about = "your hand-over, two threads on one CPU",                                    \
             .interval = own_trips,                                                                \
             .prepare = prepare_own,                                                               \
             .finish = end_own,                                                                    \
             .watch = watch_switch,                                                                \
             .cannot = no_pinning,                                                                 \
             .baseline = "own-alone",                                                              \
             .baseline_times = 2,                                                                  \
             ROUND_TRIP_ON_ONE_CPU},                                                               \
            {.name = "own-alone",                                                                  \
             .about = "the same calls to oneself: no switch",                                      \
             .interval = own_alone}};                                                              \
        static const struct c_kernel kernel = {.name = "own_switch",                               \
                                               .about = "what a switch by your hand-over costs",   \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches)};                           \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
