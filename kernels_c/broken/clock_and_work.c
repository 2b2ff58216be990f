/*
 * Wrong on purpose: the work between two readings of the clock is counted as overhead of the clock.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * A sample is overhead + work, and one number cannot be both. All samples of report D hold the same
 * amount of work, so clock and operation are not distinguishable.
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
    const pid_t parent = getppid();
    const uint64_t end = now();
    /* measured region ends */
    failed_calls |= parent < 0;
    return end - begin;
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "two readings around a system call",
                                           .interval = interval,
                                           .read = now,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_MONOTONIC",
                                           .estimand = ESTIMAND_OVERHEAD}};
static const long batches[] = {1};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
