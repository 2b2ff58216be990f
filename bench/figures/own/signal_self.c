/*
 * What does a signal to oneself cost, with the handler that takes it?
 *
 * POSIX: if the signal is not blocked and no other thread waits for it, it is delivered before
 * kill() returns. The evidence is counted by the handler.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "harness.h"

static volatile sig_atomic_t taken;
static long claimed, found;
static pid_t self;

static void take_signal(int number)
{
    (void)number;
    taken = taken + 1;
}

static void prepare_handler(struct run *run)
{
    const struct sigaction action = {.sa_handler = take_signal};
    (void)run;
    self = getpid();
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        stop(STATUS_FAILED, "no handler: %s", strerror(errno));
}

TICKLAB_INLINE int operation(void)
{
    return kill(self, SIGUSR1) == 0;
}

/* One sample: k times `operation`, in the form of `labs new`. */
#define INTERVAL(name, operation)                                                                  \
    static uint64_t name(long batch)                                                               \
    {                                                                                              \
        uint64_t failed = 0;                                                                       \
        /* measured region begins */                                                               \
        const uint64_t begin = counter_begin();                                                    \
        for (register long left = batch; left > 0; left--) {                                       \
            __asm__ volatile("" : "+r"(left));                                                     \
            failed |= !(operation);                                                                \
        }                                                                                          \
        const uint64_t end = counter_end();                                                        \
        /* measured region ends */                                                                 \
        failed_calls |= failed;                                                                    \
        return end - begin;                                                                        \
    }

INTERVAL(loop, 1)
INTERVAL(operations, operation())

static long counted(void)
{
    return taken;
}

/* A sample whose operations did not all happen ends the run. The count is outside the timed
 * region. */
static uint64_t operations_that_happened(long batch)
{
    const long before = counted();
    const uint64_t ticks = operations(batch);
    const long happened = counted() - before;
    if (happened != batch)
        stop(STATUS_FAILED, "%ld of %ld operations happened in one sample", happened, batch);
    claimed += batch;
    found += happened;
    return ticks;
}

/* The recording states the evidence with its conditions. */
static void print_evidence(const char *name)
{
    printf("# variant.%s.claimed_operations: %ld\n# variant.%s.counted_operations: %ld\n", name,
           claimed, name, found);
}

/* Two system calls: kill(), and the return from the handler. */
static const struct variant variants[] = {
    {.name = "kill-self",
     .about = "kill() of the own process, and the handler",
     .interval = operations_that_happened,
     .prepare = prepare_handler,
     .watch = print_evidence,
     .system_calls = 2,
     .baseline = "loop"},
    {.name = "loop", .about = "the empty loop", .interval = loop},
};
static const long batches[] = {8, 16, 24, 32};

MEASURE(.name = "signal_self", .about = "what a signal to oneself costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
