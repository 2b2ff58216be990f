/* Finding: not-one-call. Work without a loop: 60 instructions. */
#include "own_procedure.h"

static __attribute__((noinline)) long successor(long x)
{
    __asm__ volatile(".rept 60\n\tnop\n\t.endr");
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
