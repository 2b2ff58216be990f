#include "own_page_fault.h"
#include <sys/wait.h>
#include <unistd.h>

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    const pid_t child = fork();
    if (child == 0) {
        for (long i = 0; i < count; i++)
            pages[(size_t)i * page] = 1;
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}
MEASURE_OWN_PAGE_FAULT(get_ready)
