#include "own_procedure.h"

static inline long successor(long x)
{
    volatile long more = x + 1;
    return more;
}

MEASURE_OWN_PROCEDURE(successor)
