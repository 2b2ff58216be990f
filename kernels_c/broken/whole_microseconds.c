/*
 * Wrong on purpose: the overhead is kept in whole microseconds, so it is always 0.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * The division drops the remainder, in every sample. So a benchmark tool subtracts an overhead of 0
 * from everything that it times, and says that it has corrected for it.
 */
#include "../own_pair.h"

static uint64_t now_us(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000;
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    ADDITIONS(link, k);
    const uint64_t end = clock_ns(CLOCK_MONOTONIC);
    /* measured region ends */
    return (end - begin) / 1000;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "clock_gettime(CLOCK_MONOTONIC)",
                                           .interval = interval,
                                           .read = now_us,
                                           .frequency_hz = 1e6,
                                           .clock = "CLOCK_MONOTONIC",
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
