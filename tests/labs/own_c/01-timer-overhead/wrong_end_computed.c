/* Finding: end-not-read. The end is computed from the beginning. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = counter_begin(), end;
    ADDITIONS(link, k);
    end = begin + 40 + (uint64_t)k * 7 / 10;
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
