/* The number goes through memory on its way, which costs no more than a few cycles. */
#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    static volatile long kept;
    kept = x;
    return kept + 1;
}
MEASURE_OWN_PROCEDURE(successor)
