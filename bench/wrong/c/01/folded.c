#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = 0, end = 0;
    begin = counter_begin();
    for (long done = 0; done < k; done++)
        link += begin;
    __asm__ volatile("" : : "r"(link));
    end = counter_end();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
