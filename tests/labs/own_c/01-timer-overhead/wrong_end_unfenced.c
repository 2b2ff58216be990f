/* Finding: clock-read-too-early. The fence comes after the second reading. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    const uint64_t end = counter_unfenced();
    (void)counter_begin();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
