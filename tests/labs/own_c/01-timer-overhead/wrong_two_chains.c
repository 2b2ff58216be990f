/* Finding: not-one-chain. Two chains of the asked length, side by side. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, other = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    ADDITIONS(other, k);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
