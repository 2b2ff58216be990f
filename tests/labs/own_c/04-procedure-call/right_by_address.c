/* A second procedure gets the address, and only that one is called. */
#include "own_procedure.h"

static __attribute__((noinline)) void add_one(long *x)
{
    (*x)++;
    __asm__ volatile("" : : : "memory");
}
static long successor(long x)
{
    add_one(&x);
    return x;
}
MEASURE_OWN_PROCEDURE(successor)
