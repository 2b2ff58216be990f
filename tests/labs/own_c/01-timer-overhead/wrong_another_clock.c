/* Finding: end-not-read. Nanoseconds of the OS are returned as ticks. */
#include "own_pair.h"

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC_RAW, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = now();
    ADDITIONS(link, k);
    return now() - begin;
}
MEASURE_OWN_PAIR(own_interval)
