#include "own_first_call.h"
#include <sys/mman.h>

static void get_ready(const volatile unsigned char *code)
{
    (void)madvise((void *)(uintptr_t)code, 4096, MADV_WILLNEED);
}
MEASURE_OWN_FIRST_CALL(get_ready)
