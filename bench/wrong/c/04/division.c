#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    volatile long three = 3;
    return x * three / three + 1;
}

MEASURE_OWN_PROCEDURE(successor)
