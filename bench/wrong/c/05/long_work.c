#include "own_creation.h"

static int work(void *nothing)
{
    for (volatile long i = 0; i < 100000; i++)
        ;
    return raise_number(nothing);
}

static pid_t own_task(void)
{
    pid_t task = -1;
    task = clone(work, STACK_TOP, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    return task;
}
MEASURE_OWN_CREATION(own_task)
