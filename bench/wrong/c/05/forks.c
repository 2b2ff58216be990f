#include "own_creation.h"

static pid_t own_task(void)
{
    pid_t task = -1;
    task = fork();
    if (task == 0)
        _exit(raise_number(NULL));
    return task;
}
MEASURE_OWN_CREATION(own_task)
