#include "own_pair.h"

#include <time.h>

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = 0, end = 0;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    ADDITIONS(link, k);
    clock_gettime(CLOCK_MONOTONIC, &to);
    begin = (uint64_t)from.tv_sec * 1000000000u + (uint64_t)from.tv_nsec;
    end = (uint64_t)to.tv_sec * 1000000000u + (uint64_t)to.tv_nsec;
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
