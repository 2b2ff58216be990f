#include "own_creation.h"

static pid_t own_task(void)
{
    pid_t task = -1;
    static pid_t once;
    raise_number(NULL);
    once = once != 0 ? once : fork();
    if (once == 0)
        _exit(0);
    task = once;
    return task;
}
MEASURE_OWN_CREATION(own_task)
