#include "own_ladder.h"

static void order(long *next, long count)
{
    for (long i = 0; i < count; i++)
        next[i] = i;
    for (long i = count - 1; i > 0; i--)
        swap(next, i, random_below(i));
}
MEASURE_OWN_LADDER(order)
