#include "own_creation.h"

static pid_t own_task(void)
{
    pid_t task = -1;
    task = clone(raise_number, STACK_TOP, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    siginfo_t ended = {0};
    while (ended.si_pid == 0)
        (void)waitid(P_PID, (id_t)task, &ended, WEXITED | WNOHANG | WNOWAIT);
    return task;
}
MEASURE_OWN_CREATION(own_task)
