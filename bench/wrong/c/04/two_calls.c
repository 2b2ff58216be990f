#include "own_procedure.h"

static __attribute__((noinline)) long add_one(long x)
{
    return x + 1;
}

static __attribute__((noinline)) long successor(long x)
{
    long more = add_one(x);
    __asm__ volatile("" : "+r"(more));
    return more;
}

MEASURE_OWN_PROCEDURE(successor)
