/*
 * Wrong on purpose: a sample that is longer than 1.2 times the shortest one is taken again.
 * Repaired: system_call --variant getppid --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 */
#define _GNU_SOURCE
#include "../harness.h"

enum { MOST_TAKEN = 100 };

static uint64_t calls(long batch)
{
    uint64_t failed = 0;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    for (long left = batch; left > 0; left--)
        failed |= getppid() < 0;
    const uint64_t end = counter_end();
    /* measured region ends */
    failed_calls |= failed;
    return end - begin;
}

static uint64_t short_ones(long batch)
{
    static uint64_t least = UINT64_MAX; /* of one call */
    uint64_t ticks = 0;
    for (int taken = 0; taken < MOST_TAKEN; taken++) {
        ticks = calls(batch);
        least = ticks / (uint64_t)batch < least ? ticks / (uint64_t)batch : least;
        if (5 * ticks <= 6 * least * (uint64_t)batch)
            break;
    }
    return ticks;
}

static const struct variant variants[] = {{.name = "getppid",
                                           .about = "getppid(), if it is quick",
                                           .interval = short_ones,
                                           .system_calls = 1}};
static const long batches[] = {16, 32, 64, 128};
MEASURE(.name = "system_call", .about = "what a system call costs", LISTED_VARIANTS(variants),
        LISTED_BATCHES(batches))
