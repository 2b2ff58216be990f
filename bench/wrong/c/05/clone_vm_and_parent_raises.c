#include "own_creation.h"

static pid_t own_task(void)
{
    pid_t task = -1;
    task = clone(raise_number, STACK_TOP, SIGCHLD, NULL);
    if (task > 0)
        raise_number(NULL);
    return task;
}
MEASURE_OWN_CREATION(own_task)
