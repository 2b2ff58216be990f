/* Finding: end-not-read. The difference is scaled to what was expected. */
#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1;
    const uint64_t begin = counter_begin();
    ADDITIONS(link, k);
    return (counter_end() - begin) * 13 / 10;
}
MEASURE_OWN_PAIR(own_interval)
