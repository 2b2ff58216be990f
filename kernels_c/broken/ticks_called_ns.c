/*
 * Wrong on purpose: a tick of the counter is taken for a nanosecond.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * clock_gettime() counts a billion units a second. The counter has another rate: 24 million a
 * second on one machine and 3 billion on the next.
 */
#include "../own_pair.h"

/* If the counter happens to count nanoseconds, nothing is wrong. */
static const char *is_in_ns(void)
{
    const struct moment first = moment_now();
    while (clock_ns(REFERENCE_CLOCK) - first.ns < 4000000u)
        ;
    const double hz = frequency_between(first, moment_now());
    return hz > 0.99e9 && hz < 1.01e9 ? "its counter ticks once a nanosecond" : NULL;
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin; /* ns */
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, fenced",
                                           .interval = interval,
                                           .frequency_hz = 1e9,
                                           .cannot = is_in_ns,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
