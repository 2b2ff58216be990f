#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    __builtin_ia32_pause();
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
