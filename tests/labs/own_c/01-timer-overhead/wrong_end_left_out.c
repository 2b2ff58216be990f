/* Finding: end-not-read. Both are read, and something else is returned. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = counter_begin(), end;
    ADDITIONS(link, k);
    end = counter_end();
    (void)(end - begin);
    return 30 + (uint64_t)k * 7 / 10;
}
MEASURE_OWN_PAIR(own_interval)
