/* Finding: not-one-call. The procedure divides. */
#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    volatile long one = 1;
    return x / one + 1;
}
MEASURE_OWN_PROCEDURE(successor)
