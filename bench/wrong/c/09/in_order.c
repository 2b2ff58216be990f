#include "own_ladder.h"

static void order(long *next, long count)
{
    for (long i = 0; i < count; i++)
        next[i] = (i + 1) % count;
}
MEASURE_OWN_LADDER(order)
