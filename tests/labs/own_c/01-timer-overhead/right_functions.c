/* Readings and work are functions of their own, and a macro. */
#include "own_pair.h"
struct both {
    uint64_t begin, end;
};
#define WORK(k)                                                                                    \
    do { /* the chain */                                                                           \
        uint64_t link = 3;                                                                         \
        ADDITIONS(link, k);                                                                        \
    } while (0)
static __attribute__((noinline)) void read_into(uint64_t *to)
{
    *to = counter_end();
}

TICKLAB_INLINE uint64_t own_interval(long k)
{
    struct both both;
    read_into(&both.begin);
    WORK(k);
    read_into(&both.end);
    return both.end - both.begin;
}
MEASURE_OWN_PAIR(own_interval)
