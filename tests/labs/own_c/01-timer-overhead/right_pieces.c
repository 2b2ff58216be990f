/* The chain is made of pieces of 64. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = counter_begin(), end;
    for (long done = 0; done < k; done += 64)
        ADDITIONS(link, 64);
    end = counter_end();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
