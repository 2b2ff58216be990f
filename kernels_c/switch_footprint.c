/*
 * What does a switch really cost, with the memory that the task needs next?
 *
 * N tasks are in a ring on one CPU. A token goes round by pipes; each task reads its own working
 * set, line by line, before it passes the token on. Once round is N hops, and N switches: T(k) =
 * overhead + k * N * hop. The baseline is one task alone, which passes the token to itself and
 * reads a set of the same size:
 *
 *     switch = (once round - N * (hop to itself)) / N
 *
 * What remains is the switch, and the cost of what the other tasks have driven out of caches and
 * TLB. Reading a set alone costs alone-256k minus alone-0; a run of either has this baseline. The
 * tasks are processes or threads. All pages are small, and no two tasks share one.
 */
#define _GNU_SOURCE
#include "ring.h"

enum { LINE = 64 };

TICKLAB_INLINE void read_set(const struct task *task)
{
    for (size_t at = 0; at < task->bytes; at += LINE)
        (void)task->set[at];
}

static void take_turns(const struct task *task)
{
    take_part(task, read_set);
}

static uint64_t rounds(const struct ring *ring, long batch)
{
    const struct task *first = &ring->tasks[0];
    uint64_t failed = 0;
    read_set(first); /* the sample before has left other data in the caches */
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        failed |= !pass(first, GO);
        failed |= receive(first) != GO;
        read_set(first);
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

#define SET_0    0
#define SET_16k  (16 << 10)
#define SET_64k  (64 << 10)
#define SET_256k (256 << 10)
#define SET_1m   (1 << 20)
#define SET_4m   (4 << 20)

#define RINGS(n, size)                                                                             \
    RING(processes_##n##_##size, PROCESSES, n, SET_##size, take_turns, rounds)                     \
    RING(threads_##n##_##size, THREADS, n, SET_##size, take_turns, rounds)
#define FOR_EACH_SIZE(what, n)                                                                     \
    what(n, 0) what(n, 16k) what(n, 64k) what(n, 256k) what(n, 1m) what(n, 4m)
#define FOR_EACH_RING(what)                                                                        \
    FOR_EACH_SIZE(what, 2)                                                                         \
    FOR_EACH_SIZE(what, 4)                                                                         \
    FOR_EACH_SIZE(what, 8) FOR_EACH_SIZE(what, 16) FOR_EACH_SIZE(what, 32) FOR_EACH_SIZE(what, 64)
#define ONE_TASK(n, size) RING(alone_##size, ALONE, n, SET_##size, take_turns, rounds)

FOR_EACH_SIZE(ONE_TASK, 1)
FOR_EACH_RING(RINGS)

#define OF(kind, n, size)                                                                          \
    {.name = #kind "-" #n "-" #size,                                                               \
     .about = #n " " #kind " on one CPU, each with a working set of " #size " bytes",              \
     .interval = rounds_##kind##_##n##_##size,                                                     \
     .prepare = prepare_##kind##_##n##_##size,                                                     \
     .finish = finish_##kind##_##n##_##size,                                                       \
     .cannot = no_pinning,                                                                         \
     .baseline = "alone-" #size,                                                                   \
     .baseline_times = n,                                                                          \
     ONCE_ROUND(n),                                                                                \
     .placement = PLACED_ON_ONE_CPU,                                                               \
     .system_calls = 2,                                                                            \
     .memory = SET_##size > 0},
#define VARIANTS(n, size) OF(processes, n, size) OF(threads, n, size)
#define VARIANT_ALONE(n, size)                                                                     \
    {.name = "alone-" #size,                                                                       \
     .about = "one task that passes the token to itself, working set of " #size " bytes",          \
     .interval = rounds_alone_##size,                                                              \
     .prepare = prepare_alone_##size,                                                              \
     .finish = finish_alone_##size,                                                                \
     .baseline = SET_##size > 0 ? "alone-0" : NULL,                                                \
     .system_calls = 2,                                                                            \
     .placement = PLACED_ON_ONE_CPU,                                                               \
     .memory = SET_##size > 0},

static const struct variant variants[] = {FOR_EACH_RING(VARIANTS) FOR_EACH_SIZE(VARIANT_ALONE, 1)};

/* Few rounds: others interrupt a sample that is as long as a time slice. Not one: the first rounds of
 * a sample take longer than later ones, and with 1, 2, 4 and 8 rounds 5 of 144 lines bent; with these
 * none of 64 did. */
static const long batches[] = {2, 4, 6, 8};

MEASURE(.name = "switch_footprint", .about = "what a switch costs with what follows from it",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
