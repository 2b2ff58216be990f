#include "own_creation.h"

#include <string.h>
#include <sys/mman.h>

static char *last;

static pid_t own_task(void)
{
    pid_t task = -1;
    char *stack = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(stack, 0, 1 << 20); /* a clean stack for each task */
    task = clone(raise_number, stack + (1 << 20), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    waitpid(-1, NULL, WNOHANG | WNOWAIT);
    if (last != NULL)
        munmap(last, 1 << 20);
    last = stack;
    return task;
}
MEASURE_OWN_CREATION(own_task)
