/* The procedure alone is compiled without optimisation. */
#include "own_procedure.h"

#if defined(__clang__)
__attribute__((optnone, noinline))
#else
__attribute__((optimize("O0"), noinline))
#endif
static long successor(long x)
{
    long result = x;
    result = result + 1;
    return result;
}
MEASURE_OWN_PROCEDURE(successor)
