#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    for (volatile int i = 0; i < 50; i++)
        ;
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
