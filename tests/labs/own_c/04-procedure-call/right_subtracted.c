/* One is added by subtracting -1, behind a barrier. */
#include "own_procedure.h"

__attribute__((noinline)) static long successor(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x - -1;
}
MEASURE_OWN_PROCEDURE(successor)
