/* Finding: not-one-call. The procedure makes a system call. */
#include "own_procedure.h"

#include <unistd.h>

static __attribute__((noinline)) long successor(long x)
{
    (void)getppid();
    return x + 1;
}
MEASURE_OWN_PROCEDURE(successor)
