#include "own_procedure.h"

static inline long successor(long x)
{
    __asm__ volatile("" : "+r"(x)); /* so that the compiler must call it */
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
