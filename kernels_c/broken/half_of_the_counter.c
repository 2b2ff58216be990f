/*
 * Wrong on purpose: the C reads only the lower half of the counter.
 * Repaired: timer_overhead --variant fenced --samples 1000 --processes 5
 * Run with: --samples 1000 --processes 5
 *
 * On x86, RDTSC leaves the upper half in EDX. With 2.6 GHz, the lower half begins anew every 1.65
 * seconds. A sample across that moment is wrong, and longer ones are wrong always.
 */
#include "../own_pair.h"

static uint32_t lower_half(void)
{
#if defined(__x86_64__)
    uint32_t low;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low) : : "rdx", "memory");
    return low;
#else
    return (uint32_t)counter_begin();
#endif
}

TICKLAB_INLINE uint64_t pair(long k)
{
    uint64_t link = 1;
    /* measured region begins */
    const uint32_t begin = lower_half();
    ADDITIONS(link, k);
    const uint32_t end = lower_half();
    /* measured region ends */
    return end - begin;
}

static uint64_t interval(long k)
{
    return k == 64 ? pair(64) : k == 128 ? pair(128) : k == 256 ? pair(256) : pair(512);
}

static const struct variant variants[] = {{.name = "fenced",
                                           .about = "counter, its lower half",
                                           .interval = interval,
                                           .estimand = ESTIMAND_OVERHEAD,
                                           .operation_cycles = 1}};
static const long batches[] = {64, 128, 256, 512};
MEASURE(.name = "timer_overhead", .about = "what a timer costs, and its step",
        LISTED_VARIANTS(variants), LISTED_BATCHES(batches), .batches_fixed = 1)
