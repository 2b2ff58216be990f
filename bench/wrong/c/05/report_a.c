#include "own_creation.h"

static pid_t own_task(void)
{
    return clone(raise_number, STACK_TOP, SIGCHLD, NULL);
}

MEASURE_OWN_CREATION(own_task)
