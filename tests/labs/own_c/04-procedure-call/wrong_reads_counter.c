/* Finding: more-than-the-operation. The procedure reads the counter, with fences. */
#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    __asm__ volatile("" : : "r"(counter_begin()));
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
