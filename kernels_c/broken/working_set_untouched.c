/*
 * Wrong on purpose: each task adds up its working set of 256 KB, but nobody uses the sum, so the
 *   compiler leaves out the reading.
 * Repaired: switch_footprint --variant processes-8-256k
 */
#define _GNU_SOURCE
#include "../ring.h"

static void read_set(const struct task *task)
{
    const unsigned char *set = (const unsigned char *)task->set;
    unsigned sum = 0;
    for (size_t at = 0; at < task->bytes; at += 64)
        sum += set[at];
    (void)sum;
}

static void take_turns(const struct task *task)
{
    take_part(task, read_set);
}

static uint64_t rounds(const struct ring *ring, long batch)
{
    const struct task *first = &ring->tasks[0];
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0 && !failed; left--) {
        failed |= !pass(first, GO) || receive(first) != GO;
        read_set(first);
    }
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

RING(eight, PROCESSES, 8, 256 << 10, take_turns, rounds)
RING(alone, ALONE, 1, 256 << 10, take_turns, rounds)
RING(hop, ALONE, 1, 0, take_turns, rounds)

#define OF(ring)                                                                                   \
    .interval = rounds_##ring, .prepare = prepare_##ring, .finish = finish_##ring,                 \
    .placement = PLACED_ON_ONE_CPU

static const struct variant variants[] = {
    {.name = "processes-8-256k",
     .about = "eight processes, 256 KB each",
     OF(eight),
     .baseline = "alone-256k",
     .baseline_times = 8,
     ONCE_ROUND(8),
     .memory = 1},
    {.name = "alone-256k", .about = "one of them", OF(alone), .baseline = "alone-0", .memory = 1},
    {.name = "alone-0", .about = "a hop to oneself", OF(hop)}};
static const long batches[] = {2, 4, 6, 8};
MEASURE(.name = "switch_footprint", .about = "what a switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
