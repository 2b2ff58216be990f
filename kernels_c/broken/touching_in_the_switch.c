/*
 * Wrong on purpose: a hop contains the switch and the reading of 256 KB, and nothing is subtracted.
 * Repaired: switch_footprint --variant processes-8-256k
 *
 * Many ring benchmarks print a hop as it is. So they call the work of the task a switch.
 */
#define _GNU_SOURCE
#include "../ring.h"

static void read_set(const struct task *task)
{
    for (size_t at = 0; at < task->bytes; at += 64)
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

static const struct variant variants[] = {{.name = "processes-8-256k",
                                           .about = "eight processes, 256 KB each",
                                           .interval = rounds_eight,
                                           .prepare = prepare_eight,
                                           .finish = finish_eight,
                                           ONCE_ROUND(8),
                                           .placement = PLACED_ON_ONE_CPU,
                                           .memory = 1}};
static const long batches[] = {2, 4, 6, 8};
MEASURE(.name = "switch_footprint", .about = "what a switch costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches), .samples = 400, .warmup = 40)
