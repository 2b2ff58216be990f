#include "own_creation.h"

static pid_t own_task(void)
{
    pid_t task = -1;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    task = clone(raise_number, STACK_TOP, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    for (int i = 0; i < 20; i++)
        sched_setaffinity(0, sizeof one, &one);
    return task;
}
MEASURE_OWN_CREATION(own_task)
