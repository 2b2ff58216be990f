/*
 * Wrong on purpose: what the clock is to time stands between its readings, and counts as overhead.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * One interval is overhead + work. One number cannot be both: report D's intervals are all of one
 * length of work, so that clock and operation cannot be told apart.
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
