#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
