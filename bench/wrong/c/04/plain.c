#include "own_procedure.h"

static long successor(long x)
{
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
