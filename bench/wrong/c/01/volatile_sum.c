#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = 0, end = 0;
    volatile uint64_t sum = link;
    begin = counter_begin();
    for (long i = 0; i < k; i++)
        sum = sum + 1;
    end = counter_end();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
