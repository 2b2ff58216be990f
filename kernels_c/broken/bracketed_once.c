/*
 * Wrong on purpose: a million readings are timed as a whole, three times, with a margin of error.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 3 --processes 3 --warmup 0
 *
 * Report B does this and adds +/- 0.03 ns. Three means say nothing about what happened inside each
 * of them, and a margin from three means is more than twice as wide as one from many.
 */
#define _GNU_SOURCE
#include "../harness.h"

static uint64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t interval(long batch)
{
    /* measured region begins */
    const uint64_t begin = now();
    for (long left = batch; left > 0; left--)
        now();
    const uint64_t end = now();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "a million readings",
                                           .interval = interval,
                                           .read = now,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_MONOTONIC",
                                           .estimand = ESTIMAND_OVERHEAD}};
static const long batches[] = {1000000};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
