/*
 * Wrong on purpose: the reading of a clock of microseconds is multiplied by 1000 and called
 *   nanoseconds.
 * Repaired: timer_overhead --variant monotonic --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * The first version of report B did this. The last three digits of every number are 000. They were
 * never measured, and all that is timed here would be in them.
 */
#include "../own_pair.h"
#include <sys/time.h>

static uint64_t now_ns(void)
{
    struct timeval now;
    failed_calls |= gettimeofday(&now, NULL) != 0;
    return ((uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_usec) * 1000u;
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = now_ns();
    ADDITIONS(link, k);
    const uint64_t end = now_ns();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "monotonic",
                                           .about = "gettimeofday, in ns",
                                           .interval = interval,
                                           .read = now_ns,
                                           .frequency_hz = 1e9,
                                           .clock = "gettimeofday",
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
