/* Finding: clock-read-too-early. Neither reading waits for the additions. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_unfenced();
    ADDITIONS(link, k);
    return counter_unfenced() - begin;
}
MEASURE_OWN_PAIR(own_interval)
