/* Finding: not-one-call. No call is left, and the way through memory costs as much. */
#include "own_procedure.h"

static long successor(long x)
{
    volatile long through = x;
    return through + 1;
}
MEASURE_OWN_PROCEDURE(successor)
