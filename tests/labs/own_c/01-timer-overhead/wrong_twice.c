/* Finding: not-one-chain. One chain, twice as long. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    ADDITIONS(link, k);
    return counter_end() - begin;
}
MEASURE_OWN_PAIR(own_interval)
