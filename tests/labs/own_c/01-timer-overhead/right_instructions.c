/* The instructions that counter.h uses, written out. */
#include "own_pair.h"
TICKLAB_INLINE uint64_t now(void)
{
#if defined(__x86_64__)
    uint64_t low, high;
    __asm__ volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return high << 32 | low;
#else
    return counter_end();
#endif
}

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = now();
    ADDITIONS(link, k);
    const uint64_t end = now();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
