#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = 0, end = 0;
    begin = counter_begin();
    uint64_t last = 0;
    for (long done = 0; done < k; done += 64) {
        ADDITIONS(link, 64);
        last = counter_end(); /* how far are we? */
    }
    __asm__ volatile("" : : "r"(last));
    end = counter_end();
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
