#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    __asm__ volatile("lfence" : : : "memory");
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
