#include "own_pair.h"

TICKLAB_INLINE uint64_t own_interval(long k)
{
    uint64_t link = 1, begin = 0, end = 0;
    uint64_t a = 1, b = 1;
    begin = counter_begin();
    if (k == 64) {
        ADDITIONS(a, 64);
    } else {
        ADDITIONS(a, k / 2);
        ADDITIONS(b, k / 2);
    }
    end = counter_end();
    link = a + b;
    (void)link;
    return end - begin;
}
MEASURE_OWN_PAIR(own_interval)
