/* The call goes through a pointer that the compiler must read. */
#include "own_procedure.h"

static long add_one(long x)
{
    return x + 1;
}
static long (*volatile chosen)(long) = add_one;
static long successor(long x)
{
    return chosen(x);
}
MEASURE_OWN_PROCEDURE(successor)
