#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
