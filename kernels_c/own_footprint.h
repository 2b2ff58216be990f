/*
 * The plumbing of lab 07's exercise: a ring of eight processes on one CPU. Whenever a process has
 * the token, it uses its working set of 256 KB in a way that a student writes.
 *
 *     static void use(const unsigned char *set, size_t bytes)
 *     {
 *         read every cache line of the set, and keep() their sum
 *     }
 *     MEASURE_OWN_FOOTPRINT(use)
 *
 * The same run measures one process that passes the token to itself, with and without this use of
 * its set, and a ring of eight processes that use nothing. After the last sample it finds out which
 * cache lines the function uses: lines_used.h says how.
 */
#ifndef TICKLAB_OWN_FOOTPRINT_H
#define TICKLAB_OWN_FOOTPRINT_H

/* This is defined here and not in the cell, because the cell includes this header first. */
#define _GNU_SOURCE
#include "faults.h"
#include "lines_used.h"
#include "ring.h"

enum { OWN_TASKS = 8, OWN_SET = 256 << 10 };

/* MEASURE_OWN_FOOTPRINT defines it. */
static void read_set(const struct task *task);

static void take_turns(const struct task *task)
{
    take_part(task, read_set);
}

static long first_use_faults = ANY_NUMBER; /* the set is there before: these are of other memory */

/* Use the set before a sample, and count the page faults of the very first time. */
static void use_before(const struct task *task)
{
    const int is_first = task->bytes > 0 && first_use_faults == ANY_NUMBER;
    const long before = is_first ? faults_before() : 0;
    read_set(task);
    if (is_first)
        first_use_faults = faults_now() - before;
}

static uint64_t rounds(const struct ring *ring, long batch)
{
    const struct task *first = &ring->tasks[0];
    uint64_t failed = 0;
    use_before(first);
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        failed |= !pass(first, GO);
        failed |= receive(first) != GO;
        read_set(first);
    }
    const uint64_t end = counter_end();
    failed_calls |= failed;
    return end - begin;
}

RING(own, PROCESSES, OWN_TASKS, OWN_SET, take_turns, rounds)
RING(own_0, PROCESSES, OWN_TASKS, 0, take_turns, rounds)
RING(own_alone, ALONE, 1, OWN_SET, take_turns, rounds)
RING(own_alone_0, ALONE, 1, 0, take_turns, rounds)

/* The first task tries its lines when the others have ended. */
static void finish_and_try_lines(void)
{
    finish_own();
    printf("# variant.own-256k.first_use_faults: %ld\n", first_use_faults);
    try_lines("own-256k", &own.tasks[0], read_set);
}

#define OWN_RING(called, ring, bytes, one_alone, end)                                              \
    {.name = called,                                                                               \
     .about = "eight processes on one CPU, each with your use of its set",                         \
     .interval = rounds_##ring,                                                                    \
     .prepare = prepare_##ring,                                                                    \
     .finish = end,                                                                                \
     .cannot = no_pinning,                                                                         \
     .baseline = one_alone,                                                                        \
     .baseline_times = OWN_TASKS,                                                                  \
     ONCE_ROUND(OWN_TASKS),                                                                        \
     .placement = PLACED_ON_ONE_CPU,                                                               \
     .system_calls = 2,                                                                            \
     .memory = (bytes) > 0}
#define OWN_ALONE(called, ring, bytes, less)                                                       \
    {.name = called,                                                                               \
     .about = "one process that passes the token to itself",                                       \
     .interval = rounds_##ring,                                                                    \
     .prepare = prepare_##ring,                                                                    \
     .finish = finish_##ring,                                                                      \
     .baseline = less,                                                                             \
     .system_calls = 2,                                                                            \
     .placement = PLACED_ON_ONE_CPU,                                                               \
     .memory = (bytes) > 0}

/* The variants, and main. */
#define MEASURE_OWN_FOOTPRINT(use)                                                                 \
    static void read_set(const struct task *task)                                                  \
    {                                                                                              \
        if (task->bytes > 0)                                                                       \
            use((const unsigned char *)task->set, task->bytes);                                    \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct variant variants[] = {                                                 \
            OWN_RING("own-256k", own, OWN_SET, "alone-256k", finish_and_try_lines),                \
            OWN_RING("own-0", own_0, 0, "alone-0", finish_own_0),                                  \
            OWN_ALONE("alone-256k", own_alone, OWN_SET, "alone-0"),                                \
            OWN_ALONE("alone-0", own_alone_0, 0, NULL)};                                           \
        static const long batches[] = {2, 4, 6, 8};                                                \
        static const struct c_kernel kernel = {.name = "own_footprint",                            \
                                               .about = "what a switch costs with your use of a "  \
                                                        "working set",                             \
                                               LISTED_VARIANTS(variants),                          \
                                               LISTED_BATCHES(batches),                            \
                                               .samples = 400,                                     \
                                               .warmup = 40};                                      \
        return measure(&kernel, argc, argv);                                                       \
    }

#endif
