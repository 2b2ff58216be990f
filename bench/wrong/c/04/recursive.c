#include "own_procedure.h"

static __attribute__((noinline)) long down(long x, int depth)
{
    return depth == 0 ? x + 1 : down(x, depth - 1) + (long)(__extension__({ __asm__ volatile(""); 0; }));
}

static __attribute__((noinline)) long successor(long x)
{
    return down(x, 5);
}

MEASURE_OWN_PROCEDURE(successor)
