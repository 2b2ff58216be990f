/*
 * Wrong on purpose: there is no fence between the work and the reading after it.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * A processor that executes out of order reads the counter while the additions are still running.
 * The pair of RDTSC of report A costs little, and misses the work between its readings.
 */
#include "../own_pair.h"

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = counter_unfenced();
    ADDITIONS(link, k);
    const uint64_t end = counter_unfenced();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, twice",
                                           .interval = interval,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
