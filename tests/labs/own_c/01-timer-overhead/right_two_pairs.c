/* The cost of an empty pair is read in the same sample, and subtracted. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t first = counter_begin(), second = counter_end();
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t end = counter_end();
    return (end - begin) - (second - first);
}
MEASURE_OWN_PAIR(own_interval)
