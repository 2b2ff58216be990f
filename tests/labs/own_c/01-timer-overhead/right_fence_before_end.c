/* A fence of its own stands before a reading that does not wait by itself. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
    const uint64_t end = counter_unfenced();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
