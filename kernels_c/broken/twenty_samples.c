/*
 * Wrong on purpose: only 20 samples of one process are taken, and no spread is given.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 20 --processes 1
 *
 * Report E prints 20 samples. They show neither the rare bad sample nor how far the next run, in
 * other pages of memory, would be from this one.
 */
#define _GNU_SOURCE
#include "../harness.h"

static uint64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t interval(long batch)
{
    (void)batch;
    /* measured region begins */
    const uint64_t begin = now();
    const uint64_t end = now();
    /* measured region ends */
    return end - begin;
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "two readings",
                                           .interval = interval,
                                           .read = now,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_MONOTONIC",
                                           .estimand = ESTIMAND_OVERHEAD}};
static const long batches[] = {0};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
