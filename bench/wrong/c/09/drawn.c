#include "own_ladder.h"

static void order(long *next, long count)
{
    for (long i = 0; i < count; i++)
        next[i] = random_below(count);
}
MEASURE_OWN_LADDER(order)
