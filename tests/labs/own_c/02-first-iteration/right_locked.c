/* The OS is asked to keep the page in memory, and then it is read. */
#include "own_first_call.h"

static void get_ready(const volatile unsigned char *code)
{
    const uintptr_t page = (uintptr_t)code & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    if (mlock((const void *)page, 1) != 0)
        errno = 0;
    (void)*(const volatile char *)page;
}
MEASURE_OWN_FIRST_CALL(get_ready)
