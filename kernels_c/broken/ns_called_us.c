/*
 * Wrong on purpose: nanoseconds are printed as microseconds.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Report C divides 3.2 s by 10 million calls and prints 320 µs: the digits are right, but the unit
 * is a thousand times too large.
 */
#include "../own_pair.h"

static uint64_t now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = now();
    ADDITIONS(link, k);
    const uint64_t end = now();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {
    {.name = "monotonic",
     .about = "clock_gettime(CLOCK_MONOTONIC), in microseconds",
     .interval = interval,
     .read = now,
     .frequency_hz = 1e6, /* of microseconds; now() counts nanoseconds */
     .clock = "CLOCK_MONOTONIC",
     .estimand = ESTIMAND_OVERHEAD,
     .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
