#include "own_procedure.h"

static inline __attribute__((always_inline)) long successor(long x)
{
    return x + 1;
}

MEASURE_OWN_PROCEDURE(successor)
