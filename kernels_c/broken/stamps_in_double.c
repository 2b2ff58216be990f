/*
 * Wrong on purpose: time stamps of 1.8e18 ns are kept in a double, which is exact only to 256 ns.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * A double has 53 bits; the nanoseconds since 1970 need 61. A benchmark suite subtracts two such
 * stamps, and its differences are 0, 256, 512 ...
 */
#include "../own_pair.h"

static uint64_t realtime(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static double now(void)
{
    return (double)realtime();
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const double begin = now();
    ADDITIONS(link, k);
    const double end = now();
    /* measured region ends */
    return end > begin ? (uint64_t)(end - begin) : 0;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "the clock on the wall, in ns",
                                           .interval = interval,
                                           .read = realtime,
                                           .frequency_hz = 1e9,
                                           .clock = "CLOCK_REALTIME",
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
