/* Finding: not-one-call. The procedure goes through a loop of 50. */
#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    for (volatile int i = 0; i < 50; i++)
        ;
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
