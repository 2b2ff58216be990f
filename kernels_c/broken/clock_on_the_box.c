/*
 * Wrong on purpose: ticks of the counter are divided by the turbo clock printed on the box.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * The counter has a rate of its own, whatever the clock of the core is. Report A divides by the
 * clock that lscpu prints, report C by the turbo clock; nobody measured either.
 */
#include "../own_pair.h"

static const double turbo_hz = 5.1e9;

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t end = counter_end();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, fenced",
                                           .interval = interval,
                                           .frequency_hz = turbo_hz,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
