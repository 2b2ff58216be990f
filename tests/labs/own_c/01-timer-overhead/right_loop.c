/* One addition for each turn of a loop. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    for (long left = k; left > 0; left--)
        ADD_CHAIN(link, 1);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
