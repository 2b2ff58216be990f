#include "own_page_fault.h"
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#    define MADV_POPULATE_READ 22
#endif

static void get_ready(volatile unsigned char *pages, long count, size_t page)
{
    if (madvise((void *)(uintptr_t)pages, (size_t)count * page, MADV_POPULATE_READ) != 0)
        stop(STATUS_FAILED, "madvise: %s", strerror(errno));
}
MEASURE_OWN_PAGE_FAULT(get_ready)
