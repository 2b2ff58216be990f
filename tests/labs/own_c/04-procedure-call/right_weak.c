/* The linker could replace it, so the compiler has to call it. */
#include "own_procedure.h"

__attribute__((weak)) long successor(long x);
long successor(long x)
{
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
