/*
 * Wrong on purpose: the source subtracts a constant: the overhead measured on another machine.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * Report A subtracts the 28.5 cycles of one machine on all four. What is left is not a property of
 * the machine that it runs on. Here, where the pair of readings costs less, it is negative.
 */
#include "../own_pair.h"

#define OVERHEAD 60 /* ticks, of the pair, on my machine */

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t interval = counter_end() - begin;
    /* measured region ends */
    return interval > OVERHEAD ? interval - OVERHEAD : 0;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, fenced",
                                           .interval = interval,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
