/*
 * Wrong on purpose: each task has a working set of 256 KB and adds it up for nobody, so that the
 * compiler leaves the reading out.
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

RING(eight, PROCESSES, 8, 256 << 10)
RING(alone, ALONE, 1, 256 << 10)
RING(hop, ALONE, 1, 0)

#define OF(ring)                                                                                   \
    .interval = rounds_##ring, .prepare = prepare_##ring, .finish = finish_##ring,                 \
    .placement = PLACED_ON_ONE_CPU

int main(int argc, char **argv)
{
    static const struct variant variants[] = {
        {"processes-8-256k", "eight processes, 256 KB each", OF(eight), .baseline = "alone-256k",
         .baseline_times = 8, .parts = 8, .switches = 8, .other_tasks = 7, .memory = 1},
        {"alone-256k", "one of them", OF(alone), .baseline = "alone-0", .memory = 1},
        {"alone-0", "a hop to oneself", OF(hop)}};
    static const long batches[] = {1, 2, 3};
    static const struct c_kernel kernel = {
        "switch_footprint", "what a switch costs", variants, 3, batches, 3, .samples = 400};
    return measure(&kernel, argc, argv);
}
