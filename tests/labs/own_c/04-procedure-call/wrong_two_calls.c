/* Finding: not-one-call. The procedure calls another one. */
#include "own_procedure.h"

static __attribute__((noinline)) long helper(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}
static __attribute__((noinline)) long successor(long x)
{
    return helper(x) + 1;
}
MEASURE_OWN_PROCEDURE(successor)
